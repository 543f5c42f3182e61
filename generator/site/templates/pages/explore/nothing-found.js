// Where a search finds nothing: what stands nowhere, and links to searches that may be meant, as the API says.
import {h} from "./dom.js";
import {count} from "./words.js";

/** A line about a hint of the API; "" without one. `values` are the filters. */
export function meant(hint, values) {
  if (!hint) return "";
  const links = hint.instead.flatMap(({products, ...change}) => [link(change, products, values), ", "]).slice(0, -1);
  const nowhere = hint.nowhere.map((text) => `\u201c${text}\u201d`).join(", ");
  return h("p", {class: "meant"}, nowhere && `Nothing has ${nowhere}. `, links.length > 0 && "Did you mean ", links, links.length > 0 && "?");
}

/** A link to a search with some values changed; null is none. What the form calls `q` is `find`. */
function link({find, ...others}, products, values) {
  const parts = Object.entries(others).map(([name, value]) => ([null, "all"].includes(value) ? `any ${name.replace("_", " ")}` : `${name} ${value}`));
  const changed = {...values, ...others, ...(find !== undefined && {q: find})};
  const params = Object.entries(changed).filter(([, value]) => value !== null);
  return h("a", {href: `#/cards?${new URLSearchParams(params)}`}, `${[find, ...parts].filter(Boolean).join(", ")} (${count(products)})`);
}
