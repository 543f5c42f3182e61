const $docs_key_js = (() => {
const NAME = "cardpress-key";
function readKey() {
  try { return sessionStorage.getItem(NAME) ?? ""; } catch { return ""; }
}
function keepKey(key) {
  try {
    if (key) sessionStorage.setItem(NAME, key);
    else sessionStorage.removeItem(NAME);
  } catch { /* without storage, the key is gone with the page */ }
}
function isFirst(name) {
  try {
    const first = sessionStorage.getItem(`${NAME}-${name}`) === null;
    sessionStorage.setItem(`${NAME}-${name}`, "");
    return first;
  } catch { return true; }
}
function takeKeyFromAddress() {
  const found = /^#key=([^&]*)&?(.*)$/.exec(location.hash);
  if (!found) return false;
  history.replaceState(history.state, "", location.pathname + location.search + (found[2] && `#${found[2]}`));
  try { keepKey(decodeURIComponent(found[1]).trim()); } catch { /* no key */ }
  return true;
}

takeKeyFromAddress();
addEventListener("hashchange", (event) => {
  if (!takeKeyFromAddress()) return;
  event.stopImmediatePropagation(); // the rest of the address is shown with the new key
  dispatchEvent(new Event("newkey"));
});
return {readKey, keepKey, isFirst};
})();
const $explore_early_js = (() => {
const {readKey} = $docs_key_js;

function begin(key) {
  const headers = {Authorization: `Bearer ${key}`};
  const paths = ["me", "status"];
  if (["", "#/cards"].includes(location.hash)) paths.push("cards?sort=market&limit=50&offset=0");
  const answers = key ? paths.map((path) => fetch(`/api/v1/${path}`, {headers, credentials: "omit", referrerPolicy: "no-referrer"})) : [];
  for (const answer of answers) answer.catch(() => {}); // what takes it says so
  return {key, answers: new Map(answers.map((answer, at) => [`/api/v1/${paths[at]}`, answer]))};
}

globalThis.early ??= begin(readKey());return {};
})();
const $explore_before_js = (() => {

const DAY_MILLISECONDS = 86_400_000;
const LATE_DAYS = 3; // how much older than its window the value before may be
const before = (rows, field, newest, days) => rows.findLast((row) => {
  const age = (Date.parse(newest) - Date.parse(row.day)) / DAY_MILLISECONDS;
  return row[field] && age >= days && age <= days + LATE_DAYS;
});
return {before};
})();
const $explore_words_js = (() => {

const LOCALE = "en-IE";
const MONEY = new Intl.NumberFormat(LOCALE, {style: "currency", currency: "EUR"});
const ROUND = new Intl.NumberFormat(LOCALE, {style: "currency", currency: "EUR", maximumSignificantDigits: 3, notation: "compact"});
const COUNT = new Intl.NumberFormat(LOCALE);
const INDEX = new Intl.NumberFormat(LOCALE, {minimumFractionDigits: 2, maximumFractionDigits: 2});
const SIZE = new Intl.NumberFormat(LOCALE, {maximumFractionDigits: 1});
const PERCENT = new Intl.NumberFormat(LOCALE, {minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: "exceptZero"});
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const NONE = "–";
const or = (format) => (value) => (value === null || value === undefined ? NONE : format(value));

const euros = or((value) => MONEY.format(value));
const roundEuros = or((value) => ROUND.format(value));
const count = or((value) => COUNT.format(value));
const bytes = or((value) => {
  const power = Math.min(3, Math.max(1, Math.floor(Math.log10(Math.max(value, 1)) / 3)));
  return `${SIZE.format(value / 1000 ** power)} ${["", "kB", "MB", "GB"][power]}`;
});
const percent = or((value) => `${PERCENT.format(value).replace("-", "−")} %`);
const index = or((value) => INDEX.format(value));
const day = or((value) => `${Number(value.slice(8, 10))} ${MONTHS[Number(value.slice(5, 7)) - 1]} ${value.slice(0, 4)}`);
const time = or((value) => `${day(value)}, ${value.slice(11, 16)} UTC`);

const CONDITIONS = {
  MT: "Mint", NM: "Near Mint", EX: "Excellent", GD: "Good", LP: "Light Played", PL: "Played", PO: "Poor",
};
const condition = or((code) => CONDITIONS[code.toUpperCase()] ?? code);
const SELLER_FILTER = "English, one country";
const SELLER_FILTER_MEANING = "The cheapest offers of the English card, in any condition, by sellers in one country.";
const since = (value) => `since ${day(value).replace(/ \d+$/, "").replace(" ", "\u00a0")}`;
const direction = (change) => (change > 0 ? "up" : change < 0 ? "down" : "");
const sentence = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
const setName = ({id, name}) => name ?? (id === null ? null : `Expansion ${id}`);
function titled(...parts) {
  document.title = [...parts, "cardpress"].filter(Boolean).join(", ");
}
return {NONE, euros, roundEuros, count, bytes, percent, index, day, time, CONDITIONS, condition, SELLER_FILTER, SELLER_FILTER_MEANING, since, direction, sentence, setName, titled};
})();
const $explore_dom_js = (() => {

const {NONE} = $explore_words_js;

const HUES = 8; // of the style sheet

function put(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}
const h = (tag, properties = {}, ...children) => put(document.createElement(tag), properties, children);
const svg = (tag, properties = {}, ...children) =>
  put(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
function nameOf(name) {
  const end = name.search(/ [[(]/);
  const base = end > 0 && /[\p{L}\p{N}]/u.test(name.slice(0, end)) ? end : name.length;
  return [name.slice(0, base), base < name.length && h("small", {class: "rest-of-name"}, name.slice(base))];
}
function outward(address, text) {
  const safe = /^https?:\/\//i.test(address ?? "");
  return safe ? h("a", {href: address, rel: "noopener noreferrer", referrerpolicy: "no-referrer"}, text) : null;
}
function picture(address, product, properties = {}) {
  if (!/^(https:\/\/|\/(?!\/))/i.test(address ?? "")) return noPicture(product);
  const image = h("img", {alt: "", decoding: "async", referrerpolicy: "no-referrer", width: 252, height: 352, ...properties, src: address});
  const place = h("span", {class: "picture"}, image);
  image.addEventListener("error", () => place.replaceWith(noPicture(product)), {once: true});
  return place;
}
function noPicture({number, category}) {
  const game = category?.replace(/ ?\S+$/, "") ?? "";
  const hue = [...game].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % HUES;
  return h("span", {class: `picture none hue-${hue}`, "aria-hidden": "true"}, h("span", {}, "No picture"), number && h("span", {}, `No. ${number}`));
}
function stackedTable(caption, allColumns, allRows) {
  const kept = allColumns.map((_, at) => allRows.length === 0 || allRows.some((cells) => cells[at] !== NONE));
  const [columns, ...rows] = [allColumns, ...allRows].map((cells) => cells.filter((_, at) => kept[at]));
  const cell = (content, at) => h(at ? "td" : "th", {class: columns[at][1], role: at ? "cell" : "rowheader", scope: at ? null : "row", "data-label": columns[at][0]}, content);
  return h("table", {class: "stacks", role: "table", "aria-label": caption},
    h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, columns.map(([heading, kind]) =>
      h("th", {scope: "col", role: "columnheader", class: kind}, heading)))),
    h("tbody", {role: "rowgroup"}, rows.map((cells) => h("tr", {role: "row"}, cells.map(cell)))));
}
function table(caption, columns, rows) {
  return h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    h("table", {},
      h("caption", {class: "seen-by-readers-alone"}, caption),
      h("thead", {}, h("tr", {}, columns.map(([heading, kind]) => h("th", {scope: "col", class: kind}, heading)))),
      h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, at) =>
        h(at ? "td" : "th", {class: columns[at][1], scope: at ? null : "row"}, cell)))))));
}
return {h, svg, nameOf, outward, picture, stackedTable, table};
})();
const $explore_market_js = (() => {
const {h, stackedTable} = $explore_dom_js;
const {count, day, direction, euros, index, percent, setName, since} = $explore_words_js;

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
const groupAddress = ({set, game}) => (set ? `#/sets/${set.id}` : `#/games/${encodeURIComponent(game)}`);

const groupName = ({set, game}) => (set ? setName(set) : game);

function marketView({api, route, announce}) {
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
function fill({elements}, params) {
  for (const [name, usual] of Object.entries(DEFAULTS)) elements[name].value = params[name] ?? usual;
}
function chosen(form) {
  return Object.fromEntries([...new FormData(form)].filter(([name, value]) => value !== DEFAULTS[name]));
}
function marketTable(rows) {
  const change = (value, then) => h("span", {class: direction(value), title: then && since(then)}, percent(value));
  return stackedTable("Market", COLUMNS, rows.map((row) => [
    [h("a", {href: groupAddress(row)}, groupName(row)), row.set && h("span", {class: "where"}, row.game ?? "")],
    h("span", {title: day(row.day)}, euros(row.value)),
    `${count(row.priced)} of ${count(row.singles)}`,
    index(row.index), change(row.change_7d_pct, row.day_7d), change(row.change_30d_pct, row.day_30d)]));
}
return {groupName, marketView, marketTable};
})();
const $explore_plot_js = (() => {
const {h, svg, table} = $explore_dom_js;
const {day: dayInWords} = $explore_words_js;

const LEFT_PIXELS = 64;
const RIGHT_PIXELS = 12;
const GAP_PIXELS = 26; // between panels, and for the days under the last
const DAY_MILLISECONDS = 86_400_000;
function plot(title, panels, hidden = new Set()) {
  panels = panels.map((panel) => ({...panel, series: panel.series.filter(hasData)})).filter(({series}) => series.length);
  const every = panels.flatMap(({series, format}) => series.map((one) => ({...one, format})));
  const days = [...new Set(every.flatMap(({values}) => [...values.keys()]))].sort();
  if (days.length === 0) return h("p", {class: "message"}, "No history in this range.");
  const state = {panels, days, hidden, at: days.length - 1};
  const canvas = h("div", {class: "canvas"});
  const ruler = h("div", {}); // as wide as the canvas, and its height never changes
  const readout = h("p", {class: "readout", "aria-hidden": "true"});
  const slider = h("input", {type: "range", min: "0", max: String(days.length - 1), value: String(state.at), "aria-label": "Day"});
  const reading = () => every.filter(({name}) => !state.hidden.has(name))
    .map(({name, values, format}) => `${name} ${format(values.get(days[state.at]))}`).join(", ");

  const point = (at) => {
    state.at = at;
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", `${dayInWords(days[at])}: ${reading()}`);
    readout.replaceChildren(h("b", {}, dayInWords(days[at])), ` ${reading()}`);
    mark(canvas.firstChild, state);
  };
  const redraw = () => {
    if (!ruler.clientWidth) return;
    canvas.replaceChildren(draw(ruler.clientWidth, title, state));
    point(state.at);
  };
  slider.addEventListener("input", () => point(Number(slider.value)));
  canvas.addEventListener("pointermove", (event) => point(nearest(state, event.clientX - canvas.getBoundingClientRect().left)));
  new ResizeObserver(redraw).observe(ruler);

  const legend = h("ul", {class: "legend", "aria-label": "Lines shown"}, every.map(({name, style}) => h("li", {},
    h("label", {}, h("input", {type: "checkbox", checked: !hidden.has(name), onchange: ({target}) => {
      hidden[target.checked ? "delete" : "add"](name);
      redraw();
    }}), svg("svg", {class: "swatch", viewBox: "0 0 28 8", "aria-hidden": "true"}, svg("path", {class: `line ${style}`, d: "M1 4H27"})), name))));
  return h("figure", {class: "plot"}, h("figcaption", {}, title), legend, ruler, canvas, slider, readout, inNumbers(title, every, days));
}

const hasData = ({values}) => [...values.values()].some((value) => value !== null);
function inNumbers(title, every, days) {
  const details = h("details", {}, h("summary", {}, "As a table"));
  details.addEventListener("toggle", () => details.children.length === 1 && details.append(table(title,
    [["Day", ""], ...every.map(({name}) => [name, "number"])],
    [...days].reverse().map((one) => [dayInWords(one), ...every.map(({values, format}) => format(values.get(one)))]))), {once: true});
  return details;
}

function draw(width, title, state) {
  const first = Date.parse(state.days[0]);
  const span = Math.max(Date.parse(state.days.at(-1)) - first, DAY_MILLISECONDS);
  state.x = (one) => LEFT_PIXELS + ((Date.parse(one) - first) / span) * (width - LEFT_PIXELS - RIGHT_PIXELS);
  state.rows = [];
  let top = 10;
  const drawn = [];
  for (const panel of state.panels) {
    const lines = panel.series.filter(({name}) => !state.hidden.has(name));
    const ticks = ticksFor(lines.flatMap(({values}) => [...values.values()].filter((value) => value !== null)), panel);
    const [low, high] = [ticks[0], ticks.at(-1)];
    const bottom = top + panel.height;
    const y = (value) => bottom - ((value - low) / (high - low)) * panel.height;
    state.rows.push({y, lines});
    drawn.push(...ticks.map((tick) => [
      svg("line", {class: "rule", x1: LEFT_PIXELS, x2: width - RIGHT_PIXELS, y1: y(tick), y2: y(tick)}),
      svg("text", {class: "tick", x: LEFT_PIXELS - 8, y: y(tick) + 4, "text-anchor": "end"}, (panel.round ?? panel.format)(tick)),
    ]));
    drawn.push(...lines.map(({style, values}) => svg("path", {class: `line ${style}`, d: path(values, state, y)})));
    top = bottom + GAP_PIXELS;
  }
  const height = top;
  drawn.push(...dayTicks(state, width).map(([one, anchor]) =>
    svg("text", {class: "tick", x: state.x(one), y: height - 8, "text-anchor": anchor}, dayInWords(one))));
  const label = `${title}, ${dayInWords(state.days[0])} to ${dayInWords(state.days.at(-1))}. The slider below reads it day by day.`;
  return svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label}, drawn.flat(),
    svg("g", {class: "mark", "data-height": height - GAP_PIXELS}));
}
function path(values, {days, x}, y) {
  let drawing = false;
  let text = "";
  for (const one of days) {
    const value = values.get(one);
    if (value === undefined) continue; // no value on this day: the line continues
    if (value === null) { drawing = false; continue; }
    text += drawing ? `L${x(one).toFixed(1)} ${y(value).toFixed(1)}` : `M${x(one).toFixed(1)} ${y(value).toFixed(1)}h.01`;
    drawing = true;
  }
  return text;
}

function mark(drawing, {days, at, x, rows}) {
  const group = drawing.querySelector(".mark");
  const across = x(days[at]);
  const dots = rows.flatMap(({y, lines}) => lines.filter(({values}) => values.get(days[at]) != null)
    .map(({style, values}) => svg("circle", {class: style, cx: across, cy: y(values.get(days[at])), r: 3.5})));
  group.replaceChildren(svg("line", {x1: across, x2: across, y1: 4, y2: group.dataset.height}), ...dots);
}

function nearest({days, x}, across) {
  let [low, high] = [0, days.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (x(days[middle]) < across) low = middle; else high = middle;
  }
  return across - x(days[low]) < x(days[high]) - across ? low : high;
}
function ticksFor(values, {fromZero}) {
  let low = Math.min(...values), high = Math.max(...values);
  if (values.length === 0) [low, high] = [0, 1];
  if (fromZero || low < high / 3) low = 0;
  if (high === low) high = low + (Math.abs(low) / 10 || 1);
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough) * power;
  const ticks = [];
  for (let at = Math.floor(low / step); (ticks.at(-1) ?? -Infinity) < high; at++) ticks.push(at * step);
  return ticks;
}

