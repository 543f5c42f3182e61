// Tables of a valued list: its dearest cards, what moved most, and all of it.
import {h, stackedTable} from "../dom.js";
import {count, NONE} from "../words.js";
import {productsOf} from "./appraisal.js";
import {changeCell, copyOf, lineCell, longTable, money, productCell} from "./cells.js";
import {statusOf} from "./export.js";
import {dearest} from "./valuation.js";
import {AGES, inYear, movesSince, weekBefore} from "./year.js";

const MOST = 8; // rows of a table of the best

export function dearestView(rows) {
  const columns = [["Card", ""], ["You have", "number"], ["Market price", "number"], ["Lowest offer", "number"]];
  const cells = ({product, line, price, low, foil}) => [productCell(product, foil ? "Foil" : ""), count(line.quantity), money(price), money(low)];
  return h("section", {}, h("h2", {}, "Dearest cards"), stackedTable("Dearest cards", columns, dearest(rows, MOST).map(cells)));
}

/** What rose and fell most, since a time that you choose. */
export function movesView(rows, {series, weeks, asOf}) {
  const known = inYear(rows, series);
  if (weeks.length === 0 || known.length === 0) return "";
  const place = h("div", {class: "movers"});
  const draw = (days) => {
    const moves = movesSince(known, series, weekBefore(weeks, asOf, days)).sort((a, b) => change(b) - change(a));
    const fell = moves.filter((move) => change(move) < 0).reverse();
    place.replaceChildren(movesTable("Rose", moves.filter((move) => change(move) > 0)), movesTable("Fell", fell));
  };
  const [usual] = AGES[1];
  const choice = ([days, name]) => h("label", {},
    h("input", {type: "radio", name: "age", value: days, checked: days === usual, onchange: () => draw(days)}), name);
  draw(usual);
  return h("section", {}, h("h2", {}, "Largest changes"),
    h("fieldset", {class: "ranges"}, h("legend", {}, "Since"), AGES.map(choice)), place);
}

const change = ({then, now}) => now - then;

function movesTable(name, moves) {
  const columns = [["Card", ""], ["Then", "number"], ["Now", "number"], ["Change", "number"]];
  const cells = ({product, line: {quantity}, then, now}) =>
    [productCell(product, quantity > 1 ? `${count(quantity)} copies` : ""), money(then), money(now), changeCell(then, now)];
  return h("section", {}, h("h3", {}, `${name} (${count(moves.length)})`), stackedTable(name, columns, moves.slice(0, MOST).map(cells)));
}

const LIST_COLUMNS = [
  ["Card", ""], ["Quantity", "number"], ["Market price", "number"], ["Lowest offer", "number"], ["All", "number"], ["Status", ""],
];
const ABOUT_PRICES =
  "The market price is over all conditions and languages. Offers are of English cards by sellers in one country.";

/** All lines, in the order of the list. `load(ids)` is a promise of the Cards of products. */
export function listView(lines, rows, actions, load) {
  const byLine = new Map(rows.map((row) => [row.line, row]));
  return h("section", {}, h("h2", {}, "Your list"), h("p", {class: "when"}, ABOUT_PRICES), h("p", {class: "ways"}, actions),
    longTable("Your list", LIST_COLUMNS, lines, (line) => lineCells(line, byLine.get(line)), (shown) => load(productsOf(shown))));
}

function lineCells(line, row) {
  const {quantity} = line;
  if (!row) return [lineCell(line), count(quantity), NONE, NONE, NONE, statusOf(line)];
  const all = row.price === null ? null : row.price * quantity;
  return [productCell(row.product, copyOf(row)), count(quantity), money(row.price), money(row.low), money(all), statusOf(line)];
}
