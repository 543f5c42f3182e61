// Tables of a valued list: its dearest cards, what moved most, and all of it.
import {h, stackedTable} from "../dom.js";
import {count} from "../words.js";
import {changeCell, copyOf, longTable, money, productCell} from "./cells.js";
import {statusOf} from "./export.js";
import {dearest} from "./valuation.js";
import {AGES, newestDay} from "./worth.js";
import {inYear, movesSince, weekBefore} from "./year.js";

const MOST = 8; // rows of a table of the best

export function dearestView(rows) {
  const columns = [["Card", ""], ["You have", "number"], ["Trend", "number"], ["Lowest", "number"]];
  const found = dearest(rows, MOST);
  return h("section", {}, h("h2", {}, "Dearest cards"), stackedTable("Dearest cards", columns, found.map(({card, line, trend, low, foil}) =>
    [productCell(card, foil ? "Foil" : ""), count(line.quantity), money(trend), money(low)])));
}

/** What rose and fell most, within a time that one chooses. */
export function movesView(rows, {series, weeks}) {
  const known = inYear(rows, series);
  if (weeks.length === 0 || known.length === 0) return "";
  const place = h("div", {class: "movers"});
  const draw = (days) => {
    const moves = movesSince(known, series, weekBefore(weeks, newestDay(rows), days));
    const [rose, fell] = [1, -1].map((way) => moves.filter(({then, now}) => (now - then) * way > 0).sort((a, b) => (b.now - b.then - a.now + a.then) * way));
    place.replaceChildren(movesTable("Rose", rose), movesTable("Fell", fell));
  };
  draw(AGES[1][0]);
  return h("section", {}, h("h2", {}, "Largest changes"), h("fieldset", {class: "ranges"}, h("legend", {}, "Since"), AGES.map(([days, name], at) =>
    h("label", {}, h("input", {type: "radio", name: "age", value: days, checked: at === 1, onchange: () => draw(days)}), name))), place);
}

function movesTable(name, moves) {
  const columns = [["Card", ""], ["Then", "number"], ["Now", "number"], ["Change", "number"]];
  return h("section", {}, h("h3", {}, `${name} (${count(moves.length)})`), stackedTable(name, columns, moves.slice(0, MOST).map(({card, line, then, now}) =>
    [productCell(card, line.quantity > 1 ? `${count(line.quantity)} copies` : ""), money(then), money(now), changeCell(then, now)])));
}

/** All lines, in the order of the list. */
export function listView(lines, rows, actions) {
  const byLine = new Map(rows.map((row) => [row.line, row]));
  const columns = [["Card", ""], ["Quantity", "number"], ["Trend", "number"], ["Lowest", "number"], ["All at trend", "number"], ["Line is", ""]];
  const times = (price, quantity) => (price == null ? null : price * quantity);
  const cells = (line) => {
    const {card, trend = null, low = null} = byLine.get(line) ?? {};
    const row = byLine.get(line) ?? {line};
    const name = card ? productCell(card, copyOf(row)) : h("span", {}, line.name || `Product ${line.id ?? "?"}`, h("span", {class: "where"}, line.wrong ?? line.why ?? ""));
    return [name, count(line.quantity), money(trend), money(low), money(times(trend, line.quantity)), statusOf(line)];
  };
  return h("section", {}, h("h2", {}, "Your list"),
    h("p", {class: "when"}, "Trend and lowest are over all conditions and languages. Offers of a condition are English cards of sellers in one country."),
    h("p", {class: "ways"}, actions), longTable("Your list", columns, lines, cells));
}
