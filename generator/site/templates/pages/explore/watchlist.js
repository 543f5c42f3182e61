// The watchlist with sparklines and changes, and one tracked product with its history and offers.
import {h, outward, table} from "./dom.js";
import {plot, sparkline} from "./plot.js";
import {condition, count, euros, percent, roundEuros, tendency, time, titled} from "./words.js";

const COLUMNS = [
  ["name", "Product"], ["lowest_price", "Lowest"], ["change_24h_pct", "24 hours"], ["change_7d_pct", "7 days"],
  [null, "14 days"], ["num_offers", "Offers"], ["last_checked", "Checked"],
];
const ABOUT =
  "These are the products that the operator of this service tracks, the same for every visitor. The list is filled with " +
  "“cardpress ingest watchlist” and its prices with “cardpress ingest watch-checks”.";
const VIEWS = [["daily", "Days"], ["weekly", "Weeks"], ["monthly", "Months"]];
const RANGES = [["30d", "30 days"], ["90d", "90 days"], ["365d", "A year"], ["all", "All"]];

export function watchlistView({api, announce}) {
  const body = h("tbody", {role: "rowgroup"});
  const sort = {by: "name", down: false};
  let items = [];
  const heads = COLUMNS.map(([field, name]) => h("th", {scope: "col", role: "columnheader", class: field === "name" ? "" : "number"},
    field ? h("button", {type: "button", onclick: () => order(field)}, name) : name));
  const show = () => {
    const factor = sort.down ? -1 : 1;
    const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b) * factor;
    const [none, some] = [items.filter((item) => item[sort.by] === null), items.filter((item) => item[sort.by] !== null)];
    some.sort((a, b) => compare(a[sort.by], b[sort.by]));
    body.replaceChildren(...[...some, ...none].map(row));
    COLUMNS.forEach(([field], at) => heads[at].setAttribute("aria-sort", field !== sort.by ? "none" : sort.down ? "descending" : "ascending"));
  };
  const order = (field) => {
    Object.assign(sort, {by: field, down: sort.by === field ? !sort.down : field !== "name"});
    show();
  };
  api.all("watchlist", {limit: 500}).then((found) => {
    items = found;
    show();
    announce(items.length ? `${count(items.length)} tracked products.` : "Nothing is tracked yet.");
  }).catch((error) => announce(error, true));
  return h("section", {class: "watchlist"}, h("h2", {tabindex: "-1"}, "Watchlist"),
    h("p", {class: "when"}, ABOUT, " Your own cards stand in ", h("a", {href: "/explore/value"}, "My cards"), "."),
    h("table", {class: "stacks", role: "table"}, h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, heads)), body));
}

const change = (value) => h("span", {class: tendency(value)}, percent(value));

// The roles are named, since small screens show the rows as blocks.
function row(item) {
  const spark = `Last 14 days, ${item.sparkline_14d.map(euros).join(", ")}`;
  const cells = [euros(item.lowest_price), change(item.change_24h_pct), change(item.change_7d_pct),
    sparkline(item.sparkline_14d, spark), count(item.num_offers), time(item.last_checked)];
  return h("tr", {role: "row"}, h("th", {scope: "row", role: "rowheader"}, h("a", {href: `#/watchlist/${encodeURIComponent(item.slug)}`}, item.name),
    h("span", {class: "where"}, item.game ?? "")),
  cells.map((cell, at) => h("td", {class: "number", role: "cell", "data-label": COLUMNS[at + 1][1]}, cell)));
}

/** One tracked product. */
export function watchedView({api, route, announce, cards}) {
  const view = h("article", {class: "product"});
  const asking = new AbortController();
  const path = `watchlist/${encodeURIComponent(route.slug)}`;
  const ask = async (more, params) => (await api.get(path + more, params, {signal: asking.signal}))[0];
  const history = h("div", {});
  const choose = (name, legend, options, usual) => h("fieldset", {class: "ranges"}, h("legend", {}, legend),
    options.map(([value, text]) => h("label", {}, h("input", {type: "radio", name, value, checked: value === usual, onchange: () => load()}), text)));
  const choices = h("form", {class: "choices"}, choose("view", "By", VIEWS, "daily"), choose("range", "History of", RANGES, "90d"));

  async function load() {
    try {
      const {points, change_pct_over_range: overall} = await ask("/history", Object.fromEntries(new FormData(choices)));
      const values = new Map(points.map(({date, price}) => [date, price]));
      history.replaceChildren(
        h("p", {class: "when"}, "Over this range: ", change(overall)),
        plot("Average of the lowest price", [{height: 250, format: euros, round: roundEuros, series: [{name: "Lowest price", style: "one", values}]}]));
    } catch (error) {
      if (!asking.signal.aborted) announce(error, true);
    }
  }

  Promise.all([ask(""), ask("/offers")]).then(([item, {offers}]) => {
    titled(item.name, "watchlist");
    const facts = [["Game", item.game], ["Lowest", euros(item.lowest_price)], ["24 hours", change(item.change_24h_pct)],
      ["7 days", change(item.change_7d_pct)], ["Offers", count(item.num_offers)], ["Checked", time(item.last_checked)],
      ["Marketplace", outward(item.cardmarket_url, "Product page")], ["Catalogue", h("span", {class: "to-card"}, "–")]];
    view.append(
      h("h2", {tabindex: "-1"}, item.name),
      h("dl", {class: "facts"}, facts.filter(([, fact]) => fact).map(([name, fact]) => h("div", {}, h("dt", {}, name), h("dd", {}, fact)))),
      h("section", {"aria-label": "History"}, choices, history),
      h("section", {}, h("h3", {}, "Offers at the latest check"), offersTable(offers)));
    announce("");
    view.querySelector("h2").focus();
    load();
    cards.of(item).then((found) => found && view.querySelector(".to-card").replaceChildren(
      h("a", {href: `#/cards/${found.id_product}`}, "Card with its prices")), () => {});
  }).catch((error) => asking.signal.aborted || announce(error, true));
  view.leave = () => asking.abort();
  return view;
}

function offersTable(offers) {
  if (offers.length === 0) return h("p", {}, "None were listed.");
  return table("Offers", [["Seller", ""], ["Condition", ""], ["Quantity", "number"], ["Price", "number"], ["Comment", ""]],
    offers.map(({seller, condition: grade, quantity, price, comment}) => [seller ?? "–", condition(grade), quantity ?? "–", euros(price), comment ?? ""]));
}
