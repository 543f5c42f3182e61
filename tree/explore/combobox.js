// A text field that offers values while one types: the editable combobox with list autocomplete of the WAI-ARIA
// Authoring Practices. The focus stays in the field; the arrow keys move through the list.
import {h} from "./dom.js";
import {count} from "./words.js";

/**
 * The field, its label and its list. `suggest(text)` gives options `{value, label, products}`, or a promise of them.
 * An option that is taken fires `change` at the field. If the field holds `one` of the values, Enter takes the first option. The event `offered` at the field says that the options are new.
 */
export function combobox(label, input, suggest, one = false) {
  const id = `${input.name}-options`;
  const list = h("ul", {id, class: "options", role: "listbox", "aria-label": "Suggestions", hidden: true});
  const attributes = {role: "combobox", "aria-autocomplete": "list", "aria-controls": id, "aria-expanded": "false"};
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  const popup = new Popup(input, list, suggest, one);
  input.addEventListener("input", () => popup.open());
  input.addEventListener("click", () => popup.open());
  input.addEventListener("offered", () => popup.renew());
  input.addEventListener("blur", () => popup.close());
  input.addEventListener("keydown", (event) => {
    if (!event.isComposing && popup.key(event)) event.preventDefault();
  });
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the field
  list.addEventListener("click", ({target}) => popup.take(target.closest("[role=option]")));
  return h("div", {class: "combobox"}, h("label", {}, h("span", {}, label), input), list);
}

class Popup {
  #turn = 0; // of asking: an answer that comes after another turn began is too late
  #active = -1;
  #isWanted = false; // also while there is nothing to show

  constructor(input, list, suggest, one) {
    Object.assign(this, {input, list, suggest, one});
  }

  async open(active = -1) {
    const turn = ++this.#turn;
    this.#isWanted = true;
    const options = await this.suggest(this.input.value);
    if (turn !== this.#turn) return;
    this.list.replaceChildren(...options.map(({value, label, products}, at) =>
      h("li", {id: `${this.list.id}-${at}`, role: "option", "data-value": value},
        h("span", {}, label), products != null && h("span", {class: "products"}, count(products)))));
    this.#expand(options.length > 0);
    this.#move(active);
  }

  /** Show the newest options, if the list is open or had nothing to show. */
  renew() {
    if (this.#isWanted) this.open(this.#active);
  }

  close() {
    this.#turn++;
    this.#isWanted = false;
    this.#expand(false);
    this.#move(-1);
  }

  take(option) {
    if (!option) return;
    this.input.value = option.dataset.value;
    this.close();
    this.input.dispatchEvent(new Event("change", {bubbles: true}));
  }

  /** Act on a key. Return whether the field is to ignore it. */
  key({key, altKey}) {
    const {hidden, children} = this.list;
    const last = children.length - 1;
    if (key === "ArrowDown" && hidden) this.open(altKey ? -1 : 0);
    else if (key === "ArrowUp" && hidden) this.open(altKey ? -1 : Infinity);
    else if (key === "ArrowUp" && altKey) this.close();
    else if (key === "ArrowDown") this.#move(this.#active < last ? this.#active + 1 : 0);
    else if (key === "ArrowUp") this.#move(this.#active > 0 ? this.#active - 1 : last);
    else if (key === "Enter" && this.#active >= 0) this.take(children[this.#active]);
    else if (key === "Enter" && this.one && this.#isPartOfOne()) this.take(children[0]);
    else if (key === "Escape") this.#escape();
    else return this.#leave(key);
    return true;
  }

  #isPartOfOne() {
    const {input, list} = this;
    return input.value !== "" && !list.hidden && [...list.children].every(({dataset}) => dataset.value !== input.value);
  }

  /** The first Escape closes the list, the next one empties the field. */
  #escape() {
    if (!this.list.hidden) return this.close();
    this.input.value = "";
    this.input.dispatchEvent(new Event("input", {bubbles: true}));
    this.input.dispatchEvent(new Event("change", {bubbles: true}));
  }

  /** Keys that move within the text leave the list; Enter ends the typing. */
  #leave(key) {
    if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(key)) this.#move(-1);
    if (key === "Enter") this.close();
    return false;
  }

  #expand(open) {
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
  }

  #move(place) {
    const {children} = this.list;
    this.#active = Math.min(place, children.length - 1);
    const active = children[this.#active];
    for (const option of children) option.setAttribute("aria-selected", String(option === active));
    if (!active) return this.input.removeAttribute("aria-activedescendant");
    this.input.setAttribute("aria-activedescendant", active.id);
    active.scrollIntoView({block: "nearest"});
  }
}
