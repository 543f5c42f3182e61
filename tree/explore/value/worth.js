// What the list is worth: now, against earlier, and over the year.
import {h} from "../dom.js";
import {plot} from "../plot.js";
import {count, day, euros, percent, roundEuros} from "../words.js";
import {changeCell, money} from "./cells.js";
import {total} from "./valuation.js";
import {AGES, carry, hasYear, inYear, movesSince, sumOf, weekBefore, worthByWeek} from "./year.js";

const SAME_CARDS = "The same cards then and now, each at the last price that it had. Prices of earlier days are kept by the week.";

/** The tiles and the plot of the lines that have a product. `lines` are all lines of the list. `loadYear()` loads what a long list leaves out. */
export function worthView(rows, lines, catalogue, loadYear) {
  const year = hasYear(rows, catalogue) ? [agoTile(rows, lines, catalogue), yearOf(rows, lines, catalogue)] : [yearTile(loadYear), []];
  const [tile, plots] = year;
  return h("section", {"aria-label": "Worth"}, h("div", {class: "tiles"}, nowTile(rows, lines, catalogue), tile), ...plots);
}

const fact = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

function nowTile(rows, lines, {asOf}) {
  const [price, low] = ["price", "low"].map((kind) => total(rows, kind));
  const [found, all] = [cardsOf(rows.map(({line}) => line)), cardsOf(lines)];
  return h("div", {class: "tile"}, h("h2", {}, "Worth now"),
    h("p", {class: "price", id: "worth-total"}, money(price.cents)),
    h("p", {class: "when", id: "speaks-for"}, speaksFor(found - price.without, all)),
    h("p", {class: "when"}, `Market prices across Europe, as of ${day(asOf)}`),
    h("dl", {}, ...offersOf(low, found, all), fact("Cards", count(all)), ...some("Of lines without a product", all - found),
      ...some("Graded, without a price of raw cards", cardsOf(rows.map(({line}) => line).filter(({grade}) => grade))),
      ...some("Without a market price", price.without)));
}

/** What the list costs at the lowest offers, where the service knows any. */
const offersOf = ({cents, without}, found, all) => (without === found ? []
  : [fact("At the lowest offers", money(cents), " ", h("span", {class: "where"}, speaksFor(found - without, all)))]);

const cardsOf = (lines) => lines.reduce((sum, {quantity}) => sum + quantity, 0);
const speaksFor = (some, all) => (some === all ? `for all ${count(all)} cards` : `for ${count(some)} of ${count(all)} cards`);
const some = (name, cards) => (cards ? [fact(name, count(cards))] : []);

/** In place of the year of a long list: it takes a request for each hundred cards. */
const yearTile = (loadYear) => h("div", {class: "tile"}, h("h2", {}, "Against earlier"),
  h("p", {class: "when"}, "What the list was worth over a year takes a request for each hundred cards."),
  h("p", {}, h("button", {type: "button", onclick: loadYear}, "Show the year")));

function agoTile(rows, lines, {series, weeks, asOf}) {
  const known = inYear(rows, series);
  const moves = (days) => movesSince(known, series, weekBefore(weeks, asOf, days));
  const all = cardsOf(lines);
  const facts = weeks.length && known.length ? AGES.map(([days, name]) => ago(name, moves(days), all)) : [];
  const foils = facts.length > 0 && rows.some(({foil}) => foil);
  const about = facts.length ? SAME_CARDS : "There are no prices of earlier weeks.";
  return h("div", {class: "tile"}, h("h2", {}, "Against earlier"),
    h("p", {class: "when"}, about, foils && " Foils are left out."), h("dl", {class: "ago"}, facts));
}

function ago(name, moves, all) {
  const {then, now, cards} = sumOf(moves);
  if (cards === 0) return fact(name, "–");
  const about = h("span", {class: "where"}, `now ${money(now)}, ${speaksFor(cards, all)}`);
  return fact(name, h("b", {}, money(then)), " ", changeCell(then, now), about);
}

function yearOf(rows, lines, {series, weeks}) {
  const known = inYear(rows, series);
  if (weeks.length === 0 || known.length === 0) return [];
  const worth = worthByWeek(known, series, weeks);
  const values = (part) => new Map(worth.map((week) => [week.week, week.cents ? week[part] / 100 : null]));
  const all = {name: "Value", style: "one", values: values("cents")};
  const carried = {name: "Carried", style: "two", values: values("carried")};
  const {cards} = sumOf(movesSince(known, series, weeks.length - 1)); // which have had a price by the newest week
  const about = `The plot is ${speaksFor(cards, cardsOf(lines))}.`;
  const says = [about, carriedText(worth.at(-1)), youngText(known, series), foilText(rows)];
  return [
    plot("Value over the year, by week", [
      {height: 250, format: euros, round: roundEuros, fromZero: true, series: [all, carried]},
    ]),
    h("p", {class: "when"}, says.filter(Boolean).join(" ")),
  ];
}

function carriedText({cents, carried}) {
  const share = percent(cents ? (carried / cents) * 100 : 0).replace("+", "");
  const part = `of the newest week’s ${money(cents)}, ${money(carried)} (${share}) is carried`;
  return `A week without a price carries the last one: ${part}.`;
}

function youngText(rows, series) {
  const young = rows.filter(({product}) => carry(series.get(product.id_product))[0].price === null).length;
  if (young === 1) return "1 line has no price at the beginning of the year and joins later.";
  return young ? `${count(young)} lines have no price at the beginning of the year and join later.` : "";
}

function foilText(rows) {
  const foils = rows.filter(({foil}) => foil);
  return foils.length ? `Foils, ${money(total(foils, "price").cents)} now, are left out: the year has no prices of foils.` : "";
}
