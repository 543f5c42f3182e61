// A set or a game: what its cards are worth, now and over time. A set also shows its cards and their moves.
import {before} from "./before.js";
import {h, nameOf, stackedTable} from "./dom.js";
import {groupName} from "./market.js";
import {plot} from "./plot.js";
import {costText, inAll, marketPrice} from "./price.js";
import {NONE, count, day, euros, index, percent, roundEuros, setName, since, tendency, titled} from "./words.js";
import {weekChanges} from "./week.js";

const RANGES = [["30", "30 days"], ["90", "90 days"], ["365", "A year"], ["3650", "All"]];
const WINDOWS = [7, 30];
const MOVES = 5; // of each list
const FIRST_CARDS = 50; // of a set, until all are asked for
const COLUMNS = [["Card", ""], ["Number", "number"], ["Rarity", ""], ["Price", "number"], ["Change", "number"]];

/** The page of a set. */
export function setView(context) {
  const {announce, route, sets} = context;
  const view = groupView(context, {set: route.id});
  const cards = h("section", {}, h("h3", {}, "Cards"));
  sets.of(route.id).then(async (found) => {
    const changes = await weekChanges(await context.build);
    view.append(...moves(found.cards, changes), cards);
    cards.append(await whole(route.id, found, context.api), ...byNumber(found.cards, changes));
  }).catch((error) => error.status === 404 || announce(error, true)); // then the history says more
  return view;
}

/** The page of a game. */
export const gameView = (context) => groupView(context, {game: context.route.id});

function groupView({api, announce}, group) {
  const view = h("article", {class: "product"});
  const head = h("header", {});
  const history = h("div", {});
  const asking = new AbortController();
  const hidden = new Set();
  const ask = async (days) => (await api.get("market/history", {...group, days}, {signal: asking.signal}))[0];
  const ranges = h("fieldset", {class: "ranges"}, h("legend", {}, "History of"), RANGES.map(([days, name], at) =>
    h("label", {}, h("input", {type: "radio", name: "days", value: days, checked: at === 1, onchange: async () => {
      try { history.replaceChildren(historyOf(await ask(days), hidden)); } catch (error) { announce(error, true); }
    }}), name)));

  view.append(head);
  ask(RANGES[1][0]).then((found) => {
    titled(groupName(found), found.set && found.game);
    head.append(path(found), h("h2", {tabindex: "-1"}, groupName(found)), ...headline(found));
    head.after(h("section", {"aria-label": "History"}, ranges, history));
    history.replaceChildren(historyOf(found, hidden));
    announce("");
    head.querySelector("h2").focus();
  }).catch((error) => asking.signal.aborted || announce(error.status === 404 ? "No card of it ever had a price." : error.message, true));
  view.leave = () => asking.abort();
  return view;
}

/** The way here from the market: to a game, to a set of it, or (`here`) to a card of the set. */
export function path({set, game = null, here = false}) {
  const steps = [["#/market", "Market"]];
  if (set && game !== null) steps.push([`#/games/${encodeURIComponent(game)}`, game]);
  if (here && set.id !== null) steps.push([`#/sets/${set.id}`, setName(set)]);
  return h("nav", {class: "path", "aria-label": "Path"}, h("ol", {}, steps.map(([href, name]) => h("li", {}, h("a", {href}, name)))));
}

function headline({points}) {
  const now = points.at(-1);
  const about = `Market prices of ${now.priced === 1 ? "1 card" : `${count(now.priced)} cards`}, ${day(now.day)}`;
  return [h("div", {class: "headline"}, h("p", {class: "price"}, euros(now.value)), h("p", {class: "when"}, about),
    h("dl", {class: "moves"}, h("div", {}, h("dt", {}, "Index"), h("dd", {}, index(now.index))),
      WINDOWS.map((days) => before(points, "index", now.day, days)).filter(Boolean).map((then) => h("div", {}, h("dt", {}, since(then.day)), h("dd", {}, moved(now, then))))))];
}

function moved(now, then) {
  const change = ((now.index - then.index) / then.index) * 100;
  return h("span", {class: tendency(change), title: `${index(then.index)} on ${day(then.day)}`}, percent(change));
}

function historyOf({points}, hidden) {
  const of = (field) => new Map(points.map((point) => [point.day, point[field]]));
  return plot("Value and index", [
    {height: 200, format: euros, round: roundEuros, series: [
      {name: "Value at market prices", style: "one", values: of("value")},
      {name: "Value at lowest offers", style: "two", values: of("value_low")}]},
    {height: 110, format: index, series: [{name: "Index", style: "three", values: of("index")}]},
  ], hidden);
}

/** How many cards are listed and what all of them cost, with the way to all of them. Of a set too large to be read, /facets has the sum. */
async function whole(id, {cards, total}, api) {
  const all = h("a", {href: `#/cards?${new URLSearchParams({set: id, sort: "number"})}`}, cards.some(({image}) => image) ? "All of the set, with pictures" : "All of the set");
  if (cards.length === total) return h("p", {}, `${count(total)} cards. The whole set costs ${costText(cards)}. `, all);
  const sum = await api.get("facets", {set: id, kind: "single"}).then(([facets]) => facets, () => undefined);
  return h("p", {}, `${count(cards.length)} of ${count(total)} cards`, inAll(sum), ". ", all);
}

/** The cards of the set that rose and fell most within a week. */
function moves(cards, changes) {
  const percents = ({id_product: id}) => changes.get(id)?.percents;
  const some = cards.filter(percents).sort((a, b) => percents(b) - percents(a));
  const rose = some.filter((card) => percents(card) > 0).slice(0, MOVES);
  const fell = some.filter((card) => percents(card) < 0).slice(-MOVES).reverse();
  return [["Rose most within a week", rose], ["Fell most within a week", fell]].filter(([, found]) => found.length)
    .map(([name, found]) => h("section", {}, h("h3", {}, name), cardTable(name, found, changes)));
}

/** The first cards by number, and a button for the others. */
function byNumber(cards, changes) {
  const list = (shown) => cardTable("Cards by number", shown, changes);
  const first = list(cards.slice(0, FIRST_CARDS));
  const others = cards.length - FIRST_CARDS;
  if (others <= 0) return [first];
  return [first, h("button", {type: "button", class: "more", onclick: ({target}) => {
    const all = list(cards);
    first.replaceWith(all);
    target.remove();
    all.querySelectorAll("tbody a")[FIRST_CARDS].focus({preventScroll: true});
  }}, `Show ${count(others)} more`)];
}

function cardTable(name, cards, changes) {
  return stackedTable(name, COLUMNS, cards.map((card) => {
    const change = changes.get(card.id_product);
    return [h("a", {href: `#/cards/${card.id_product}`}, nameOf(card.name)), card.number ?? NONE, card.rarity ?? NONE,
      euros(marketPrice(card.price_guide)?.price), change ? [h("span", {class: tendency(change.percents)}, percent(change.percents)),
        h("span", {class: "where"}, since(change.since))] : NONE];
  }));
}
