// The market: what sets and games are worth, and how their indexes moved.
import {h, stackedTable} from "./dom.js";
import {count, day, direction, euros, index, percent, setName, since} from "./words.js";

const ROWS = 100; // of one request
const GROUPS = [["set", "Sets"], ["game", "Games"]];
const SORTS = [["value", "Value"], ["change_7d", "Change in 7 days"], ["change_30d", "Change in 30 days"], ["name", "Name"]];
const ORDERS = [["", "Default"], ["asc", "Ascending"], ["desc", "Descending"]];
const DEFAULTS = {by: "set", sort: "value", order: "", game: ""};
const COLUMNS = [
  ["Set", ""], ["Value", "number"], ["Cards priced", "number"], ["Index", "number"], ["7 days", "number"], ["30 days", "number"],
];
const MEANING =
  "The value is the sum of the market prices of all single cards that have one: the trend, or that of foils where there is no other. The index is 100 on the first day, and moves " +
  "only with cards that had a price the day before: a new card raises the value, not the index.";

/** The address of a group's page. */
const groupAddress = ({set, game}) => (set ? `#/sets/${set.id}` : `#/games/${encodeURIComponent(game)}`);

export const groupName = ({set, game}) => (set ? setName(set) : game);

export function marketView({api, route, announce}) {
  const found = h("div", {});
  const more = h("button", {type: "button", class: "more", hidden: true}, "Show more");
  const game = h("select", {name: "game"}, gameOptions(route.params.game ? [route.params.game] : []));
  const form = h("form", {class: "choices"}, choice("by", "Of", GROUPS), choice("sort", "Sort by", SORTS), choice("order", "Order", ORDERS),
    h("label", {}, h("span", {}, "Game "), game));
  let asking = new AbortController();
  let rows = [];

  async function load(offset = 0) {
    const {signal} = asking;
    try {
      const [page, , total] = await api.get("market", {...chosen(form), limit: ROWS, offset}, {signal});
      rows = offset ? [...rows, ...page.data] : page.data;
      found.replaceChildren(marketTable(rows));
      more.hidden = page.pagination.next_offset === null;
      announce(rows.length ? `${count(rows.length)} of ${count(Number(total))} shown.` : "No set or game with prices is known.");
    } catch (error) {
      if (!signal.aborted) announce(error, true);
    }
  }

  function change() {
    asking.abort();
    asking = new AbortController();
    game.disabled = form.elements.by.value === "game";
    route.replace(chosen(form));
    load();
  }

  fill(form, route.params);
  api.all("games", {limit: 500}).then((games) => {
    const {value} = game;
    game.replaceChildren(...gameOptions(games.map(({name}) => name)));
    game.value = value;
  }, () => {});
  form.addEventListener("change", change);
  more.addEventListener("click", () => load(rows.length));
  load();
  const view = h("section", {class: "market"}, h("h2", {tabindex: "-1"}, "The market"), h("p", {class: "when"}, MEANING), form, found, more);
  view.leave = () => asking.abort();
  return view;
}

const gameOptions = (names) => [h("option", {value: ""}, "Any"), ...names.map((name) => h("option", {value: name}, name))];

function choice(name, label, options) {
  return h("label", {}, h("span", {}, `${label} `), h("select", {name}, options.map(([value, text]) => h("option", {value}, text))));
}

/** Choose what the address names. */
function fill({elements}, params) {
  for (const [name, usual] of Object.entries(DEFAULTS)) elements[name].value = params[name] ?? usual;
}

/** What was chosen and differs from the defaults. */
function chosen(form) {
  return Object.fromEntries([...new FormData(form)].filter(([name, value]) => value !== DEFAULTS[name]));
}

/** A table of groups. */
export function marketTable(rows) {
  const change = (value, then) => h("span", {class: direction(value), title: then && since(then)}, percent(value));
  return stackedTable("Market", COLUMNS, rows.map((row) => [
    [h("a", {href: groupAddress(row)}, groupName(row)), row.set && h("span", {class: "where"}, row.game ?? "")],
    h("span", {title: day(row.day)}, euros(row.value)),
    `${count(row.priced)} of ${count(row.singles)}`,
    index(row.index), change(row.change_7d_pct, row.day_7d), change(row.change_30d_pct, row.day_30d)]));
}