function dayTicks({days}, width) {
  const some = Math.max(2, Math.min(6, Math.floor((width - LEFT_PIXELS) / 130)));
  if (days.length < 2) return [[days[0], "start"]];
  const first = Date.parse(days[0]);
  const span = Date.parse(days.at(-1)) - first;
  return Array.from({length: some}, (_, at) => {
    const one = new Date(first + (span * at) / (some - 1)).toISOString().slice(0, 10);
    return [one, at === 0 ? "start" : at === some - 1 ? "end" : "middle"];
  });
}
function sparkline(values, label) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return h("span", {class: "none"}, "no prices");
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const y = (value) => (high === low ? 14 : 25 - ((value - low) / (high - low)) * 22);
  const x = (at) => 3 + (at / Math.max(values.length - 1, 1)) * 114;
  const sparse = values.every((value, at) => value === null || (values[at + 1] ?? null) === null); // then a line spans the gaps
  let drawing = false;
  const text = values.map((value, at) => {
    if (value === null) { drawing &&= sparse; return ""; }
    const step = `${drawing ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}${drawing ? "" : "h.01"}`;
    drawing = true;
    return step;
  }).join("");
  const last = values.findLastIndex((value) => value !== null);
  return svg("svg", {class: "sparkline", viewBox: "0 0 120 28", role: "img", "aria-label": label},
    svg("path", {class: "line", d: text}), svg("circle", {cx: x(last), cy: y(values[last]), r: 2.5}));
}
return {plot, sparkline};
})();
const $explore_price_js = (() => {
const {count, euros} = $explore_words_js;
function marketPrice(guide) {
  if (guide?.trend > 0) return {price: guide.trend, field: "trend", foil: false};
  return guide?.holo.trend > 0 ? {price: guide.holo.trend, field: "trend_holo", foil: true} : null;
}
function inAll({products, priced, value, missed} = {}) {
  if (!priced) return "";
  const without = products - priced;
  const rest = (without ? `, ${count(without)} without a price` : "") + (missed ? `, and ${count(missed)} in foil alone` : "");
  return `, ${euros(value)} in all${rest}`;
}
return {marketPrice, inAll};
})();
const $explore_week_js = (() => {
let known = {};
function weekChanges(build) {
  if (known.build !== build) known = {build, changes: read(build).catch(() => new Map())};
  return known.changes;
}

async function read(build) {
  const answer = await fetch(`/explore/week.json?build=${build}`, {credentials: "omit", referrerPolicy: "no-referrer"});
  const found = await answer.json();
  if (found.build !== build) return new Map();
  let id = 0;
  return new Map(found.steps.map((step, at) => [id += step, {percents: found.changes[at], since: found.days[found.then[at]]}]));
}
return {weekChanges};
})();
const $explore_group_js = (() => {
const {before} = $explore_before_js;
const {h, nameOf, stackedTable} = $explore_dom_js;
const {groupName} = $explore_market_js;
const {plot} = $explore_plot_js;
const {inAll, marketPrice} = $explore_price_js;
const {NONE, count, day, direction, euros, index, percent, roundEuros, setName, since, titled} = $explore_words_js;
const {weekChanges} = $explore_week_js;

const RANGES = [["30", "30 days"], ["90", "90 days"], ["365", "A year"], ["3650", "All"]];
const WINDOWS = [7, 30];
const MOVES = 5; // of each list
const FIRST_CARDS = 50; // of a set, until all are asked for
const COLUMNS = [["Card", ""], ["Number", "number"], ["Rarity", ""], ["Price", "number"], ["Change", "number"]];
function setView(context) {
  const {announce, route, sets} = context;
  const view = groupView(context, {set: route.id});
  const cards = h("section", {}, h("h3", {}, "Cards"));
  sets.of(route.id).then(async (found) => {
    const changes = await weekChanges(await context.build);
    view.append(...moves(found.cards, changes), cards);
    const sum = await context.api.get("facets", {set: route.id, kind: "single"}).then(([facets]) => facets, () => undefined);
    cards.append(whole(route.id, found, sum), ...byNumber(found.cards, changes));
  }).catch((error) => error.status === 404 || announce(error, true)); // then the history says more
  return view;
}
const gameView = (context) => groupView(context, {game: context.route.id});

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
function path({set, game = null, here = false}) {
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
  return h("span", {class: direction(change), title: `${index(then.index)} on ${day(then.day)}`}, percent(change));
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
function whole(id, {cards, total}, sum) {
  const all = h("a", {href: `#/cards?${new URLSearchParams({set: id, sort: "number"})}`}, cards.some(({image}) => image) ? "All of the set, with pictures" : "All of the set");
  return h("p", {}, cards.length < total ? `${count(cards.length)} of ${count(total)} cards` : `${count(total)} cards`, inAll(sum), ". ", all);
}
function moves(cards, changes) {
  const percents = ({id_product: id}) => changes.get(id)?.percents;
  const some = cards.filter(percents).sort((a, b) => percents(b) - percents(a));
  const rose = some.filter((card) => percents(card) > 0).slice(0, MOVES);
  const fell = some.filter((card) => percents(card) < 0).slice(-MOVES).reverse();
  return [["Rose most within a week", rose], ["Fell most within a week", fell]].filter(([, found]) => found.length)
    .map(([name, found]) => h("section", {}, h("h3", {}, name), cardTable(name, found, changes)));
}
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
      euros(marketPrice(card.price_guide)?.price), change ? [h("span", {class: direction(change.percents)}, percent(change.percents)),
        h("span", {class: "where"}, since(change.since))] : NONE];
  }));
}
return {setView, gameView, path};
})();
const $explore_api_js = (() => {
class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, {status, code});
  }
}

const pause = (seconds, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, seconds * 1000);
  signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, {once: true});
});
function early(url, headers) {
  const found = globalThis.early;
  if (!found || headers["X-Build"] || headers.Authorization !== `Bearer ${found.key}`) return undefined;
  const answer = found.answers.get(url);
  found.answers.delete(url);
  return answer;
}
async function ask(url, {headers, signal}) {
  try {
    return await (early(url, headers) ?? fetch(url, {headers, signal, credentials: "omit", referrerPolicy: "no-referrer"}));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The service cannot be reached. Look at your connection, and try again.");
  }
}

