// Making elements. Text always goes in as text, never as markup.

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

/** A link to another site, or null if the address from the data is not http or https. */
export function outward(address, text) {
  const safe = /^https?:\/\//i.test(address ?? "");
  return safe ? h("a", {href: address, rel: "noopener noreferrer", referrerpolicy: "no-referrer"}, text) : null;
}

/** A picture, or the initials of the name if there is no picture or it does not load. */
export function picture(address, name, properties = {}) {
  const frame = h("span", {class: "picture"}, h("span", {class: "stand-in", "aria-hidden": "true"}, initials(name)));
  if (!/^https:\/\//i.test(address ?? "")) return frame;
  const image = h("img", {src: address, alt: "", decoding: "async", referrerpolicy: "no-referrer", ...properties});
  image.addEventListener("load", () => frame.classList.add("loaded"));
  image.addEventListener("error", () => image.remove());
  frame.append(image);
  return frame;
}

const initials = (name) => name.replace(/\[.*/, "").trim().split(/\s+/).slice(0, 2).map((word) => [...word][0]).join("");

/** A table with a caption; `columns` are [heading, class]; `rows` are arrays of cells, the first one its heading. */
export function table(caption, columns, rows) {
  return h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    h("table", {},
      h("caption", {class: "seen-by-readers-alone"}, caption),
      h("thead", {}, h("tr", {}, columns.map(([heading, kind]) => h("th", {scope: "col", class: kind}, heading)))),
      h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, at) =>
        h(at ? "td" : "th", {class: columns[at][1], scope: at ? null : "row"}, cell)))))));
}
