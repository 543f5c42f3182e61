// The products that rose and fell most, with the filters of /movers, a line of their last year and a link to each card.
import {h, nameOf, picture} from "./dom.js";
import {sparkline} from "./plot.js";
import {direction, euros, percent, setName, since} from "./words.js";

const ROWS = 25; // of one request
const LISTS = [["up", "Rose"], ["down", "Fell"]];
const CHOICES = [
  ["window", "Within", "7d", [["1d", "1 day"], ["7d", "7 days"], ["30d", "30 days"]]],
  ["by", "By", "percent", [["percent", "Percent"], ["euros", "Euros"]]],
  ["kind", "Kind", "all", [["all", "All"], ["single", "Singles"], ["sealed", "Sealed"]]],
  ["min_price", "Price then from", "5", [["0", "€0"], ["1", "€1"], ["5", "€5"], ["20", "€20"], ["100", "€100"]]],
  ["confirmed", "Show", "true", [["true", "Confirmed moves"], ["", "All moves"]]],
];
const CONFIRMED =
  "A confirmed move is backed by the lowest offers or by two different averages, which moved the same way; and neither price is " +
  "far from the averages and the lowest offer. Other moves are often a single odd offer.";
const COLUMNS = [["Product", ""], ["Then", "number"], ["Now", "number"], ["Change", "number"], ["A year", "number"]];

export function moversView({api, route, announce}) {
  const lists = h("div", {class: "movers"});
  const [games, fields] = [h("span", {class: "choices"}), CHOICES.map((choice) => chips(choice, route.params))];
  const about = h("p", {class: "when"}, CONFIRMED);
  const form = h("form", {class: "choices", onchange: load}, games, fields);
  let asking = new AbortController();

  async function load() {
    asking.abort();
    asking = new AbortController();
    const {signal} = asking;
    const query = Object.fromEntries(new FormData(form));
    route.replace(differing(query));
    try {
      const found = LISTS.map(([way, name]) => moverList(name, api, {...query, direction: way}, signal));
      const counts = await Promise.all(found.map((list) => list.load()));
      lists.replaceChildren(...found.filter((_, at) => counts[at]).map(({section}) => section));
      announce(counts.some(Boolean) ? "" : "No price moved so within this time.");
    } catch (error) {
      if (signal.aborted) return;
      announce(error, true);
    }
  }

  load();
  api.all("games", {limit: 500}).then((all) => all.length > 1 && games.append(
    chips(["game", "Game", "", [["", "All"], ...all.map(({name}) => [name, name])]], route.params)), () => {});
  const view = h("section", {class: "watchlist"}, h("h2", {tabindex: "-1"}, "Largest price moves"), form, about, lists);
  view.leave = () => asking.abort();
  return view;
}

/** What was chosen and differs from the defaults. */
const differing = (query) => Object.fromEntries(Object.entries(query)
  .filter(([name, value]) => value !== (CHOICES.find(([one]) => one === name)?.[2] ?? "")));

function chips([name, legend, usual, options], params) {
  const chosen = options.some(([value]) => value === params[name]) ? params[name] : usual;
  return h("fieldset", {class: "ranges"}, h("legend", {}, legend), options.map(([value, text]) =>
    h("label", {}, h("input", {type: "radio", name, value, checked: value === chosen}), text)));
}

const cell = (at) => ({class: COLUMNS[at][1], role: "cell", "data-label": COLUMNS[at][0]});

/** A table of moves that grows by a button. The roles are named, since small screens show the rows as blocks. */
function moverList(name, api, query, signal) {
  const body = h("tbody", {role: "rowgroup"});
  const more = h("button", {type: "button", class: "more", hidden: true, onclick: () => load().catch(() => {})}, `Show ${ROWS} more`);
  let [offset, build] = [0];

  async function load() {
    const [page, from] = await api.get("movers", {...query, limit: ROWS, offset}, {signal, build});
    [offset, build] = [page.pagination.next_offset, from];
    more.hidden = offset === null;
    const rows = page.data.map((mover) => ({mover, line: h("td", cell(4)), now: h("td", cell(2), euros(mover.now)), place: h("span", {class: "thumb"})}));
    body.append(...rows.map(row));
    dress(rows, api, signal).catch(() => {}); // the moves are worth showing without
    return rows.length;
  }

  const heads = COLUMNS.map(([heading, kind]) => h("th", {scope: "col", role: "columnheader", class: kind}, heading));
  const section = h("section", {}, h("h3", {}, name), h("table", {class: "stacks", role: "table", "aria-label": name},
    h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, heads)), body), more);
  return {section, load};
}

function row({mover, line, now, place}) {
  return h("tr", {role: "row"},
    h("th", {scope: "row", role: "rowheader"}, place, h("span", {class: "beside"},
      h("a", {href: `#/cards/${mover.id_product}`}, nameOf(mover.name)), h("span", {class: "where"}, setName(mover.set) ?? ""))),
    h("td", cell(1), euros(mover.then)),
    now,
    h("td", cell(3), h("span", {class: direction(mover.change)}, percent(mover.change_pct)), h("span", {class: "where"}, since(mover.day_then))),
    line);
}

/** Add the pictures and the lines of a year, which come in one request each. */
async function dress(rows, api, signal) {
  const ids = rows.map(({mover}) => mover.id_product).join(",");
  if (!ids) return;
  const [[cards], [series]] = await Promise.all(["cards", "series"].map((path) => api.get(path, {ids}, {signal})));
  const pictures = cards.data.some(({image}) => image);
  for (const {mover, line, now, place} of rows) {
    const same = ({id_product: id}) => id === mover.id_product;
    const [card, prices] = [cards.data.find(same), series.data.find(same)];
    if (!pictures) place.remove();
    else if (card) place.append(picture(card.image, card));
    if (card?.price_guide) now.append(h("span", {class: "where"}, `lowest offer ${euros(lowest(mover, card.price_guide))}`));
    if (prices) line.append(yearLine(prices.trend));
  }
}

/** The lowest offer of the finish that moved. */
const lowest = ({finish}, guide) => (finish === "foil" ? guide.holo.low : guide.low);

/** The line of weekly prices, from the first one within a year. */
function yearLine(weeks) {
  const known = weeks.slice(weeks.findIndex((price) => price !== null));
  return sparkline(known, `A year by weeks, ${known.map(euros).join(", ")}`);
}