class Api {
  #key;
  constructor(key, onWait) {
    this.#key = key;
    this.onWait = onWait;
  }
  async get(path, params = {}, {signal, build} = {}) {
    const present = Object.entries(params).filter(([, value]) => value !== "" && value != null);
    const query = new URLSearchParams(present);
    const url = `/api/v1/${path}${query.size ? `?${query}` : ""}`;
    const headers = {...this.#own(), ...(build && {"X-Build": build})};
    for (;;) {
      const answer = await ask(url, {headers, signal});
      if (answer.ok) return [await answer.json(), answer.headers.get("X-Build"), answer.headers.get("X-Total-Count")];
      if (answer.status !== 429) throw await this.#error(answer);
      await this.#wait(Number(answer.headers.get("Retry-After") ?? 5), signal);
    }
  }
  async file(name, signal) {
    const headers = this.#own();
    const answer = await ask(`/api/v1/bulk/${name}`, {headers, signal});
    if (!answer.ok) throw await this.#error(answer);
    return answer.blob();
  }
  attachment() {
    const folder = `${location.origin}/api/v1/bulk/`;
    return ["INSTALL ducklake; INSTALL httpfs; LOAD httpfs;", `CREATE SECRET (TYPE http, BEARER_TOKEN '${this.#key}');`,
      `ATTACH 'ducklake:${folder}catalog.ducklake' AS cards (READ_ONLY, DATA_PATH '${folder}');`].join("\n");
  }
  async all(path, params) {
    const items = [];
    let build;
    for (let offset = 0; offset !== null;) {
      const [page, from] = await this.get(path, {...params, offset}, {build});
      items.push(...page.data);
      [build, offset] = [from, page.pagination.next_offset];
    }
    return items;
  }
  #own() {
    return this.#key ? {Authorization: `Bearer ${this.#key}`} : {};
  }

