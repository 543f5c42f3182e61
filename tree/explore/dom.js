// Making elements. Text always goes in as text, never as markup.

import {NONE} from "./words.js";

const HUES = 8; // of the style sheet

function put(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An HTML element: attributes by name, listeners as `onclick`, children as nodes or text. */
export const h = (tag, properties = {}, ...children) => put(document.createElement(tag), properties, children);

/** An SVG element, likewise. */
export const svg = (tag, properties = {}, ...children) =>
  put(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

/** A product's name: its base name, and in small what follows in brackets. */
export function nameOf(name) {
  const end = name.search(/ [[(]/);
  const base = end > 0 && /[\p{L}\p{N}]/u.test(name.slice(0, end)) ? end : name.length;
  return [name.slice(0, base), base < name.length && h("small", {class: "rest-of-name"}, name.slice(base))];
}

/** A link to another site, or null if the address from the data is not http or https. */
export function outward(address, text) {
  const safe = /^https?:\/\//i.test(address ?? "");
  return safe ? h("a", {href: address, rel: "noopener noreferrer", referrerpolicy: "no-referrer"}, text) : null;
}

/** The picture of a product, at an address over https or on this host. If there is none, or it does not load, the place says so. */
export function picture(address, product, properties = {}) {
  if (!/^(https:\/\/|\/(?!\/))/i.test(address ?? "")) return noPicture(product);
  const image = h("img", {alt: "", decoding: "async", referrerpolicy: "no-referrer", width: 252, height: 352, ...properties, src: address});
  const place = h("span", {class: "picture"}, image);
  image.addEventListener("error", () => place.replaceWith(noPicture(product)), {once: true});
  return place;
}

/** A place without a picture, in the colour of the game. A Card does not name its game, but its category begins with it. */
function noPicture({number, category}) {
  const game = category?.replace(/ ?\S+$/, "") ?? "";
  const hue = [...game].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % HUES;
  return h("span", {class: `picture none hue-${hue}`, "aria-hidden": "true"}, h("span", {}, "No picture"), number && h("span", {}, `No. ${number}`));
}

/**
 * A table whose rows are blocks on a small screen, so that it needs no scrolling. Its roles are named, since blocks lose theirs.
 * A column without any value is left out.
 */
export function stackedTable(caption, allColumns, allRows) {
  const kept = allColumns.map((_, at) => allRows.length === 0 || allRows.some((cells) => cells[at] !== NONE));
  const [columns, ...rows] = [allColumns, ...allRows].map((cells) => cells.filter((_, at) => kept[at]));
  const cell = (content, at) => h(at ? "td" : "th", {class: columns[at][1], role: at ? "cell" : "rowheader", scope: at ? null : "row", "data-label": columns[at][0]}, content);
  return h("table", {class: "stacks", role: "table", "aria-label": caption},
    h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, columns.map(([heading, kind]) =>
      h("th", {scope: "col", role: "columnheader", class: kind}, heading)))),
    h("tbody", {role: "rowgroup"}, rows.map((cells) => h("tr", {role: "row"}, cells.map(cell)))));
}

/** A table with a caption; `columns` are [heading, class]; `rows` are arrays of cells, the first one its heading. */
export function table(caption, columns, rows) {
  return h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    h("table", {},
      h("caption", {class: "seen-by-readers-alone"}, caption),
      h("thead", {}, h("tr", {}, columns.map(([heading, kind]) => h("th", {scope: "col", class: kind}, heading)))),
      h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, at) =>
        h(at ? "td" : "th", {class: columns[at][1], scope: at ? null : "row"}, cell)))))));
}
