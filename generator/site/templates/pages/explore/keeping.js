// A card joins the list of the page “My cards”, which is kept in this browser.
import {h} from "./dom.js";
import {keepList, readList} from "./value/kept-list.js";
import {count, setName} from "./words.js";

const PLAIN = {foil: false, condition: "", language: "", grade: ""}; // a copy of which nothing more is known

const isSame = (line, id) => line.product === id && Object.keys(PLAIN).every((field) => !line[field]);

/** Add a copy of a product to the list. Return whether the browser had the room. */
function add({id_product: id, name, set, number}) {
  const lines = readList();
  const known = lines.find((line) => isSame(line, id));
  if (known) known.quantity++;
  else lines.push({quantity: 1, id, product: id, name, set: setName(set) ?? "", number: number ?? "", ...PLAIN});
  return keepList(lines);
}

/** A button that adds a product to my cards, and how many of it are there. */
export function keeping(product) {
  const said = h("span", {"aria-live": "polite"});
  const show = () => {
    const copies = readList().filter((line) => line.product === product.id_product).reduce((sum, line) => sum + line.quantity, 0);
    said.replaceChildren(...(copies ? [`${count(copies)} in `, h("a", {href: "/explore/value"}, "My cards")] : []));
  };
  const keep = () => {
    if (add(product)) show();
    else said.textContent = "This browser keeps no list: it has no room left, or does not allow it.";
  };
  show();
  return h("p", {class: "keeping"}, h("button", {type: "button", onclick: keep}, "Add to my cards"), " ", said);
}