  async #error(answer) {
    const {error} = await answer.json().catch(() => ({error: {code: "no_json", message: answer.statusText}}));
    return new ApiError(answer.status, error.code, error.message);
  }

  async #wait(seconds, signal) {
    this.onWait(seconds);
    try { await pause(seconds, signal); } finally { this.onWait(null); }
  }
}
return {ApiError, Api};
})();
const $explore_tree_js = (() => {
const {ApiError} = $explore_api_js;

const ROOT = "/api/v1/";
const MOVERS = ["window", "by", "direction", "kind", "min_price"];
const USUAL = {window: "7d", by: "percent", direction: "up", kind: "all", min_price: "1", sort: "trend", order: ""};
const ASCENDING = ["name", "number"]; // sorts whose default order this is
const DAY_MILLISECONDS = 86_400_000;

const needsShim = (what) => new ApiError(0, "needs_a_shim", `${what} needs the service itself: this is a copy of its data as plain files.`);
const fileOf = (slug) => [...new TextEncoder().encode(slug)].map((byte, at) => {
  const letter = String.fromCharCode(byte);
  return /[A-Za-z0-9_-]/.test(letter) || (letter === "." && at) ? letter : `~${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}).join("");

class Tree {
  #files = new Map();
  constructor(status) {
    this.status = status;
  }
  async get(path, params = {}) {
    const [kind, ...rest] = path.split("/").map(decodeURIComponent);
    const answers = {
      me: () => needsShim("A key"), status: () => this.status, names: () => this.#file("names.json"), bulk: () => this.#file("bulk.json"),
      cards: () => this.#cards(rest, params), sets: () => this.#page("sets", params), games: () => this.#page("games", params),
      watchlist: () => this.#watchlist(rest, params), movers: () => this.#movers(params), market: () => this.#market(rest, params),
    };
    const found = await (answers[kind] ?? (() => needsShim("This")))();
    if (found instanceof ApiError) throw found;
    return [found.body ?? found, this.status.build.id, found.total ?? null];
  }

  async file(name, signal) {
    const answer = await fetch(`${ROOT}bulk/${name}`, {signal});
    if (!answer.ok) throw new ApiError(answer.status, "not_found", "There is no such file.");
    return answer.blob();
  }

  async all(path, params) {
    return (await this.get(path, {...params, offset: 0, limit: Infinity}))[0].data;
  }
  #file(name) {
    if (!this.#files.has(name)) this.#files.set(name, this.#read(name));
    return this.#files.get(name);
  }

  async #read(name) {
    const answer = await fetch(ROOT + name, {credentials: "omit", referrerPolicy: "no-referrer"})
      .catch(() => { throw new ApiError(0, "unreachable", "The files cannot be reached. Look at your connection, and try again."); });
    if (!answer.ok) throw new ApiError(404, "not_found", "there is no such document in this copy");
    return answer.json();
  }
  async #page(folder, {offset = 0, limit = 100}, reversed = false) {
    const {rows, rows_per_page: size, with_key: keyed = 0} = (await this.#file("lists.json"))[folder] ?? {rows: 0, rows_per_page: 1};
    const end = Math.min(Number(offset) + Number(limit), rows);
    const places = Array.from({length: Math.max(0, end - offset)}, (_, at) => Number(offset) + at)
      .map((place) => (reversed && place < keyed ? keyed - 1 - place : place));
    const numbers = [...new Set(places.map((place) => Math.floor(place / size)))];
    const pages = new Map(await Promise.all(numbers.map(async (n) => [n, await this.#file(`${folder}/${n}.json`)])));
    const data = places.map((place) => pages.get(Math.floor(place / size)).data[place % size]);
    return listed(data, {offset: Number(offset), total: rows});
  }

  async #cards([id, part], {ids, days, limit, offset, sort = USUAL.sort, order = USUAL.order, kind = USUAL.kind, ...filters}) {
    if (part) return needsShim("This");
    if (id) return cut(await this.#file(`cards/${id}.json`), days, this.status.build.as_of);
    if (ids) {
      const asked = String(ids).split(",");
      const found = await Promise.all(asked.map((one) => this.#file(`cards/${one}.json`).catch(() => null)));
      return {body: {data: found.filter(Boolean), not_found: asked.filter((_, at) => !found[at]).map(Number)}};
    }
    if (Object.values(filters).some((value) => value !== "" && value != null)) return needsShim("Searching");
    const ranking = sort === "match" ? USUAL.sort : sort;
    const usual = ASCENDING.includes(ranking) ? "asc" : "desc";
    return this.#page(`cards/${kind}/${ranking}`, {offset, limit}, order !== "" && order !== usual);
  }

  async #watchlist([slug, part], {view = "daily", range = "all", ...page}) {
    if (!slug) return this.#page("watchlist/pages", page);
    const file = `watchlist/${fileOf(slug)}`;
    return this.#file(part === "history" ? `${file}/history/${view}-${range}.json` : part ? `${file}/${part}.json` : `${file}.json`);
  }

  async #movers({game, confirmed, offset, limit = 50, ...params}) {
    if (game) return needsShim("The moves of one game");
    const folder = confirmed === "true" ? "movers/confirmed" : "movers";
    return this.#page(`${folder}/${MOVERS.map((name) => params[name] || USUAL[name]).join("/")}`, {offset, limit});
  }

  async #market([history], {by = "set", sort = "value", order = "", game, set, days, ...page}) {
    if (!history && game) return needsShim("The sets of one game");
    if (!history) return this.#page(`market/${by}/${sort}`, page, order !== "" && order !== (sort === "name" ? "asc" : "desc"));
    const places = set ? null : (await this.all("games")).findIndex(({name}) => name === game);
    const found = await this.#file(set ? `market/sets/${set}.json` : `market/games/${places}.json`);
    const since = firstDay(days, this.status.build.as_of);
    return {body: {...found, points: found.points.filter((point) => point.day >= since)}};
  }
}

function listed(data, {offset, total}) {
  const end = offset + data.length;
  return {body: {data, pagination: {offset, returned: data.length, has_more: end < total, next_offset: end < total ? end : null}}, total};
}

const firstDay = (days, asOf) => (days ? new Date(Date.parse(asOf) - (days - 1) * DAY_MILLISECONDS).toISOString().slice(0, 10) : "");
function cut(card, days, asOf) {
  const since = firstDay(days, asOf);
  const recent = Object.entries(card.history).map(([name, rows]) => [name, rows.filter(({day}) => day >= since)]);
  return {body: {...card, history: Object.fromEntries(recent)}};
}
return {Tree};
})();
const $explore_visitor_js = (() => {
const {isFirst} = $docs_key_js;
const {Api} = $explore_api_js;
const {h} = $explore_dom_js;
const {Tree} = $explore_tree_js;
const {count} = $explore_words_js;
const GUEST = {name: "", scopes: ["cards:read", "watchlist:read"]};
async function visitorOf(key, onWait) {
  if (key) {
    const api = new Api(key, onWait);
    return {api, me: api.get("me").then(([record]) => record), note: null};
  }
  const health = await json("/healthz");
  if (health?.guests) return {api: new Api("", onWait), me: Promise.resolve(GUEST), note: guestNote(Number(health.guests))};
  const status = health ? null : await json("/api/v1/status.json");
  if (status) return {api: new Tree(status), me: Promise.resolve(GUEST), note: treeNote()};
  throw Object.assign(new Error(""), {status: 401});
}

async function json(path) {
  try {
    const answer = await fetch(path, {credentials: "omit", referrerPolicy: "no-referrer"});
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}
function guestNote(limit) {
  if (!isFirst("guest")) return null;
  return [`You look around as a guest, with ${count(limit)} requests a minute. A key of your own adds downloads, the scanner and a limit of its own. `,
    h("a", {href: "/#key-title"}, "How to get a key")];
}

const treeNote = () => ["This is a copy of the data as plain files. Lists, cards, sets and moves are here; searching, filters, My cards and the " +
  "scanner need the service itself."];
return {GUEST, visitorOf};
})();
const $explore_lost_js = (() => {
const {h} = $explore_dom_js;
const {GUEST} = $explore_visitor_js;
const {sentence} = $explore_words_js;

const LONGEST_QUERY = 100; // characters, of the API
const READABLE = {
  "cards:read": ["#/cards", "Cards"], "watchlist:read": ["#/watchlist", "Watchlist"], "bulk:read": ["#/downloads", "Downloads"],
  "fingerprints:read": ["/explore/scan", "Scan a card"],
};
const link = ([href, text]) => h("a", {href}, text);
function lost(heading) {
  const words = h("input", {type: "search", maxlength: LONGEST_QUERY, "aria-label": "Find a card", placeholder: "Name, set, number"});
  const search = (event) => {
    event.preventDefault();
    location.hash = `#/cards?${new URLSearchParams({q: words.value.trim()})}`;
  };
  return h("section", {class: "lost"}, h("h2", {tabindex: "-1"}, heading),
    h("form", {role: "search", onsubmit: search}, words, h("button", {class: "first"}, "Search")),
    h("p", {}, link(["#/cards", "All cards"])));
}
function denied(error, scopes) {
  const guest = scopes === GUEST.scopes;
  const others = scopes.filter((scope) => READABLE[scope]).flatMap((scope, at) => [at > 0 && ", ", link(READABLE[scope])]);
  return h("section", {class: "lost"}, h("h2", {tabindex: "-1"}, guest ? "This needs a key" : "Your key may not read this"),
    h("p", {}, `${sentence(error.message)}.`),
    h("p", {}, others.length > 0 && [guest ? "Open to all: " : "It may read: ", ...others, ". "], link(["/#key-title", `How to get ${guest ? "a" : "another"} key`])));
}
return {lost, denied};
})();
const $explore_fold_js = (() => {

const APOSTROPHES = /['\u2019\u2018\u201b\u02bc\u00b4`\u2032]/g;
const WORD = /[\p{L}\p{N}]+/gu;
const BRACKET = / [[(]/;
const SHORTER = " - ";
const FACES = / \/\/? /;
function fold(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}
const foldWithoutApostrophes = (text) => fold(text.replace(APOSTROPHES, ""));
const words = (text) => foldWithoutApostrophes(text).match(WORD) ?? [];

const wordText = (text) => words(text).join(" ");
function baseName(name) {
  const [before] = name.split(BRACKET, 1);
  return words(before).length ? before : name;
}
function shortName(name) {
  const base = baseName(name);
  return base.includes(SHORTER) ? base.slice(0, base.indexOf(SHORTER)) : "";
}
function faceName(name) {
  const [before, ...others] = name.split(FACES);
  return others.length ? before : "";
}
const nameKey = (name) => wordText(name) || fold(name);
return {fold, foldWithoutApostrophes, words, wordText, baseName, shortName, faceName, nameKey};
})();
const $explore_printings_js = (() => {
const {nameKey} = $explore_fold_js;

const LONGEST_QUERY = 100; // characters, of the API
const MOST = 50;
async function printingsOf(product, api, signal) {
  if (product.kind !== "single" || product.name.length > LONGEST_QUERY) return [];
  const [page] = await api.get("cards", {q: product.name, kind: "single", sort: "match", limit: MOST}, {signal});
  const name = nameKey(product.name);
  return page.data.filter((card) => nameKey(card.name) === name && card.id_product !== product.id_product);
}
return {printingsOf};
})();
const $explore_card_js = (() => {
const {before} = $explore_before_js;
const {h, nameOf, outward, picture, stackedTable, table} = $explore_dom_js;
const {path} = $explore_group_js;
const {lost} = $explore_lost_js;
const {plot} = $explore_plot_js;
const {marketPrice} = $explore_price_js;
const {printingsOf} = $explore_printings_js;
const {SELLER_FILTER, SELLER_FILTER_MEANING, condition, count, day, direction, euros, percent, roundEuros, setName, since, time, titled} = $explore_words_js;

const RANGES = [["30", "30 days"], ["90", "90 days"], ["365", "A year"], ["", "All"]];

function cardView({api, route, announce, cards, sets}) {
  const view = h("article", {class: "product"});
  const asking = new AbortController();
  const history = h("div", {});
  const ask = (days) => api.get(`cards/${route.id}`, {days}, {signal: asking.signal});

  const ranges = h("fieldset", {class: "ranges"}, h("legend", {}, "History of"), RANGES.map(([days, name], at) =>
    h("label", {}, h("input", {type: "radio", name: "days", value: days, checked: at === 1, onchange: async () => {
      try { draw((await ask(days))[0]); } catch (error) { announce(error, true); }
    }}), name)));
  const hidden = new Set();
  const draw = (product) => history.replaceChildren(historyOf(product, hidden));

  ask(RANGES[1][0]).then(([product]) => {
    titled(product.name, setName(product.set));
    const around = h("nav", {class: "around", "aria-label": "Cards of the set"});
    const way = h("div", {class: "way"}, path({set: product.set, here: true}), around);
    view.append(way, head(product), h("section", {"aria-label": "History"}, ranges, history), ...offers(product));
    draw(product);
    lead(product, {api, sets, signal: asking.signal}, {view, way, around});
    announce("");
    view.querySelector("h2").focus();
    cards.itemOf(product).then((item) => item && view.querySelector(".facts").append(
      fact("Watchlist", h("a", {href: `#/watchlist/${encodeURIComponent(item.slug)}`}, "Tracked, with offers"))), () => {});
    api.get("series", {ids: product.id_product}, {signal: asking.signal}).then(([{data}]) =>
      view.querySelector(".headline").append(...range(product, data[0])), () => {});
    api.get(`cards/${route.id}/identifiers`, {}, {signal: asking.signal})
      .then(([{identifiers}]) => view.append(...otherIds(identifiers, announce)), () => {}); // a copy as plain files has none
  }).catch((error) => {
    if (asking.signal.aborted) return;
    if (error.status !== 404 && error.code !== "invalid_parameter") return announce(error, true);
    view.replaceChildren(lost("There is no card with this id"));
    announce("");
    view.querySelector("h2").focus();
  });
  view.leave = () => asking.abort();
  return view;
}

function head(product) {
  const facts = [
    ["Set", product.set.id === null ? null : h("a", {href: `#/sets/${product.set.id}`}, setName(product.set))],
    ["Number", product.number], ["Rarity", product.rarity], ["Kind", product.kind], ["Category", product.category],
    ["Product id", String(product.id_product)],
    ["Marketplace", outward(product.cardmarket_url, "Product page")],
  ];
  const image = product.image_large ?? product.image;
  return h("header", {class: image ? "head" : "head bare"},
    image && picture(image, product, {alt: `Picture of ${product.name}`}),
    h("div", {class: "title"}, h("h2", {tabindex: "-1"}, nameOf(product.name)), headline(product)),
    h("div", {class: "rest"},
      prices(product),
      h("dl", {class: "facts"}, facts.filter(([, value]) => value).map(([name, value]) => fact(name, value)))));
}
function lead(product, {api, sets, signal}, {view, way, around}) {
  const link = (card, text) => card && h("a", {href: `#/cards/${card.id_product}`, title: card.name}, text);
  if (product.set.id !== null) {
    api.get("facets", {set: product.set.id}, {signal}).then(([{games}]) =>
      way.firstChild.replaceWith(path({set: product.set, game: games[0]?.value ?? null, here: true})), () => {});
    sets.neighbours(product).then(([previous, next]) =>
      around.append(...[link(previous, "← Previous"), link(next, "Next →")].filter(Boolean)), () => {});
  }
  printingsOf(product, api, signal).then((found) => found.length && view.append(h("section", {}, h("h3", {}, "Other printings"),
    stackedTable("Other printings", [["Card", ""], ["Number", "number"], ["Set", ""], ["Price", "number"]], found.map((card) => [
      link(card, card.name), card.number ?? "–", setName(card.set) ?? "–", euros(marketPrice(card.price_guide)?.price)])))), () => {});
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
function headline({price_guide: guide, filtered_price: filtered, history}) {
  const market = marketPrice(guide);
  const price = market?.price ?? filtered?.lowest ?? null;
  if (price === null) return h("p", {class: "headline"}, "No price yet");
  const what = market ? `Trend price${market.foil ? " of foils" : ""} across Europe, ${day(guide.day)}` : SELLER_FILTER;
  const moves = market ? [7, 30].map((days) => before(history.price_guide, market.field, guide.day, days)).filter(Boolean) : [];
  return h("div", {class: "headline"}, h("p", {class: "price"}, euros(price)), h("p", {class: "when"}, what),
    h("dl", {class: "moves"}, moves.map((then) => fact(since(then.day), moved(price, then[market.field], then.day)))));
}

function moved(now, price, then) {
  const change = ((now - price) / price) * 100;
  return h("span", {class: direction(change), title: `${euros(price)} on ${day(then)}`}, percent(change));
}
function range(product, {low, high}) {
  const market = marketPrice(product.price_guide);
  if (!low || !market) return [];
  const [least, most] = [low, high].map((one) => `${euros(one.price)} on ${day(one.day)}`);
  if (low.price === high.price) return [h("p", {class: "when"}, `It has had one price on all days: ${least}.`)];
  const place = Math.round(((market.price - low.price) / (high.price - low.price)) * 100);
  return [h("p", {class: "when"}, `Lowest ${least}, highest ${most}: now at ${place} % of the way from the lowest to the highest.`)];
}

function prices({price_guide: guide, filtered_price: filtered, listing}) {
  return h("section", {class: "tiles", "aria-label": "Prices"},
    tile("Price guide", guide && `The marketplace’s own prices across Europe, ${day(guide.day)}`, guide && [
      ["Trend", euros(guide.trend)], ["Average", euros(guide.avg)], ["Lowest", euros(guide.low)],
      ["Average, 1 day", euros(guide.avg1)], ["7 days", euros(guide.avg7)], ["30 days", euros(guide.avg30)],
      ...(guide.holo.trend === null ? [] : [["Holo trend", euros(guide.holo.trend)]])]),
    tile(SELLER_FILTER, filtered && `${SELLER_FILTER_MEANING} Checked ${time(filtered.checked_at)}`, filtered && [
      ["Lowest", euros(filtered.lowest)], ["Offers", count(filtered.offers)],
      ["Cheapest", filtered.cheapest_seller ?? "–"], ["Condition", condition(filtered.cheapest_condition)]]),
    tile("All sellers", listing && `Every country and language, as the page of the set lists them, ${time(listing.scraped_at)}`, listing && [
      ["From", euros(listing.from_price)], ["Available", count(listing.available)],
      ["Foil from", euros(listing.from_price_foil)], ["Foil available", count(listing.available_foil)]]));
}

const tile = (name, when, facts) => facts && h("div", {class: "tile"}, h("h3", {}, name), h("p", {class: "when"}, when),
  h("dl", {}, facts.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value)))));

function historyOf({history}, hidden) {
  const of = (rows, field) => new Map(rows.map((row) => [row.day, row[field]]));
  return plot("Prices and quantity", [
    {height: 250, format: euros, round: roundEuros, series: [
      {name: "Trend", style: "one", values: of(history.price_guide, "trend")},
      {name: "Average", style: "two", values: of(history.price_guide, "avg")},
      {name: SELLER_FILTER, style: "three", values: of(history.filtered, "lowest")}]},
    {height: 80, format: count, fromZero: true, series: [
      {name: "Available", style: "four", values: of(history.listing, "available")}]},
  ], hidden);
}

function offers({filtered_price: filtered}) {
  if (!filtered?.cheapest_offers.length) return [];
  const row = (offer, code) => [offer.seller, condition(code), count(offer.quantity), euros(offer.price)];
  const columns = [["Seller", ""], ["Condition", ""], ["Quantity", "number"], ["Price", "number"]];
  const grouped = Object.entries(filtered.cheapest_offers_by_condition);
  return [h("section", {}, h("h3", {}, `Cheapest offers: ${SELLER_FILTER}`),
    table("Cheapest offers", columns, filtered.cheapest_offers.map((offer) => row(offer, offer.condition))),
    h("details", {}, h("summary", {}, "By condition"),
      table("Cheapest offers by condition", columns, grouped.flatMap(([code, some]) => some.map((offer) => row(offer, code))))))];
}
function otherIds(identifiers, announce) {
  const schemes = Object.entries(identifiers);
  if (!schemes.length) return [];
  const copy = (value) => async () => {
    try { await navigator.clipboard.writeText(value); announce(`Copied ${value}.`); } catch (error) { announce(error, true); }
  };
  const id = (value) => h("span", {class: "id"}, h("code", {}, value), " ",
    navigator.clipboard && h("button", {type: "button", "aria-label": `Copy ${value}`, onclick: copy(value)}, "Copy"), " ");
  return [h("section", {"aria-label": "Ids in other catalogues"}, h("h3", {}, "Ids in other catalogues"),
    h("dl", {class: "facts"}, schemes.map(([scheme, values]) => fact(scheme, values.map(id)))))];
}
return {cardView};
})();
const $explore_combobox_js = (() => {
const {h} = $explore_dom_js;
const {count} = $explore_words_js;
function combobox(label, input, suggest, one = false) {
  const id = `${input.name}-options`;
  const list = h("ul", {id, class: "options", role: "listbox", "aria-label": "Suggestions", hidden: true});
  const attributes = {role: "combobox", "aria-autocomplete": "list", "aria-controls": id, "aria-expanded": "false"};
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  const popup = new Popup(input, list, suggest, one);
  input.addEventListener("input", () => popup.open());
  input.addEventListener("click", () => popup.open());
  input.addEventListener("offered", () => popup.renew());
  input.addEventListener("blur", () => popup.close());
  input.addEventListener("keydown", (event) => {
    if (!event.isComposing && popup.key(event)) event.preventDefault();
  });
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the field
  list.addEventListener("click", ({target}) => popup.take(target.closest("[role=option]")));
  return h("div", {class: "combobox"}, h("label", {}, h("span", {}, label), input), list);
}

class Popup {
  #turn = 0; // of asking: an answer that comes after another turn began is too late
  #active = -1;
  #isWanted = false; // also while there is nothing to show

  constructor(input, list, suggest, one) {
    Object.assign(this, {input, list, suggest, one});
  }

  async open(active = -1) {
    const turn = ++this.#turn;
    this.#isWanted = true;
    const options = await this.suggest(this.input.value);
    if (turn !== this.#turn) return;
    this.list.replaceChildren(...options.map(({value, label, products}, at) =>
      h("li", {id: `${this.list.id}-${at}`, role: "option", "data-value": value},
        h("span", {}, label), products != null && h("span", {class: "products"}, count(products)))));
    this.#expand(options.length > 0);
    this.#move(active);
  }
  renew() {
    if (this.#isWanted) this.open(this.#active);
  }

  close() {
    this.#turn++;
    this.#isWanted = false;
    this.#expand(false);
    this.#move(-1);
  }

  take(option) {
    if (!option) return;
    this.input.value = option.dataset.value;
    this.close();
    this.input.dispatchEvent(new Event("change", {bubbles: true}));
  }
  key({key, altKey}) {
    const {hidden, children} = this.list;
    const last = children.length - 1;
    if (key === "ArrowDown" && hidden) this.open(altKey ? -1 : 0);
    else if (key === "ArrowUp" && hidden) this.open(altKey ? -1 : Infinity);
    else if (key === "ArrowUp" && altKey) this.close();
    else if (key === "ArrowDown") this.#move(this.#active < last ? this.#active + 1 : 0);
    else if (key === "ArrowUp") this.#move(this.#active > 0 ? this.#active - 1 : last);
    else if (key === "Enter" && this.#active >= 0) this.take(children[this.#active]);
    else if (key === "Enter" && this.one && this.#isPartOfOne()) this.take(children[0]);
    else if (key === "Escape") this.#escape();
    else return this.#leave(key);
    return true;
  }

  #isPartOfOne() {
    const {input, list} = this;
    return input.value !== "" && !list.hidden && [...list.children].every(({dataset}) => dataset.value !== input.value);
  }
  #escape() {
    if (!this.list.hidden) return this.close();
    this.input.value = "";
    this.input.dispatchEvent(new Event("input", {bubbles: true}));
    this.input.dispatchEvent(new Event("change", {bubbles: true}));
  }
  #leave(key) {
    if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(key)) this.#move(-1);
    if (key === "Enter") this.close();
    return false;
  }

  #expand(open) {
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
  }

  #move(place) {
    const {children} = this.list;
    this.#active = Math.min(place, children.length - 1);
    const active = children[this.#active];
    for (const option of children) option.setAttribute("aria-selected", String(option === active));
    if (!active) return this.input.removeAttribute("aria-activedescendant");
    this.input.setAttribute("aria-activedescendant", active.id);
    active.scrollIntoView({block: "nearest"});
  }
}
return {combobox};
})();
const $explore_filters_js = (() => {
const {combobox} = $explore_combobox_js;
const {h} = $explore_dom_js;
const {foldWithoutApostrophes} = $explore_fold_js;
const {count} = $explore_words_js;
const MATCH = "match"; // the default here while there are words to search
const SORTS = [[MATCH, "Best match"], ...[["trend", "Trend price"], ["low", "Lowest price"], ["avg", "Average price"], ["filtered", "Cheapest offer"], ["market", "Market price"], ["name", "Name"], ["number", "Collector number"], ["newest", "Newest"]]];
const TEXT_FILTERS = [["number", "Number"], ["rarity", "Rarity"], ["game", "Game"]];
const KINDS = [["all", "All"], ["single", "Singles"], ["sealed", "Sealed"]];
const ORDERS = [["", "Default"], ["asc", "Ascending"], ["desc", "Descending"]];
const GAMES = [["", "Any"]];
const DEFAULTS = {kind: "all", sort: "market"}; // what the page begins with
const OTHER_PRICES = ["low", "avg", "filtered", "market"]; // sorts by a price that is not the one of /facets
const MARKET = "market"; // the price that is the one of /facets for all cards but those with a foil price alone
const TEXT = {placeholder: "Any", maxlength: "200"};
const AMOUNT = {type: "number", min: "0", step: "0.01"};
const MOST_OPTIONS = 100;

const field = (label, input) => h("label", {}, h("span", {}, label), input);

function text(name, params, more = TEXT) {
  return h("input", {name, type: "text", autocomplete: "off", spellcheck: "false", value: params[name] ?? "", ...more});
}
function choice(name, known, params) {
  const [usual] = known[0];
  const value = params[name] ?? usual;
  const all = known.some(([one]) => one === value) ? known : [...known, [value, value]];
  const select = h("select", {name}, all.map(([one, label]) => h("option", {value: one}, label)));
  select.value = value;
  return select;
}
function suggested(label, name, params, offered) {
  return combobox(label, text(name, params), (typed) => {
    const [all, part] = [offered[name] ?? [], foldWithoutApostrophes(typed.trim())];
    const taken = all.some(({value}) => value === typed); // then the others are what one can change it to
    return all.filter(({label}) => taken || foldWithoutApostrophes(label).includes(part)).slice(0, MOST_OPTIONS);
  }, true);
}

const CONTROLS = {
  set: suggested,
  rarity: suggested,
  game: (label, name, params) => field(label, choice(name, GAMES, params)),
};
const plain = (label, name, params) => field(label, text(name, params));
const isWhole = (name) => CONTROLS[name] === suggested;
function fields(params, offered) {
  const named = (label, name) => (CONTROLS[name] ?? plain)(label, name, params, offered);
  return [
    named("Set", "set"),
    field("Kind", choice("kind", KINDS, params)),
    ...TEXT_FILTERS.map(([name, label]) => named(label, name)),
    field("From €", text("min_price", params, AMOUNT)),
    field("To €", text("max_price", params, AMOUNT)),
    field("Sort by", choice("sort", SORTS, {sort: params.sort ?? (params.q ? MATCH : DEFAULTS.sort)})),
    field("Order", choice("order", ORDERS, params)),
  ];
}
function recount(elements, offered) {
  refill(elements.kind, KINDS, offered.kind ?? KINDS.slice(1).map(([value]) => ({value})));
  refill(elements.game, GAMES, offered.game);
  for (const element of elements) element.dispatchEvent(new Event("offered"));
}

function refill(select, known, options) {
  const {value} = select;
  const [usual] = known[0];
  const labels = new Map(known);
  const kept = value === usual || options.some((option) => option.value === value) ? [] : [{value}];
  const text = (one, products) => (labels.get(one) ?? one) + (products == null ? "" : ` (${count(products)})`);
  const all = [{value: usual}, ...options, ...kept];
  select.replaceChildren(...all.map(({value: one, products}) => h("option", {value: one}, text(one, products))));
  select.value = value;
}
const usualSort = ({q, sort}) => (q.value.trim() && bestMatch(sort) ? MATCH : DEFAULTS.sort);
const bestMatch = (sort) => [...sort.options].find(({value}) => value === MATCH);
function followSearch(elements) {
  const {sort, order} = elements;
  const match = bestMatch(sort);
  const usual = usualSort(elements);
  if (sort.value === MATCH || (sort.value === DEFAULTS.sort && match?.disabled)) sort.value = usual;
  if (match) match.disabled = match.hidden = usual !== MATCH;
  order.disabled = sort.value === MATCH;
}
function values(form) {
  const usual = {...DEFAULTS, sort: usualSort(form.elements)};
  const entered = [...new FormData(form)].map(([name, value]) => [name, value.trim()]);
  return Object.fromEntries(entered.filter(([name, value]) => value && value !== usual[name]));
}
function countable(form) {
  const {sort: _, order, ...filters} = values(form);
  const sort = form.elements.sort.value;
  if (!(filters.min_price || filters.max_price) || !OTHER_PRICES.includes(sort)) return filters;
  return sort === MARKET ? {...filters, sort} : null;
}

function clear(elements) {
  for (const input of elements) input.value = DEFAULTS[input.name] ?? "";
  followSearch(elements);
}return {text, isWhole, fields, recount, followSearch, values, countable, clear};
})();
const $explore_filter_form_js = (() => {
const {combobox} = $explore_combobox_js;
const {h} = $explore_dom_js;
const {clear, countable, fields, followSearch, isWhole, recount, text, values} = $explore_filters_js;

const TYPING_MILLISECONDS = 250;
const FOLDED = "(max-width: 40rem)"; // where the filters are closed at first
const SEARCH = {type: "search", maxlength: "100", placeholder: "Name, set, number"};
function filterForm(params, names) {
  const offered = {};
  const search = combobox("Find a card", text("q", params, SEARCH), (typed) => names.matching(typed));
  const folded = fields(params, offered);
  const empty = h("button", {type: "button", class: "quiet"}, "Clear");
  const open = !matchMedia(FOLDED).matches || folded.some((one) => params[one.querySelector("[name]").name]);
  const form = h("form", {class: "filters", role: "search", "aria-label": "Cards"}, h("div", {class: "wide"}, search),
    h("details", {open}, h("summary", {}, "Filters and order"), h("div", {class: "fields"}, folded, empty)));
  const {elements} = form;
  const filters = {
    form,
    changed: () => {},
    values: () => values(form),
    query: () => ({...found(values(form)), sort: elements.sort.value}),
    countable: () => countable(form) && found(countable(form)),
    offer: (found) => recount(elements, Object.assign(offered, {kind: null, rarity: [], ...found})),
  };
  empty.addEventListener("click", () => { clear(elements); filters.changed(0); });
  listen(form, filters, offered);
  followSearch(elements);
  return filters;
}
const found = ({q, ...others}) => (q ? {find: q, ...others} : others);
function listen(form, filters, offered) {
  const known = (name, value) => value === "" || offered[name]?.some((option) => option.value === value);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({target: {name, type, value}}) => {
    followSearch(form.elements);
    const part = isWhole(name) && !known(name, value);
    filters.changed(part ? Infinity : type === "select-one" ? 0 : TYPING_MILLISECONDS);
  });
  form.addEventListener("change", () => {
    followSearch(form.elements);
    filters.changed(0);
  });
}
return {filterForm};
})();
const $explore_near_names_js = (() => {

const MOST_MISTAKES = 3;
const LETTERS_PER_MISTAKE = 3;
const BEGINNING = 0.5; // mistakes, where a text is nearly the first words of a name
function nearest(names, text, most) {
  let allowed = Math.min(MOST_MISTAKES, Math.floor(text.length / LETTERS_PER_MISTAKE));
  const found = [];
  for (const entry of names) {
    const wrong = mistakes(entry.words, text, allowed);
    if (wrong > allowed) continue;
    found.push({entry, wrong});
    found.sort((a, b) => a.wrong - b.wrong || b.entry.products - a.entry.products);
    if (found.length > most) found.pop();
    if (found.length === most) allowed = found.at(-1).wrong;
  }
  return found.map(({entry}) => entry);
}
function mistakes(name, text, most) {
  if (text.length - name.length > most) return Infinity;
  let [before, last] = [[], Array.from({length: text.length + 1}, (_, at) => at)];
  let fewest = Infinity;
  for (let row = 1; row <= name.length && row <= text.length + most; row++) {
    const next = Array(text.length + 1).fill(Infinity);
    if (fill(next, name, text, row, last, before, most) > most) break;
    if (row === name.length) fewest = Math.min(fewest, next[text.length]);
    else if (name[row] === " ") fewest = Math.min(fewest, next[text.length] + BEGINNING);
    [before, last] = [last, next];
  }
  return fewest;
}
function fill(next, name, text, row, last, before, most) {
  let least = next[0] = row;
  const [letter, reach] = [name[row - 1], Math.floor(most)];
  for (let at = Math.max(1, row - reach); at <= text.length && at <= row + reach; at++) {
    let cost = last[at - 1] + (letter === text[at - 1] ? 0 : 1);
    if (last[at] + 1 < cost) cost = last[at] + 1;
    if (next[at - 1] + 1 < cost) cost = next[at - 1] + 1;
    if (row > 1 && at > 1 && letter === text[at - 2] && name[row - 2] === text[at - 1]) cost = Math.min(cost, before[at - 2] + 1);
    next[at] = cost;
    if (cost < least) least = cost;
  }
  return least;
}
return {nearest};
})();
const $explore_nothing_found_js = (() => {
const {h} = $explore_dom_js;
const {wordText} = $explore_fold_js;
const {nearest} = $explore_near_names_js;
const {count} = $explore_words_js;

const MOST_SETS = 3;
const SIGNS_AROUND = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
async function meant(values, names, api, signal) {
  const {q = "", ...others} = values;
  const {set, number, rarity, ...wider} = others; // a card of another name is hardly in the same place
  const near = (await names.nearest(q)).map((name) => [name, {...wider, q: name}]);
  const links = [...await lastWordsApart(q, others, api, signal), ...near, ...await nearValues(values, api)];
  if (links.length === 0) return "";
  const parts = links.flatMap(([text, params]) => [h("a", {href: `#/cards?${new URLSearchParams(params)}`}, text), ", "]);
  return h("p", {class: "meant"}, "Did you mean ", parts.slice(0, -1), "?");
}

async function lastWordsApart(text, others, api, signal) {
  const words = text.trim().split(/\s+/);
  if (words.length < 2) return [];
  const found = async (find, name, more) => {
    const [, , rows] = await api.get("cards", {...others, find, ...more, limit: 1}, {signal});
    return Number(rows) > 0 ? [[`${find}, ${name} (${count(Number(rows))})`, {...others, q: find, ...more}]] : [];
  };
  const last = words.at(-1).replace(SIGNS_AROUND, "");
  const numbered = /\d/.test(last) ? await found(words.slice(0, -1).join(" "), `number ${last}`, {number: last}) : [];
  if (numbered.length) return numbered;
  const sets = await known("set", api);
  const cuts = words.slice(1).map((_, at) => [words.slice(0, at + 1).join(" "), wordText(words.slice(at + 1).join(" "))]);
  const near = cuts.flatMap(([first, rest]) => nearest(sets, rest, 1).map((one) => [first, one])).slice(0, MOST_SETS);
  return (await Promise.all(near.map(([first, {id, name}]) => found(first, `set ${name}`, {set: id})))).flat();
}
async function nearValues(values, api) {
  const links = await Promise.all(["set", "game"].filter((filter) => values[filter]).map(async (filter) => {
    const [all, text] = [await known(filter, api), wordText(values[filter])];
    if (text === "" || all.some(({words, id}) => words === text || String(id) === text)) return [];
    const holding = all.filter(({words}) => words.includes(text)).sort((a, b) => b.products - a.products);
    return [...nearest(all, text, 1), ...holding].slice(0, 1).map(({name}) => [`${filter} ${name}`, {...values, [filter]: name}]);
  }));
  return links.flat();
}
async function known(filter, api) {
  const rows = await api.all(`${filter}s`, {limit: 500});
  return rows.filter(({name}) => name).map((row) => ({...row, words: wordText(row.name)}));
}
return {meant};
})();
const $explore_cards_js = (() => {
const {h, nameOf, picture} = $explore_dom_js;
const {filterForm} = $explore_filter_form_js;
const {meant} = $explore_nothing_found_js;
const {inAll, marketPrice} = $explore_price_js;
const {count, day, direction, euros, percent, setName, since} = $explore_words_js;
const {weekChanges} = $explore_week_js;

const CARDS_PER_PAGE = 50;
const SKELETONS = 12;
function cardsView({api, route, announce, names, facets}) {
  const filters = filterForm(route.params, names);
  const list = h("ul", {class: "grid", "aria-label": "Cards"}, skeleton());
  const more = h("button", {type: "button", class: "more", hidden: true}, "More cards");
  const total = h("p", {class: "total"});
  const others = h("div", {});
  const week = weekMoves();
  const view = h("div", {}, filters.form, week, h("div", {class: "above"}, total, meaning()), others, list, more);
  let asking = new AbortController();
  let next = 0;
  let build;
  let shown = 0;
  let asked = JSON.stringify(filters.query());

  const showWeek = () => { if (week) week.hidden = Object.keys(filters.values()).length > 0; };
  showWeek();

  async function load() {
    if (next === null) return;
    const {signal} = asking;
    const offset = next;
    const [values, countable] = [filters.values(), filters.countable()]; // the form may change before the answer comes
    next = null;
    list.setAttribute("aria-busy", "true");
    try {
      const [page, from, rows] = await api.get("cards", {...filters.query(), limit: CARDS_PER_PAGE, offset}, {signal, build});
      [next, build] = [page.pagination.next_offset, from];
      if (offset === 0) {
        list.replaceChildren();
        list.classList.toggle("bare", !page.data.some(({image}) => image)); // rows instead of empty places for pictures
      }
      list.append(...page.data.map((product) => card(product, weekChanges(from))));
      shown = offset + page.data.length;
      total.textContent = Number(rows) === 1 ? "1 card" : `${count(Number(rows))} cards`;
      announce(summary(shown, Number(rows)));
      if (Number(rows) === 0) offerOthers(values, signal);
      if (offset === 0) facets.of(countable, {signal, build}).then(counted, () => {});
    } catch (error) {
      if (signal.aborted) return;
      if (build && error.code === "invalid_parameter") return restart(); // the build was pruned: begin again
      if (offset === 0) list.replaceChildren();
      if (error.code === "not_found") offerOthers(values, signal);
      total.textContent = "";
      announce(error, true);
    }
    list.removeAttribute("aria-busy");
    more.hidden = next === null;
    watch.unobserve(more);
    watch.observe(more); // The observer reports only changes. A new observation reports whether the end is still near.
  }
  function offerOthers(values, signal) {
    meant(values, names, api, signal).then((line) => { if (!signal.aborted) others.replaceChildren(line); }, () => {});
  }

  function counted({whole, ...options}) {
    filters.offer(options);
    total.append(inAll(whole));
  }

  function restart() {
    asking.abort();
    asking = new AbortController();
    [next, build] = [0, undefined];
    others.replaceChildren();
    more.hidden = true;
    load();
  }

  function apply() {
    const now = JSON.stringify(filters.query());
    if (now === asked || !route.replace(filters.values())) return; // such as a field that is left after a pause, or for a link
    asked = now;
    showWeek();
    restart();
  }

  let typing;
  filters.changed = (wait) => {
    clearTimeout(typing);
    if (wait < Infinity) typing = setTimeout(apply, wait);
  };
  more.addEventListener("click", load);
  const watch = new IntersectionObserver((entries) => entries.at(-1).isIntersecting && load(), {rootMargin: "800px"});
  load();
  view.leave = () => { asking.abort(); watch.disconnect(); clearTimeout(typing); };
  return view;
}

function summary(many, total) {
  if (many === 0) return "No cards found. Try fewer words, or clear the filters.";
  return many === total ? "These are all." : `${count(many)} of ${count(total)} cards shown.`;
}
function weekMoves() {
  const moves = document.getElementById("week");
  return moves && h("section", {class: "this-week", "aria-label": "Moves of a week"},
    h("h2", {}, `What moved in the week to ${day(moves.dataset.until)}?`), moves.content.cloneNode(true), h("p", {}, h("a", {href: "#/movers"}, "All moves")));
}
const MEANINGS = {
  "The large price":
    "The marketplace’s trend price: what the card goes for across Europe, over all sellers and languages. Of a card that " +
    "exists in foil alone, that of foils.",
  "Since a day": "How that price changed: now against 7 to 10 days before. It is empty if there was no price then.",
  "Offers from":
    "The cheapest offer of the English card, in any condition, by sellers in one country. This service checks them " +
    "every day.",
};

function meaning() {
  const entries = Object.entries(MEANINGS).map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text)));
  return h("details", {class: "meaning"}, h("summary", {}, "What do the prices mean?"), h("dl", {}, entries));
}
const skeleton = () => Array.from({length: SKELETONS}, () => h("li", {"aria-hidden": "true"}, h("span", {class: "picture"})));
function card(product, changes) {
  const {price_guide: guide, filtered_price: filtered} = product;
  const about = [product.number && `No. ${product.number}`, product.rarity].filter(Boolean).join(", ");
  const change = h("span", {class: "change"});
  const lowest = filtered?.lowest;
  const offer = lowest == null ? [] : [h("span", {class: "label"}, "Offers from "), euros(lowest)];
  const market = marketPrice(guide);
  if (market) changes.then((known) => change.append(...changed(known.get(product.id_product))));
  return h("li", {},
    h("a", {class: "card", href: `#/cards/${product.id_product}`},
      picture(product.image, product, {loading: "lazy"}),
      h("span", {class: "name"}, nameOf(product.name)),
      h("span", {class: "where"}, setName(product.set) ?? product.category ?? ""),
      h("span", {class: "where"}, about),
      h("span", {class: "prices"},
        h("b", {}, euros(market?.price ?? lowest)),
        change,
        h("span", {class: "offer"}, offer))));
}

