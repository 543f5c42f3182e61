// The menu of every page, with the key of this tab; and the age of each day that the page shows, by the reader's clock.
// The key of the address is taken on pages that need none, too.
import "./key.js";

const DAY_MILLISECONDS = 86_400_000;
const FRESH_DAYS = 2;

const menu = document.querySelector(".menu");
const [row, said, forget] = ["key-row", "key-name", "forget"].map((id) => document.getElementById(id));
const enter = row.querySelector("a");

/** Say which key this tab has; "" for none. */
export function showKey(name) {
  row.hidden = false;
  said.textContent = name ? `Key: ${name}.` : "No key in this tab.";
  [enter.hidden, forget.hidden] = [name !== "", name === ""];
}

const startOf = (time) => Math.floor(time / DAY_MILLISECONDS);

/** An age in words, and its class; nothing for a day in the future, which a wrong clock shows. Old data is no alarm to readers. */
function age(text) {
  const days = startOf(Date.now()) - startOf(Date.parse(text));
  if (!(days >= 0)) return null;
  const words = days === 0 ? "today" : days === 1 ? "yesterday" : `${days} days old`;
  return [words, days <= FRESH_DAYS ? "age fresh" : "age"];
}

for (const time of document.querySelectorAll("time[data-age]")) {
  const [words, kind] = age(time.dateTime) ?? [];
  if (words) time.after(", ", Object.assign(document.createElement("span"), {textContent: words, className: kind}));
}

menu.addEventListener("click", ({target}) => { if (target.closest("a, button")) menu.open = false; });
addEventListener("pointerdown", ({target}) => { if (!menu.contains(target)) menu.open = false; });
addEventListener("keydown", ({key}) => {
  if (key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
