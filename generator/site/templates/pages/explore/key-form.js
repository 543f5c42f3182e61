// The form that takes a key on the explorer and on the scanner: it enters with the key, and forgets it.
import {keepKey, readKey} from "../docs/key.js";
import {showKey} from "../docs/menu.js";

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

  async function begin(key) {
    button.disabled = true;
    wrong.textContent = "";
    try {
      showKey(await enter(key));
      keepKey(key);
      input.value = "";
      form.hidden = true;
    } catch (error) {
      if (error.status === 401) keepKey("");
      showKey("");
      form.hidden = false;
      wrong.textContent = error.message;
    }
    button.disabled = false;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    begin(input.value.trim());
  });
  byId("forget").addEventListener("click", () => {
    keepKey("");
    leave();
    showKey("");
    form.hidden = false;
    input.focus();
  });
  if (readKey()) return begin(readKey());
  showKey("");
  form.hidden = false;
  input.focus();
}
