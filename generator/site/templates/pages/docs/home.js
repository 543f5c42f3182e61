// The page at /, and those of the reference: they take a key for this tab, and send requests with it.
import {colourCode, dressCode} from "./code.js";
import {keepKey, readKey} from "./key.js";
import {showKey} from "./menu.js";

const byId = (id) => document.getElementById(id);
const [form, input, state, forget] = ["key-form", "key", "key-state", "forget"].map(byId);
const INVITATION = state?.textContent; // a page without the form shows the key alone
let name = ""; // of the key in use

const ask = (url, key) => fetch(url, {
  headers: {Authorization: `Bearer ${key}`}, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
});

function show(text, wrong = false) {
  showKey(name);
  if (state) {
    state.textContent = text;
    state.classList.toggle("error", wrong);
  }
  for (const run of document.querySelectorAll(".run")) run.hidden = readKey() === "";
}

/** Check a key: keep it for the tab if it is valid. */
async function enter(key) {
  try {
    const answer = await ask("/api/v1/me", key);
    const body = await answer.json();
    if (!answer.ok) return show(body.error.message, true);
    keepKey(key);
    if (input) input.value = "";
    name = body.name;
    show(`The key “${name}” is in use until you close this tab: ${body.rate_limit} requests a minute.`);
  } catch (error) {
    show(`No answer: ${error.message}`, true);
  }
}

async function run(article) {
  const [said, details] = [article.querySelector(".run span"), article.querySelector("details")];
  const started = performance.now();
  said.textContent = "…";
  try {
    const answer = await ask(article.dataset.url, readKey());
    const body = await answer.json();
    said.textContent = `${answer.status} ${answer.statusText} in ${Math.round(performance.now() - started)} ms`;
    const code = details.querySelector("code");
    code.textContent = JSON.stringify(body, null, 2);
    colourCode(code);
    details.open = true;
  } catch (error) {
    said.textContent = `No answer: ${error.message}`;
  }
}

byId("find-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const q = byId("find").value.trim();
  location.assign(`/explore#/cards${q ? `?${new URLSearchParams({q})}` : ""}`);
});
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  enter(input.value.trim());
});
forget.addEventListener("click", () => {
  keepKey("");
  name = "";
  show(INVITATION);
  input?.focus();
});
for (const article of document.querySelectorAll(".request")) {
  article.querySelector(".run button").addEventListener("click", () => run(article));
}
dressCode();
fetch("/healthz", {credentials: "omit", referrerPolicy: "no-referrer"}).then((answer) => answer.json()).then(({guests}) => {
  if (guests && byId("key-need")) byId("key-need").textContent = `Without a key you may ask ${Number(guests).toLocaleString("en")} times a minute. A key adds downloads, the scanner and a limit of your own.`;
}).catch(() => {}); // a tree has no such path, and no guests
form?.classList.remove("later");
show(INVITATION);
if (readKey()) enter(readKey());
addEventListener("newkey", () => enter(readKey()));
