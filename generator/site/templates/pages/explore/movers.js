// The start page: the products that rose and fell most, each with a line of its last days and a link to the card.
import {h, picture} from "./dom.js";
import {sparkline} from "./plot.js";
import {count, day, direction, euros, percent} from "./words.js";

const ROWS = 8; // of each list: each row costs one request
const DAYS = 30; // of each line
const WINDOWS = [["1d", "1 day"], ["7d", "7 days"], ["30d", "30 days"]];
const WHICH = [["true", "Confirmed moves"], ["", "All moves"]];
const CONFIRMED =
  "A move is confirmed if the averages of 7 and 30 days are of the same size as the price, and neither the weekly average nor " +
  "the lowest offer moved the other way. Other moves are often a single odd offer.";
const LISTS = [["up", "Rose"], ["down", "Fell"]];
const COLUMNS = [["Product", ""], ["Then", "number"], ["Now", "number"], ["Change", "number"], [`${DAYS} days`, "number"]];

export function moversView({api, announce}) {
  const lists = h("div", {class: "movers"});
  let asking = new AbortController();

  async function load() {
    asking.abort();
    asking = new AbortController();
    const {signal} = asking;
    const {window, confirmed} = Object.fromEntries(new FormData(form));
    try {
      const found = await Promise.all(LISTS.map(([way]) => api.get("movers", {window, confirmed, direction: way, limit: ROWS}, {signal})));
      const rows = found.flatMap(([page]) => page.data.map((mover) => ({mover, line: h("td", cell(4)), place: h("span", {class: "thumb"})})));
      lists.replaceChildren(...found.map(([page, , total], at) =>
        section(LISTS[at][1], total, rows.filter(({mover}) => page.data.includes(mover)))));
      announce(rows.length ? "" : "No price moved in this window.");
      for (const {mover, line, place} of rows) await fill(mover, line, place, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (confirmed && error.code === "invalid_parameter") return forget(); // the build is older than confirmed moves
      announce(error, true);
    }
  }

  function forget() {
    for (const part of [which, about]) part.remove();
    load();
  }

  async function fill(mover, line, place, signal) {
    const [product] = await api.get(`cards/${mover.id_product}`, {days: DAYS}, {signal});
    const trends = product.history.price_guide.map(({trend}) => trend);
    line.append(sparkline(trends, `Last ${DAYS} days, ${trends.map(euros).join(", ")}`));
    place.append(picture(product.image, product));
  }

  const choices = (legend, name, options, usual) => h("fieldset", {class: "ranges"}, h("legend", {}, legend), options.map(([value, text]) =>
    h("label", {}, h("input", {type: "radio", name, value, checked: value === usual, onchange: load}), text)));
  const which = choices("Show", "confirmed", WHICH, WHICH[0][0]);
  const about = h("p", {class: "when"}, CONFIRMED);
  const form = h("form", {class: "choices"}, choices("Within", "window", WINDOWS, WINDOWS[1][0]), which);
  load();
  const view = h("section", {class: "watchlist"}, h("h2", {tabindex: "-1"}, "Largest price moves"), form, about, lists);
  view.leave = () => asking.abort();
  return view;
}

const cell = (at) => ({class: COLUMNS[at][1], role: "cell", "data-label": COLUMNS[at][0]});

// The roles are named, since small screens show the rows as blocks.
function section(name, total, rows) {
  const some = Number(total) > rows.length ? `${count(rows.length)} of ${count(Number(total))}` : count(rows.length);
  return h("section", {}, h("h3", {}, `${name} (${some})`),
    h("table", {class: "stacks", role: "table", "aria-label": name},
      h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, COLUMNS.map(([heading, kind]) =>
        h("th", {scope: "col", role: "columnheader", class: kind}, heading)))),
      h("tbody", {role: "rowgroup"}, rows.map(row))));
}

function row({mover, line, place}) {
  return h("tr", {role: "row"},
    h("th", {scope: "row", role: "rowheader"}, place, h("a", {href: `#/cards/${mover.id_product}`}, mover.name),
      h("span", {class: "where"}, mover.set.name ?? "")),
    h("td", {...cell(1), title: day(mover.day_then)}, euros(mover.then)),
    h("td", {...cell(2), title: day(mover.day_now)}, euros(mover.now)),
    h("td", cell(3), h("span", {class: direction(mover.change)}, percent(mover.change_pct))),
    line);
}
