// Cells of the tables, and tables that show more rows when asked.
import {h, stackedTable} from "../dom.js";
import {condition, count, direction, euros, percent, setName} from "../words.js";
import {offerOf} from "./valuation.js";

const ROWS = 50; // at first, and with each click

export const money = (cents) => euros(cents === null ? null : cents / 100);

/** A product's name with a link to its page, and where it stands in its set. */
export const productCell = ({id_product: id, name, set, number}, more = "") => h("span", {},
  h("a", {href: `/explore#/cards/${id}`}, name),
  h("span", {class: "where"}, [setName(set), number && `No. ${number}`, more].filter(Boolean).join(" · ")));

/** A line that has no product: what it says, and what is wrong. */
export const lineCell = (line) => h("span", {}, line.name || `Product ${line.id ?? "?"}`,
  h("span", {class: "where"}, [line.set, line.number && `No. ${line.number}`, line.wrong ?? line.why].filter(Boolean).join(" · ")));

/** A change in money and percent. */
export function changeCell(then, now) {
  const share = then > 0 ? ` (${percent(((now - then) / then) * 100)})` : "";
  const sign = now > then ? "+" : now < then ? "−" : "";
  return h("span", {class: direction(now - then)}, `${sign}${money(Math.abs(now - then))}${share}`);
}

/** What a line says of its copies, and whether that has a price. Its offers are known once its Card is. */
export function copyOf({line, product: {card}, foil}) {
  const offer = line.condition && card ? offerOf(line, card) : null;
  if (line.grade) return `Graded ${line.grade}: not priced, the prices here are of raw cards`;
  return [
    line.foil && (foil ? "Foil" : "Foil, no price of its own: counted as normal"),
    line.condition && `${condition(line.condition)}, ${offer === null ? "not priced" : `offers from ${money(offer)}`}`,
    line.language && `${line.language}, not priced`,
  ].filter(Boolean).join(" · ");
}

/**
 * A table of many rows, the first ones at first. `cellsOf` makes the cells of a row. `load(rows)` is a promise of more that
 * the cells say of the rows that are shown.
 */
export function longTable(caption, columns, rows, cellsOf, load = null) {
  let shown = ROWS;
  const place = h("div", {});
  const more = h("button", {type: "button", class: "more", onclick: () => { shown += ROWS; draw(); }}, "More");
  const write = () => place.replaceChildren(stackedTable(caption, columns, rows.slice(0, shown).map(cellsOf)));
  const draw = () => {
    write();
    more.hidden = shown >= rows.length;
    more.textContent = `More: ${count(rows.length - shown)} left`;
    load?.(rows.slice(shown - ROWS, shown)).then(write);
  };
  draw();
  return [place, more];
}