const changed = (change) => (change === undefined ? [] : [
  h("span", {class: direction(change.percents)}, percent(change.percents)), h("span", {class: "label"}, ` ${since(change.since)}`)]);
return {cardsView};
})();
const $explore_downloads_js = (() => {
const {h, stackedTable} = $explore_dom_js;
const {bytes, count, day, NONE, SELLER_FILTER} = $explore_words_js;

const COLUMNS = [["File", ""], ["Size", "number"], ["Rows", "number"], ["First day", ""], ["Last day", ""]];
const GROUPS = { // the tables of each; those that are named nowhere stand under the last one
  "Catalogue": ["cards", "products", "sets", "identifiers"],
  "Price guide": ["price_guide"],
  "All sellers": ["listings"],
  [SELLER_FILTER]: ["filtered"],
  "More": [],
};
const NAMED = Object.values(GROUPS).flat();
const SAVED_MILLISECONDS = 60_000; // a browser needs the copy until it has saved it

function downloadsView({api, announce}) {
  const place = h("div");
  const asking = new AbortController();

  async function save(file, button) {
    button.disabled = true;
    try {
      const link = h("a", {href: URL.createObjectURL(await api.file(file.name, asking.signal)), download: file.name});
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MILLISECONDS);
    } catch (error) {
      if (!asking.signal.aborted) announce(error, true);
    }
    button.disabled = false;
  }

  const row = (file) => [
    h("button", {type: "button", class: "quiet", onclick: (event) => save(file, event.currentTarget)}, file.name),
    bytes(file.bytes), count(file.records), file.first_day ? day(file.first_day) : NONE, file.last_day ? day(file.last_day) : NONE,
  ];

  async function load() {
    try {
      const [{files}] = await api.get("bulk", {}, {signal: asking.signal});
      const total = files.reduce((sum, file) => sum + file.bytes, 0);
      const groups = Object.entries(GROUPS).map(([name, tables]) => [name, files.filter(({table}) => tables.includes(table) ||
        (tables.length === 0 && !NAMED.includes(table)))]);
      place.replaceChildren(...groups.filter(([, some]) => some.length).map(([name, some]) => h("section", {}, h("h3", {}, name),
        stackedTable(name, COLUMNS, newestFirst(some).map(row)))));
      if (files.some(({table}) => table === "catalog")) place.prepend(sql(api.attachment()));
      announce(`${count(files.length)} files, ${bytes(total)}.`);
    } catch (error) {
      if (!asking.signal.aborted) announce(error, true);
    }
  }

  load();
  const view = h("section", {class: "downloads"}, h("h2", {tabindex: "-1"}, "Downloads"),
    h("p", {}, "All products and every day of every price, as files. The ", h("a", {href: "/docs/bulk.html#getBulkFile"}, "reference"),
      " has a script that keeps a copy up to date."), place);
  view.leave = () => asking.abort();
  return view;
}
const newestFirst = (files) => [...files].sort((one, other) => (other.last_day ?? "").localeCompare(one.last_day ?? ""));
function sql(text) {
  const copy = h("button", {type: "button", onclick: async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  }}, "Copy");
  return h("section", {}, h("h3", {}, "SQL by one address"),
    h("p", {}, "DuckDB 1.5 has every table after these lines: ", h("code", {}, "FROM cards.price_guide WHERE id_product = …"), ". They hold your key."),
    h("pre", {class: "code", tabindex: "0", "aria-label": "Lines for DuckDB"}, h("code", {}, text)), copy);
}
return {downloadsView};
})();
const $explore_facets_js = (() => {

const LISTS = {kind: "kinds", rarity: "rarities", game: "games", set: "sets"}; // of /facets, by filter
const LONGEST = 100; // such a list ends here

class Facets {
  #whole = {};

  constructor(api) {
    this.api = api;
  }
  async of(filters, asked) {
    try {
      if (filters) return await this.#counted(filters, asked);
    } catch (error) {
      if (asked.signal.aborted) throw error;
    }
    return {set: await this.#all("set"), game: await this.#all("game")};
  }

  async #counted(filters, asked) {
    const answers = {}; // filters that are not in use share one
    const numbers = (some) => (answers[JSON.stringify(some)] ??= this.#numbers(some, asked));
    const options = Object.entries(LISTS).map(async ([name, list]) => {
      const {[name]: own, ...others} = filters;
      const found = await numbers(others);
      if (!found.missed) return [[name, await this.#complete(name, found[list])]];
      return name === "set" || name === "game" ? [[name, await this.#all(name)]] : [];
    });
    const [whole, ...counted] = await Promise.all([numbers(filters), ...options]);
    return {...Object.fromEntries(counted.flat()), whole};
  }
  async #numbers({sort, ...filters}, asked) {
    if (!sort) return (await this.api.get("facets", filters, asked))[0];
    const from = {...filters, min_price: filters.min_price > 0 ? filters.min_price : "0.01"};
    const list = this.api.get("cards", {...filters, sort, limit: 1}, asked);
    const [[found], [, , total]] = await Promise.all([this.api.get("facets", from, asked), list]);
    return {...found, missed: total - found.products};
  }
  async #complete(name, list) {
    const options = new Map();
    for (const {id, name: text, value = text ?? id, products} of list) {
      if (value === null) continue; // products without a value: no filter finds them
      const before = options.get(value)?.products ?? 0; // sets may share a name
      const label = text === null ? setName({id, name: null}) : value;
      options.set(value, {value: String(value), label, products: before + products});
    }
    const others = name === "set" && list.length === LONGEST ? await this.#all(name) : [];
    return [...options.values(), ...others.filter(({value}) => !options.has(value))];
  }
  #all(name) {
    this.#whole[name] ??= this.api.all(`${name}s`, {limit: 500}).then((rows) =>
      [...new Set(rows.map((row) => row.name))].filter(Boolean).map((value) => ({value, label: value})));
    return this.#whole[name];
  }
}
return {Facets};
})();
const $docs_menu_js = (() => {

const DAY_MILLISECONDS = 86_400_000;
const FRESH_DAYS = 2;

const menu = document.querySelector(".menu");
const [row, said, forget] = ["key-row", "key-name", "forget"].map((id) => document.getElementById(id));
const enter = row.querySelector("a");
function showKey(name) {
  row.hidden = false;
  said.textContent = name ? `Key: ${name}.` : "No key in this tab.";
  [enter.hidden, forget.hidden] = [name !== "", name === ""];
}

const startOf = (time) => Math.floor(time / DAY_MILLISECONDS);
function age(text) {
  const days = startOf(Date.now()) - startOf(Date.parse(text));
  if (!(days >= 0)) return null;
  const words = days === 0 ? "today" : days === 1 ? "yesterday" : `${days} days old`;
  return [words, days <= FRESH_DAYS ? "age fresh" : "age"];
}

for (const time of document.querySelectorAll("time[data-age]")) {
  const [words, kind] = age(time.dateTime) ?? [];
  if (words) time.after(", ", Object.assign(document.createElement("span"), {textContent: words, className: kind}));
}

menu.addEventListener("click", ({target}) => { if (target.closest("a, button")) menu.open = false; });
addEventListener("pointerdown", ({target}) => { if (!menu.contains(target)) menu.open = false; });
addEventListener("keydown", ({key}) => {
  if (key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
return {showKey};
})();
const $explore_key_form_js = (() => {
const {keepKey, readKey} = $docs_key_js;
const {showKey} = $docs_menu_js;
const {h} = $explore_dom_js;
const {sentence} = $explore_words_js;

const byId = (id) => document.getElementById(id);
function keyForm(enter, leave) {
  const [form, input, wrong] = ["key-form", "key", "key-error"].map(byId);
  const button = form.querySelector("button");
  let attempt = 0;

  function invite() {
    byId("loading")?.remove();
    showKey("");
    button.disabled = form.hidden = false;
    showBehind(behind());
    input.focus();
  }
  async function begin(key) {
    const mine = ++attempt;
    button.disabled = form.hidden = true;
    wrong.textContent = "";
    try {
      const name = await enter(key);
      if (mine !== attempt) return; // the key was forgotten meanwhile
      showKey(name);
      keepKey(key);
      input.value = "";
      byId("loading")?.remove();
      showBehind([]);
    } catch (error) {
      if (mine !== attempt) return;
      if (error.status === 401) keepKey("");
      invite();
      wrong.textContent = sentence(error.message); // none if the service asked for a key
      if (error.status === 0) wrong.append(" ", h("button", {type: "button", onclick: () => begin(key)}, "Try again"));
    }
    button.disabled = false;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    begin(input.value.trim());
  });
  byId("forget").addEventListener("click", () => {
    attempt++;
    keepKey("");
    leave();
    invite();
  });
  addEventListener("newkey", () => {
    leave();
    begin(readKey());
  });
  begin(readKey());
}

function showBehind(parts) {
  const place = byId("behind");
  if (!place) return;
  place.replaceChildren(...parts);
  place.hidden = parts.length === 0;
}
function behind() {
  const moves = byId("week");
  return moves ? [h("h2", {}, "What you will see"), moves.content.cloneNode(true)] : [];
}
return {keyForm};
})();
const $explore_movers_js = (() => {
const {h, nameOf, picture} = $explore_dom_js;
const {sparkline} = $explore_plot_js;
const {direction, euros, percent, setName, since} = $explore_words_js;

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

function moversView({api, route, announce}) {
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
const differing = (query) => Object.fromEntries(Object.entries(query)
  .filter(([name, value]) => value !== (CHOICES.find(([one]) => one === name)?.[2] ?? "")));

function chips([name, legend, usual, options], params) {
  const chosen = options.some(([value]) => value === params[name]) ? params[name] : usual;
  return h("fieldset", {class: "ranges"}, h("legend", {}, legend), options.map(([value, text]) =>
    h("label", {}, h("input", {type: "radio", name, value, checked: value === chosen}), text)));
}

const cell = (at) => ({class: COLUMNS[at][1], role: "cell", "data-label": COLUMNS[at][0]});
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
const lowest = ({finish}, guide) => (finish === "foil" ? guide.holo.low : guide.low);
function yearLine(weeks) {
  const known = weeks.slice(weeks.findIndex((price) => price !== null));
  return sparkline(known, `A year by weeks, ${known.map(euros).join(", ")}`);
}
return {moversView};
})();
const $explore_names_js = (() => {
const {wordText} = $explore_fold_js;
const {nearest} = $explore_near_names_js;

const LETTERS = 2; // from here on, words are completed
const MOST = 8;
const MOST_NEAR = 3;

class Names {
  #names = null;

  constructor(api) {
    this.api = api;
  }
  async matching(text) {
    const typed = wordText(text);
    if (typed.length < LETTERS) return [];
    return best(await this.#known(), typed).map(({name, products}) => ({value: name, label: name, products}));
  }
  async nearest(text) {
    const typed = wordText(text);
    return nearest(await this.#known(), typed, MOST_NEAR).map(({name}) => name).filter((name) => wordText(name) !== typed);
  }

  #known() {
    return this.#names ??= this.#read();
  }
  async #read() {
    try {
      const [{names}] = await this.api.get("names");
      return names.map((entry) => ({...entry, words: wordText(entry.name)}));
    } catch {
      return [];
    }
  }
}
function best(names, typed) {
  const asked = typed.split(" ");
  const classes = [[], [], [], [], [], []];
  for (const entry of names) {
    if (asked.every((word) => entry.words.includes(word))) keep(classes[classOf(entry.words, typed, asked)], entry);
  }
  return classes.flat().slice(0, MOST);
}
function classOf(words, typed, asked) {
  if (words === typed) return 0;
  if (words.startsWith(`${typed} `)) return 1;
  if (` ${words} `.includes(` ${typed} `)) return 2;
  if (words.startsWith(typed)) return 3;
  return asked.every((word) => ` ${words}`.includes(` ${word}`)) ? 4 : 5;
}
function keep(found, entry) {
  if (found.length === MOST && found.at(-1).products >= entry.products) return;
  const place = found.findIndex(({products}) => products < entry.products);
  found.splice(place < 0 ? found.length : place, 0, entry);
  found.length = Math.min(found.length, MOST);
}
return {Names};
})();
const $explore_set_cards_js = (() => {

const CARDS_PER_REQUEST = 100;
const MOST_CARDS = 600; // of a set: each hundred costs one request

class SetCards {
  #known = new Map();

  constructor(api) {
    this.api = api;
  }
  of(id) {
    if (!this.#known.has(id)) this.#known.set(id, this.#read(id).catch((error) => { this.#known.delete(id); throw error; }));
    return this.#known.get(id);
  }
  async neighbours(product) {
    const {cards} = await this.of(product.set.id);
    const at = cards.findIndex(({id_product: id}) => id === product.id_product);
    return at < 0 ? [null, null] : [cards[at - 1] ?? null, cards[at + 1] ?? null];
  }

  async #read(id) {
    const cards = [];
    let build, total;
    for (let offset = 0; offset !== null && cards.length < MOST_CARDS;) {
      const asked = {set: id, kind: "single", sort: "number", limit: CARDS_PER_REQUEST, offset};
      const [page, from, rows] = await this.api.get("cards", asked, {build});
      cards.push(...page.data);
      [build, total, offset] = [from, Number(rows), page.pagination.next_offset];
    }
    return {cards, total};
  }
}
return {SetCards};
})();
const $explore_tracked_js = (() => {
class Tracked {
  #items = null;
  constructor(api, scopes) {
    Object.assign(this, {api, scopes});
  }
  async itemOf({cardmarket_url: url}) {
    if (!url || !(await this.scopes).includes("watchlist:read")) return undefined;
    this.#items ??= this.api.all("watchlist", {limit: 500});
    return (await this.#items).find((item) => item.cardmarket_url === url);
  }
  async of({name, cardmarket_url: url}) {
    if (!url || !(await this.scopes).includes("cards:read")) return undefined;
    const words = name.replace(/[([].*/, "").trim().slice(0, 100);
    const [{data}] = await this.api.get("cards", {q: words, limit: 100});
    return data.find((product) => product.cardmarket_url === url);
  }
}
return {Tracked};
})();
const $explore_watchlist_js = (() => {
const {h, outward, table} = $explore_dom_js;
const {plot, sparkline} = $explore_plot_js;
const {condition, count, direction, euros, percent, roundEuros, time, titled} = $explore_words_js;

const COLUMNS = [
  ["name", "Product"], ["lowest_price", "Lowest"], ["change_24h_pct", "24 hours"], ["change_7d_pct", "7 days"],
  [null, "14 days"], ["num_offers", "Offers"], ["last_checked", "Checked"],
];
const VIEWS = [["daily", "Days"], ["weekly", "Weeks"], ["monthly", "Months"]];
const RANGES = [["30d", "30 days"], ["90d", "90 days"], ["365d", "A year"], ["all", "All"]];

function watchlistView({api, announce}) {
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
    announce(items.length ? `${count(items.length)} tracked products.` : "Nothing is tracked.");
  }).catch((error) => announce(error, true));
  return h("section", {class: "watchlist"}, h("h2", {tabindex: "-1"}, "Watchlist"),
    h("table", {class: "stacks", role: "table"}, h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, heads)), body));
}

const change = (value) => h("span", {class: direction(value)}, percent(value));
function row(item) {
  const spark = `Last 14 days, ${item.sparkline_14d.map(euros).join(", ")}`;
  const cells = [euros(item.lowest_price), change(item.change_24h_pct), change(item.change_7d_pct),
    sparkline(item.sparkline_14d, spark), count(item.num_offers), time(item.last_checked)];
  return h("tr", {role: "row"}, h("th", {scope: "row", role: "rowheader"}, h("a", {href: `#/watchlist/${encodeURIComponent(item.slug)}`}, item.name),
    h("span", {class: "where"}, item.game ?? "")),
  cells.map((cell, at) => h("td", {class: "number", role: "cell", "data-label": COLUMNS[at + 1][1]}, cell)));
}
function watchedView({api, route, announce, cards}) {
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
return {watchlistView, watchedView};
})();
const $explore_main_js = (() => {
const {cardView} = $explore_card_js;
const {cardsView} = $explore_cards_js;
const {h} = $explore_dom_js;
const {downloadsView} = $explore_downloads_js;
const {Facets} = $explore_facets_js;
const {gameView, setView} = $explore_group_js;
const {keyForm} = $explore_key_form_js;
const {denied, lost} = $explore_lost_js;
const {marketView} = $explore_market_js;
const {moversView} = $explore_movers_js;
const {Names} = $explore_names_js;
const {SetCards} = $explore_set_cards_js;
const {Tracked} = $explore_tracked_js;
const {visitorOf} = $explore_visitor_js;
const {watchedView, watchlistView} = $explore_watchlist_js;
const {sentence, titled} = $explore_words_js;

const byId = (id) => document.getElementById(id);
const [place, status] = ["view", "status"].map(byId);
const entries = document.querySelectorAll('.top a[href^="/explore#/"]');
const TITLES = {cards: "Cards", watchlist: "Watchlist", downloads: "Downloads", movers: "Price moves", market: "Market"};
let api = null;
let cards = null; // links between the catalogue and the watchlist
let names = null;
let facets = null;
let sets = null; // the cards of each set that was looked at
let build = null; // a promise of the id of the build that was live on entry
let scopes = null; // a promise of the scopes of the key
let current = null; // {kind, view, address, scroll}
let list = null; // the list of cards as it was left, to come back to
function announce(said, wrong = false) {
  status.textContent = sentence(said.message ?? said);
  status.classList.toggle("error", wrong);
  if (said.status === 0) status.append(" ", h("button", {type: "button", onclick: again}, "Try again"));
  if (said.status === 403) scopes.then((known) => replace(denied(said, known)));
}
function again() {
  current?.view.leave?.();
  if (current?.kind === cardsView) list = null;
  current = null;
  show();
}
function replace(view) {
  current?.view.leave?.();
  [current, list] = [null, null];
  announce("");
  place.replaceChildren(view);
  view.querySelector("h2").focus();
}
function lostView({announce: say}) {
  say("");
  return lost("There is no page at this address");
}
function routeOf(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  const last = rest.length ? decodeURIComponent(rest.join("/")) : "";
  if (name === "watchlist") return last ? {name, view: watchedView, slug: last} : {name, view: watchlistView};
  if (name === "cards" && last) return {name, view: cardView, id: encodeURIComponent(last)};
  if (name === "downloads") return {name, view: downloadsView};
  if (name === "movers") return {name, view: moversView, ...parameters(name, query)};
  if (name === "sets" && last) return {name: "market", view: setView, id: last};
  if (name === "games" && last) return {name: "market", view: gameView, id: last};
  if (name === "market") return {name, view: marketView, ...parameters(name, query)};
  if (name === "cards" || name === "") return {name: "cards", view: cardsView, ...parameters("cards", query)};
  return {name, view: lostView};
}
function parameters(name, query) {
  let own = location.hash;
  const replace = (params) => {
    if (location.hash !== own) return false;
    const text = new URLSearchParams(params).toString();
    history.replaceState(null, "", `#/${name}${text ? `?${text}` : ""}`);
    own = current.address = location.hash;
    titled(params.q, TITLES[name]);
    return true;
  };
  return {params: Object.fromEntries(new URLSearchParams(query)), replace};
}

function show() {
  if (!api) return;
  const route = routeOf(location.hash);
  if (current?.kind === cardsView) list = current;
  else current?.view.leave?.();
  if (route.view === cardsView && list?.address !== location.hash) {
    list?.view.leave();
    list = null;
  }
  const back = route.view === cardsView && list;
  titled(route.params?.q, TITLES[route.name] ?? "Not found"); // a view of one thing names it, when it knows it
  announce(back ? "" : "Loading…");
  byId("loading")?.remove();
  const scroll = back ? list.scroll : 0;
  current = back || {kind: route.view, address: location.hash, scroll: 0};
  current.view ??= route.view({api, route, announce, cards, names, facets, sets, build});
  place.replaceChildren(current.view);
  for (const link of entries) link.ariaCurrent = link.hash === `#/${route.name}` ? "page" : null;
  scrollTo(0, scroll);
}
async function enter(key) {
  const onWait = (seconds) => announce(seconds === null ? "" : `The rate limit is reached: waiting ${seconds} s.`);
  const {api: client, me, note} = await visitorOf(key, onWait); // a key is asked at the same time as the first view
  byId("visitor").replaceChildren(...(note ?? []));
  byId("visitor").hidden = !note;
  [api, scopes] = [client, me.then((record) => record.scopes)];
  build = client.get("status").then(([found]) => found.build.id);
  for (const promise of [scopes, build]) promise.catch(() => {}); // a view that needs it says so
  cards = new Tracked(api, scopes);
  [names, facets, sets] = [new Names(api), new Facets(api), new SetCards(api)];
  show();
  place.querySelector("input[type=search], h2")?.focus();
  try {
    return (await me).name;
  } catch (error) {
    if (api === client) leave();
    throw error;
  }
}

function leave() {
  current?.view.leave?.();
  list?.view.leave();
  [api, build, scopes, cards, names, facets, sets, current, list] = Array(9).fill(null);
  place.replaceChildren();
  announce("");
}

addEventListener("hashchange", show);
addEventListener("scroll", () => { if (current) current.scroll = scrollY; }, {passive: true});
keyForm(enter, leave);
return {};
})();
