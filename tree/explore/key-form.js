// The form that takes a key on the explorer and on the scanner: it enters with the key, and forgets it.
import {keepKey, readKey} from "../docs/key.js";
import {showKey} from "../docs/menu.js";
import {h} from "./dom.js";
import {sentence} from "./words.js";

const byId = (id) => document.getElementById(id);

/**
 * Work the form, and begin with the key of this tab if there is one.
 *
 * `enter(key)` checks a key, shows the page and returns the name of the key; what it throws is shown at the form. `leave()`
 * empties the page after the key was forgotten.
 */
export function keyForm(enter, leave) {
  const [form, input, wrong] = ["key-form", "key", "key-error"].map(byId);
  const button = form.querySelector("button");
  let attempt = 0;

  function invite() {
    byId("loading")?.remove();
    showKey("");
    button.disabled = form.hidden = false;
    showBehind(behind());
    input.focus();
  }

  /** Enter with a key; "" for a guest, or a reader of plain files. */
  async function begin(key) {
    const mine = ++attempt;
    button.disabled = form.hidden = true;
    wrong.textContent = "";
    try {
      const name = await enter(key);
      if (mine !== attempt) return; // the key was forgotten meanwhile
      showKey(name);
      keepKey(key);
      input.value = "";
      byId("loading")?.remove();
      showBehind([]);
    } catch (error) {
      if (mine !== attempt) return;
      if (error.status === 401) keepKey("");
      invite();
      wrong.textContent = sentence(error.message); // none if the service asked for a key
      if (error.status === 0) wrong.append(" ", h("button", {type: "button", onclick: () => begin(key)}, "Try again"));
    }
    button.disabled = false;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    begin(input.value.trim());
  });
  byId("forget").addEventListener("click", () => {
    attempt++;
    keepKey("");
    leave();
    invite();
  });
  addEventListener("newkey", () => {
    leave();
    begin(readKey());
  });
  begin(readKey());
}

function showBehind(parts) {
  const place = byId("behind");
  if (!place) return;
  place.replaceChildren(...parts);
  place.hidden = parts.length === 0;
}

/** What is behind the form: the public examples of the build, or nothing. */
function behind() {
  const moves = byId("week");
  return moves ? [h("h2", {}, "What you will see"), moves.content.cloneNode(true)] : [];
}
