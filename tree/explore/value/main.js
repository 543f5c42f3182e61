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
const $explore_value_same_card_js = (() => {
const {baseName, faceName, fold, nameKey, shortName, wordText} = $explore_fold_js;

const SET_CODE = /^(?:[\w-]{1,6}|(?=.*\d)[\w.-]{1,12})$/;
const faceOf = (name) => faceName(name) || name;

const BASES = [baseName, (name) => shortName(name) || baseName(name), (name) => faceOf(baseName(name))];
const KEYS = [nameKey, ...BASES.map((base) => (name) => wordText(base(name)))]; // the nearest first
const energyOf = (name) => name.replace(/^basic (?=\p{L}+ energy\b)/iu, "");
function agrees(name, card) {
  const keys = KEYS.map((key) => key(energyOf(card.name)));
  return [name, faceOf(name)].some((one) => keys.includes(nameKey(energyOf(one))));
}
function numberKey(text) {
  const [part] = text.split("/");
  return wholeNumberKey(/\d/.test(part) ? part : text);
}

const wholeNumberKey = (text) => fold(text).trim().replace(/\d+/g, (digits) => digits.replace(/^0+(?=\d)/, ""));
function decide({name, set, number}, cards, sets) {
  const named = set || number ? agreeing(name, cards) : nearest(name, cards);
  if (named.length === 0) return {why: "no product has this name"};
  const unknown = {kept: named, agreed: !set || SET_CODE.test(set)};
  const inSet = sets.length ? narrow(named, (card) => sets.includes(card.set.id)) : unknown;
  const counts = number && inSet.kept.some((card) => card.number); // else the number says nothing
  const {kept, agreed} = counts ? withNumber(inSet.kept, number) : {kept: inSet.kept, agreed: true};
  const proves = counts && agreed && inSet.kept.every((card) => card.number); // else the right product may be one without
  const placed = sets.length || !counts ? inSet.agreed : proves || !set;
  if (kept.length === 1 && agreed && placed) return {id: kept[0].id_product};
  const why = !placed ? `not known in “${set}”` : agreed ? "several products fit" : `the number ${number} is not known`;
  const likely = counts && agreed && kept.length === 1 ? kept[0].id_product : undefined;
  return {choices: kept.map((card) => card.id_product), why, likely};
}
function agreeing(name, cards) {
  const wanted = nameKey(name);
  const found = cards.filter((card) => KEYS.slice(0, 2).some((key) => key(card.name) === wanted));
  return found.length ? found : nearest(name, cards);
}
function nearest(name, cards) {
  for (const wanted of [name, faceOf(name)].map(nameKey)) {
    for (const key of KEYS) {
      const found = cards.filter((card) => key(card.name) === wanted);
      if (found.length) return found;
    }
  }
  return [];
}
function withNumber(cards, number) {
  const whole = narrow(cards, (card) => wholeNumberKey(card.number ?? "") === wholeNumberKey(number));
  return whole.agreed ? whole : narrow(cards, (card) => numberKey(card.number ?? "") === numberKey(number));
}
function narrow(cards, fits) {
  const kept = cards.filter(fits);
  return kept.length ? {kept, agreed: true} : {kept: cards, agreed: false};
}
return {SET_CODE, faceOf, energyOf, agrees, numberKey, decide};
})();
const $explore_value_elsewhere_js = (() => {
const {agrees} = $explore_value_same_card_js;

const ID = /^[a-z0-9][a-z0-9.-]*-[a-z0-9!?]+$/i; // of TCGdex, such as sv03-125; some names look so, too
const SET_NUMBER = /^([a-z0-9.-]{2,12})\/([^\s/]+)$/i; // `obf/125`
async function matchElsewhere(lines, catalogue, signal) {
  const wanted = lines.map((line) => ({line, ids: idsOf(line)})).filter(({ids}) => ids.length);
  const [products, several] = [new Map(), new Map()];
  for (const [scheme, ids] of Map.groupBy(wanted.flatMap(({ids}) => ids), ([scheme]) => scheme)) {
    const known = await catalogue.identified(scheme, ids.map(([, value]) => value), signal);
    for (const [value, found] of known) products.set(`${scheme} ${value}`, found);
  }
  const found = ([scheme, value]) => products.get(`${scheme} ${value}`) ?? [];
  await catalogue.loadProducts(wanted.flatMap(({ids}) => ids.flatMap(found)), signal);
  for (const {line, ids} of wanted) {
    const fits = ids.map((id) => found(id).map((product) => catalogue.products.get(product)).filter((product) => product && fit(id, line, product)));
    const first = fits.find((products) => products.length);
    if (first?.length === 1) line.product = first[0].id_product;
    else if (first) several.set(line, first);
  }
  return several;
}
const fit = ([, value], line, product) =>
  value.toLowerCase() === line.name.toLowerCase() || (!line.code && SET_NUMBER.test(line.name)) || agrees(line.name, product);
function idsOf({name, code, number, scryfall, tcgplayer}) {
  const ids = [["scryfall", scryfall], ["tcgplayer", tcgplayer]].filter(([, value]) => value);
  if (ID.test(name)) ids.push(...[...new Set([name, lowerBefore("-", name)])].map((one) => ["tcgdex", one]));
  const [, set, of] = code && number ? ["", code, number] : SET_NUMBER.exec(name) ?? [];
  if (set) ids.push(...numbersOf(of).map((one) => ["set_number", `${set.toLowerCase()}/${one}`]));
  return ids.filter(([, value]) => /^[^,\s]{1,200}$/.test(value));
}
const lowerBefore = (mark, text) => text.slice(0, text.lastIndexOf(mark)).toLowerCase() + text.slice(text.lastIndexOf(mark));
function numbersOf(number) {
  const [part] = number.split("/");
  const written = [0, 2, 3].map((digits) => part.replace(/\d+/, (run) => run.replace(/^0+(?=\d)/, "").padStart(digits, "0")));
  return [...new Set([number, part, ...written])];
}
return {matchElsewhere};
})();
const $explore_value_valuation_js = (() => {
const cents = (price) => (price === null || price === undefined ? null : Math.round(price * 100));
function pricesOf(line, {price, low, card}) {
  if (line.grade) return {price: null, low: null, foil: null};
  const ofFoils = line.foil ? card?.price_guide?.holo.trend ?? 0 : 0;
  return {price: cents(ofFoils > 0 ? ofFoils : price), low: cents(low), foil: line.foil ? ofFoils > 0 : null};
}
function cheapestFirst(line, products) {
  const price = (product) => pricesOf(line, product).price ?? Infinity;
  return products.toSorted((a, b) => price(a) - price(b) || a.id_product - b.id_product);
}
const offerOf = ({condition}, card) =>
  cents(card.filtered_price?.cheapest_offers_by_condition[condition]?.[0]?.price);
const valued = (lines, products) => lines.filter((line) => products.has(line.product)).map((line) => {
  const product = products.get(line.product);
  return {line, product, ...pricesOf(line, product)};
});
function total(rows, kind) {
  let [sum, without] = [0, 0];
  for (const row of rows) {
    if (row[kind] === null) without += row.line.quantity;
    else sum += row[kind] * row.line.quantity;
  }
  return {cents: sum, without};
}
function dearest(rows, most) {
  const priced = rows.filter(({price}) => price !== null).sort((a, b) => b.price - a.price);
  const distinct = new Map(priced.map((row) => [`${row.product.id_product} ${row.foil}`, row]));
  return [...distinct.values()].slice(0, most);
}
function lacking(singles, lines) {
  const owned = new Set(lines.map(({product}) => product));
  const price = (product) => cents(product.price) ?? Infinity;
  const missing = singles.filter(({id_product: id}) => !owned.has(id));
  const products = missing.sort((a, b) => price(a) - price(b) || a.id_product - b.id_product);
  const priced = products.filter((product) => price(product) < Infinity);
  return {products, cents: priced.reduce((sum, product) => sum + price(product), 0), without: products.length - priced.length};
}
return {cents, pricesOf, cheapestFirst, offerOf, valued, total, dearest, lacking};
})();
const $explore_value_match_js = (() => {
const {wordText} = $explore_fold_js;
const {matchElsewhere} = $explore_value_elsewhere_js;
const {decide, energyOf, faceOf, numberKey} = $explore_value_same_card_js;
const {cheapestFirst} = $explore_value_valuation_js;

const MOST_CHOICES = 20;
const MOST_CHARACTERS = 100; // of `q`
const MOST_NAMED = 200; // characters of a name
const FEWEST_OF_CODE = 3; // lines that tell the set of a code, if more than nine of ten agree
const idsOf = ({product, choices, id, why}) => (product && !why ? [product] : choices ?? (id === null ? [] : [id]));
function matchIds(lines, {products}) {
  for (const line of lines) if (!products.has(line.product)) delete line.product; // a newer build may lack it
  const open = lines.filter((line) => !line.product && !line.choices && !line.wrong);
  for (const line of open) {
    if (products.has(line.id)) Object.assign(line, {product: line.id, why: undefined});
    else if (!line.name) line.why = `no product has the id ${line.id}`;
  }
  return open.filter((line) => !line.product && line.name);
}
async function matchNames(lines, catalogue, signal, progress) {
  const names = lines.map(({name}) => name.trim()).filter(isAskable);
  const entries = await catalogue.named(names, signal, (asked) =>
    progress(lines.filter(({name}) => asked.has(name.trim())).length));
  const codes = lines.some(({code}) => code) ? await catalogue.codes(signal) : new Map();
  const open = lines.filter((line) => !settleByName(line, entries.get(line.name.trim()), codes));
  if (open.length) await matchOtherwise(open, lines, codes, catalogue, signal);
}
function settleByName(line, entry, codes) {
  if (!entry || entry.products > entry.ids.length) return false;
  const sets = setsIn(entry.printings, line, codes);
  if ((line.set || line.code) && sets.length === 0) return false; // what seems to be a set may be a part of the name
  const meant = decide(line, entry.printings, sets);
  const product = entry.printings.find((one) => one.id_product === meant.id);
  const isCodeAlone = product && wordText(line.set ?? "") !== wordText(product.set.name ?? "");
  if (line.number && isCodeAlone && !isNumbered(product, line)) return false; // a card of another name may have the number
  const isAll = meant.id || !(line.set || line.code || line.number || line.whole || line.scryfall || line.tcgplayer);
  if (isAll) settle(line, meant);
  return isAll;
}
function setsIn(printings, {set, code}, codes) {
  const named = wordText(set ?? "");
  const ofCode = codes.get(code?.toLowerCase());
  const sets = printings.map((one) => one.set).filter(({id, name}) => (named && wordText(name ?? "") === named) || id === ofCode);
  return [...new Set(sets.map(({id}) => id))];
}
async function matchOtherwise(open, lines, codes, catalogue, signal) {
  for (const [line, products] of await matchElsewhere(open, catalogue, signal)) takeCheapest(line, products);
  const left = open.filter(({product}) => !product);
  const named = await catalogue.named([...new Set(left.flatMap(namesOf))], signal);
  const sets = left.some(({set}) => set) ? Map.groupBy(await catalogue.sets(signal), ({name}) => wordText(name)) : new Map();
  const read = left.map((line) => ({line, ...readingOf(line, named)}));
  const likely = new Map();
  for (const one of read) {
    const inSets = (one.reading.set && sets.get(wordText(one.reading.set))) || [];
    const meant = await found(one, inSets.map(({id}) => id), catalogue, signal);
    if (meant.likely) likely.set(one.line, meant.likely);
    settle(one.line, meant);
  }
  const told = setsOfCodes(lines.map((line) => ({code: line.code, product: line.product ?? likely.get(line)})), catalogue);
  for (const one of read) {
    const {code, product} = one.line;
    if (one.line.set && !one.reading.set) continue; // what seemed to be a code is a part of the name
    const set = told.get(code?.toLowerCase()) ?? codes.get(code?.toLowerCase());
    if (set === undefined || (product && catalogue.products.get(product).set.id === set)) continue;
    const meant = await found(one, [set], catalogue, signal);
    settleInSet(one.line, set, meant, told.has(code.toLowerCase()), catalogue);
  }
}
function settleInSet(line, set, meant, isTold, {products}) {
  const other = isTold ? undefined : line.product;
  const inSet = [meant.id, ...meant.choices ?? []].filter((id) => products.get(id)?.set.id === set);
  if (other && inSet.length === 0) return;
  delete line.product;
  settle(line, other ? {choices: [...inSet, other], why: `not known in “${line.code}”`} : meant);
}
function takeCheapest(line, products) {
  const choices = cheapestFirst(line, products).map((product) => product.id_product);
  Object.assign(line, {product: choices[0], choices: choices.slice(0, MOST_CHOICES), why: `the cheapest of ${products.length} that fit`});
}
function setsOfCodes(lines, catalogue) {
  const told = lines.filter(({code, product}) => code && product && catalogue.products.has(product));
  const sets = new Map();
  for (const [code, those] of Map.groupBy(told, ({code}) => code.toLowerCase())) {
    const counts = Map.groupBy(those, ({product}) => catalogue.products.get(product).set.id);
    const [set, most] = [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0];
    if (set !== null && those.length >= FEWEST_OF_CODE && most.length > 0.9 * those.length) sets.set(code, set);
  }
  return sets;
}
const namesOf = (line) => [line.whole, longerName(line), line.name, faceOf(line.name), energyOf(line.name)]
  .filter((one) => one && isAskable(one)).map((one) => one.trim());
const isAskable = (name) => name.length <= MOST_NAMED;
const longerName = ({whole, name, set}) => (set && whole?.startsWith(`${name} ${set} `) ? `${name} ${set}` : "");
function readingOf({whole, ...line}, named) {
  const entire = named.get(whole?.trim());
  if (entire?.matched === "name") return {reading: {...line, name: whole, set: "", number: ""}, entry: entire};
  const longer = longerName({whole, ...line});
  if (named.get(longer)) return {reading: {...line, name: longer, set: ""}, entry: named.get(longer)};
  const energy = energyOf(line.name).trim();
  const own = named.get(line.name.trim());
  if (!own && named.get(energy)) return {reading: {...line, name: energy}, entry: named.get(energy)};
  return {reading: line, entry: own ?? named.get(faceOf(line.name).trim())};
}
async function found({reading, entry}, sets, catalogue, signal) {
  if (!entry) return {why: "no product has this name"};
  const first = decide(reading, entry.printings, sets);
  const others = othersOf(reading, entry, sets);
  const isSure = (sets.length && entry.products <= entry.ids.length) || isNumbered(catalogue.products.get(first.id), reading);
  if (!others || (first.id && isSure)) return first;
  const more = await catalogue.search({...searchOf(reading.name), ...others}, signal);
  const second = decide(reading, [...new Map([...entry.printings, ...more].map((one) => [one.id_product, one])).values()], sets);
  return second.id || !first.choices ? second : first;
}
function othersOf({set, number}, {matched, products, ids}, sets) {
  if (products > ids.length && sets.length === 1) return {set: sets[0]};
  if (products > ids.length && number) return {number: numberKey(number)};
  return matched === "name" && (set || number) ? {sort: "match"} : null; // it may be the base name of others
}

const isNumbered = (product, {number}) => number && numberKey(product?.number ?? "") === numberKey(number);
const searchOf = (name) =>
  ({q: name.length <= MOST_CHARACTERS ? name : name.slice(0, MOST_CHARACTERS).replace(/\s\S*$/, "")});

function settle(line, {id, choices, why}) {
  if (id) Object.assign(line, {product: id, why: undefined, choices: undefined});
  else Object.assign(line, {why, choices: choices?.slice(0, MOST_CHOICES)});
}
return {idsOf, matchIds, matchNames};
})();
const $explore_value_appraisal_js = (() => {
const {idsOf, matchIds, matchNames} = $explore_value_match_js;

const FEW = 100; // products whose year takes one request
async function appraise(lines, catalogue, signal, progress) {
  const ids = new Set(lines.flatMap(idsOf));
  let done = [...ids].filter((id) => catalogue.products.has(id)).length;
  await catalogue.loadProducts([...ids], signal, (more) => progress("cards", done += more, ids.size));
  const open = matchIds(lines, catalogue);
  await matchNames(open, catalogue, signal, (asked) => progress("lines", lines.length - open.length + asked, lines.length));
  await loadPrices(lines, catalogue, signal);
}
async function loadPrices(lines, catalogue, signal) {
  await catalogue.loadCards(productsOf(lines.filter(({foil}) => foil)), signal);
  const products = productsOf(lines);
  if (products.length <= FEW) await catalogue.loadSeries(products, signal);
}
const productsOf = (lines) => [...new Set(lines.map(({product}) => product).filter(Boolean))];
return {appraise, loadPrices, productsOf};
})();
const $explore_value_catalogue_js = (() => {

const HUNDRED = 100;
const MOST_SETS = 1000; // of an answer

class Catalogue {
  products = new Map(); // by id: {id_product, name, set, number, price, low}, and its `card` once that is loaded
  series = new Map(); // by id: a price or null for each week
  weeks = []; // Mondays
  #unknown = new Set();
  #named = new Map();
  #kept = new Map(); // other answers, by what was asked
  #build;

  constructor(api) {
    this.api = api;
  }
  get asOf() {
    return this.#build.slice(0, 10);
  }
  loadProducts(ids, signal, done) {
    return this.#load(ids.filter((id) => !this.products.has(id)), signal, done);
  }
  loadCards(ids, signal, done) {
    return this.#load(ids.filter((id) => !this.products.get(id)?.card), signal, done);
  }

  async #load(ids, signal, done = () => {}) {
    for (const part of hundreds(ids.filter((id) => !this.#unknown.has(id)))) {
      const [{data, not_found: unknown}] = await this.#get("cards", {ids: part.join()}, signal);
      this.#keep(data);
      for (const id of unknown) this.#unknown.add(id);
      done(part.length);
    }
  }
  async loadSeries(ids, signal) {
    for (const part of hundreds(ids.filter((id) => !this.series.has(id) && !this.#unknown.has(id)))) {
      const [{weeks, data, not_found: unknown}] = await this.#get("series", {ids: part.join()}, signal);
      this.weeks = weeks;
      for (const {id_product: id, trend} of data) this.series.set(id, trend);
      for (const id of unknown) this.#unknown.add(id);
    }
  }
  search(filters, signal) {
    return this.#once(JSON.stringify(filters), async () => {
      const [{data}] = await this.#get("cards", {...filters, limit: HUNDRED}, signal);
      return this.#keep(data);
    });
  }
  codes(signal) {
    return this.#once("codes", async () => {
      const answer = await fetch("/explore/value/codes.json", {signal, credentials: "omit", referrerPolicy: "no-referrer"});
      return new Map(Object.entries(await answer.json()));
    });
  }
  get lacksCodes() {
    return this.#kept.get("codes")?.size === 0;
  }
  ofSet(set, signal) {
    const asked = {set, kind: "single", limit: HUNDRED};
    return this.#once(`set ${set}`, async () => this.#keep(await this.#all("cards", asked, signal)).map(productOf));
  }

  sets(signal) {
    return this.#once("sets", () => this.#all("sets", {limit: MOST_SETS}, signal));
  }
  async named(names, signal, done = () => {}) {
    for (const part of hundreds(names.filter((name) => !this.#named.has(name)))) {
      const [{data, not_found: unknown}] = await this.#get("cards/named", {names: part.join("\n"), printings: true}, signal);
      for (const name of unknown) this.#named.set(name, undefined);
      for (const entry of data) this.#named.set(entry.name, {...entry, printings: this.#keepPrintings(entry)});
      done(this.#named);
    }
    return this.#named;
  }

  #keepPrintings({name, printings}) {
    const products = printings.map((one) => ({...one, name}));
    for (const one of products) if (!this.products.has(one.id_product)) this.products.set(one.id_product, one);
    return products;
  }
  async identified(scheme, values, signal) {
    const found = new Map();
    try {
      for (const part of hundreds(values)) {
        const [{data}] = await this.#get(`identifiers/${scheme}`, {values: part.join()}, signal);
        for (const {value, products} of data) found.set(value, products);
      }
    } catch (error) {
      if (error.status !== 404) throw error;
    }
    return found;
  }

  async #once(name, ask) {
    if (!this.#kept.has(name)) this.#kept.set(name, await ask());
    return this.#kept.get(name);
  }
  #keep(cards) {
    for (const card of cards) this.products.set(card.id_product, Object.assign(this.products.get(card.id_product) ?? {}, productOf(card)));
    return cards;
  }

  async #all(path, params, signal) {
    const items = [];
    for (let offset = 0; offset !== null;) {
      const [{data, pagination}] = await this.#get(path, {...params, offset}, signal);
      items.push(...data);
      offset = pagination.next_offset;
    }
    return items;
  }
  async #get(path, params, signal) {
    try {
      const found = await this.api.get(path, params, {signal, build: this.#build});
      [, this.#build] = found;
      return found;
    } catch (error) {
      if (!this.#build || error.code !== "invalid_parameter") throw error;
      this.#build = undefined;
      return this.#get(path, params, signal);
    }
  }
}
function productOf(card) {
  const {id_product, name, set, number, price_guide: guide, filtered_price: filtered} = card;
  const price = [guide?.trend, guide?.holo.trend].find((one) => one > 0) ?? null; // the market price
  return {id_product, name, set, number, price, low: filtered?.lowest ?? null, card};
}

function* hundreds(ids) {
  const distinct = [...new Set(ids)];
  for (let at = 0; at < distinct.length; at += HUNDRED) yield distinct.slice(at, at + HUNDRED);
}
return {Catalogue, productOf};
})();
const $explore_value_export_js = (() => {
const {condition} = $explore_words_js;

const COLUMNS = ["Line", "Status", "Quantity", "idProduct", "Name", "Set name", "Collector number", "Foil", "Condition", "Language",
  "Market price", "Lowest offer", "Market price of all", "Lowest offers of all", "Note"];
const FORMULA = /^[=+\-@\t\r]/; // spreadsheets compute cells that begin with one of these
function cell(value) {
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function toCsv(lines, rows) {
  const byLine = new Map(rows.map((row) => [row.line, row]));
  const table = [COLUMNS, ...lines.map((line, at) => cellsOf(line, at + 1, byLine.get(line)))];
  return `\ufeff${table.map((cells) => cells.map(cell).join(",")).join("\r\n")}\r\n`;
}

const euros = (cents, quantity = 1) => (cents === null || cents === undefined ? "" : (cents * quantity / 100).toFixed(2));

function cellsOf(line, number, {product: known, price, low, foil} = {}) {
  const {quantity} = line;
  const product = [known?.id_product ?? line.id, known?.name ?? line.name, known?.set.name ?? line.set, known?.number ?? line.number];
  const copy = [line.foil ? "foil" : "", condition(line.condition), line.language];
  const prices = [euros(price), euros(low), euros(price, quantity), euros(low, quantity)];
  const note = foil === false ? "No price of foils: the normal price" : line.wrong ?? line.why ?? "";
  return [number, statusOf(line), quantity, ...product, ...copy, ...prices, note];
}
const isAssumed = ({product, why}) => Boolean(product && why);
const statusOf = ({product, choices}) => (product ? "matched" : choices ? "several" : "not found");
return {cell, toCsv, isAssumed, statusOf};
})();
const $explore_value_cells_js = (() => {
const {h, stackedTable} = $explore_dom_js;
const {condition, count, direction, euros, percent, setName} = $explore_words_js;
const {offerOf} = $explore_value_valuation_js;

const ROWS = 50; // at first, and with each click

const money = (cents) => euros(cents === null ? null : cents / 100);
const productCell = ({id_product: id, name, set, number}, more = "") => h("span", {},
  h("a", {href: `/explore#/cards/${id}`}, name),
  h("span", {class: "where"}, [setName(set), number && `No. ${number}`, more].filter(Boolean).join(" · ")));
const lineCell = (line) => h("span", {}, line.name || `Product ${line.id ?? "?"}`,
  h("span", {class: "where"}, [line.set, line.number && `No. ${line.number}`, line.wrong ?? line.why].filter(Boolean).join(" · ")));
function changeCell(then, now) {
  const share = then > 0 ? ` (${percent(((now - then) / then) * 100)})` : "";
  const sign = now > then ? "+" : now < then ? "−" : "";
  return h("span", {class: direction(now - then)}, `${sign}${money(Math.abs(now - then))}${share}`);
}
function copyOf({line, product: {card}, foil}) {
  const offer = line.condition && card ? offerOf(line, card) : null;
  if (line.grade) return `Graded ${line.grade}: not priced, the prices here are of raw cards`;
  return [
    line.foil && (foil ? "Foil" : "Foil, no price of its own: counted as normal"),
    line.condition && `${condition(line.condition)}, ${offer === null ? "not priced" : `offers from ${money(offer)}`}`,
    line.language && `${line.language}, not priced`,
  ].filter(Boolean).join(" · ");
}
function longTable(caption, columns, rows, cellsOf, load = null) {
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
return {money, productCell, lineCell, changeCell, copyOf, longTable};
})();
const $explore_value_year_js = (() => {
const {cents} = $explore_value_valuation_js;

const DAY_MILLISECONDS = 86_400_000;
const WEEK_DAYS = 7;
const AGES = [[7, "7 days ago"], [30, "30 days ago"], [365, "A year ago"]];
const hasYear = (rows, {series}) => rows.every(({product}) => series.has(product.id_product));
const inYear = (rows, series) => rows.every(({price}) => price === null)
  ? [] : rows.filter(({line, foil, product}) => !line.grade && foil !== true && series.has(product.id_product));
function carry(prices) {
  let last = null;
  return prices.map((price) => {
    last = cents(price) ?? last;
    return {price: last, carried: price === null && last !== null};
  });
}
function worthByWeek(rows, series, weeks) {
  const worth = weeks.map((week) => ({week, cents: 0, carried: 0}));
  for (const {product, line} of rows) {
    carry(series.get(product.id_product)).forEach(({price, carried}, at) => {
      worth[at].cents += (price ?? 0) * line.quantity;
      if (carried) worth[at].carried += price * line.quantity;
    });
  }
  return worth;
}
function weekBefore(weeks, day, days) {
  const age = (Date.parse(day) - Date.parse(weeks[0])) / DAY_MILLISECONDS - days;
  return Math.max(0, Math.floor(age / WEEK_DAYS));
}
function movesSince(rows, series, week) {
  return rows.flatMap(({product, line}) => {
    const prices = carry(series.get(product.id_product));
    const [then, now] = [prices[week].price, prices.at(-1).price];
    return then === null ? [] : [{product, line, then: then * line.quantity, now: now * line.quantity}];
  });
}
const sumOf = (moves) => moves.reduce((sum, {then, now, line}) =>
  ({then: sum.then + then, now: sum.now + now, cards: sum.cards + line.quantity}), {then: 0, now: 0, cards: 0});
return {AGES, hasYear, inYear, carry, worthByWeek, weekBefore, movesSince, sumOf};
})();
const $explore_value_holdings_js = (() => {
const {h, stackedTable} = $explore_dom_js;
const {count, NONE} = $explore_words_js;
const {productsOf} = $explore_value_appraisal_js;
const {changeCell, copyOf, lineCell, longTable, money, productCell} = $explore_value_cells_js;
const {statusOf} = $explore_value_export_js;
const {dearest} = $explore_value_valuation_js;
const {AGES, inYear, movesSince, weekBefore} = $explore_value_year_js;

const MOST = 8; // rows of a table of the best

function dearestView(rows) {
  const columns = [["Card", ""], ["You have", "number"], ["Market price", "number"], ["Lowest offer", "number"]];
  const cells = ({product, line, price, low, foil}) => [productCell(product, foil ? "Foil" : ""), count(line.quantity), money(price), money(low)];
  return h("section", {}, h("h2", {}, "Dearest cards"), stackedTable("Dearest cards", columns, dearest(rows, MOST).map(cells)));
}
function movesView(rows, {series, weeks, asOf}) {
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
function listView(lines, rows, actions, load) {
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
return {dearestView, movesView, listView};
})();
const $explore_value_list_error_js = (() => {

const LIMITS = {megabytes: 16, lines: 50_000, columns: 200, characters: 2_000};
class ListError extends Error {}
return {LIMITS, ListError};
})();
const $explore_value_text_js = (() => {
const {LIMITS, ListError} = $explore_value_list_error_js;

const MARKS = [[[0xff, 0xfe], "utf-16le"], [[0xfe, 0xff], "utf-16be"]]; // bytes at the beginning of a file
const WORKBOOK = "PK\x03\x04";
async function textOf(file) {
  const {megabytes} = LIMITS;
  if (file.size > megabytes * 1e6) throw new ListError(`The file is too large: a list may have ${megabytes} MB.`);
  const text = decode(new Uint8Array(await file.arrayBuffer()));
  if (text.startsWith(WORKBOOK)) throw new ListError("This is a workbook of a spreadsheet: save it as CSV there, and choose that file.");
  if (text.includes("\0")) throw new ListError("This file is no text: choose a CSV file or a plain list.");
  return text;
}
function decode(bytes) {
  const marked = MARKS.find(([mark]) => mark.every((byte, at) => bytes[at] === byte));
  if (marked) return new TextDecoder(marked[1]).decode(bytes);
  try {
    return new TextDecoder("utf-8", {fatal: true}).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
return {textOf, decode};
})();
const $explore_value_input_js = (() => {
const {textOf} = $explore_value_text_js;

const byId = (id) => document.getElementById(id);
function listInput(take, refuse) {
  const [form, field, drop] = ["list-form", "list", "drop"].map(byId);
  const read = async (file) => {
    if (!file) return;
    try { take(await textOf(file), false); } catch (error) { refuse(error); }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take(field.value, event.submitter?.value === "add");
  });
  byId("file").addEventListener("change", ({target}) => {
    read(target.files[0]);
    target.value = ""; // the same file may be chosen again
  });
  addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    read(event.dataTransfer?.files[0]);
  });
}
return {listInput};
})();
const $explore_value_kept_list_js = (() => {

const NAME = "cardpress-list";
const FIELDS = [
  "quantity", "id", "name", "set", "number", "foil", "condition", "language", "whole", "wrong", "product", "choices", "why",
  "code", "scryfall", "tcgplayer", "grade",
];
function readList() {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? "[]").map(lineOf);
  } catch {
    return [];
  }
}

function lineOf(values) {
  const fields = FIELDS.map((field, at) => [field, values[at]]);
  return Object.fromEntries(fields.filter(([field, value]) => field === "id" || value !== null));
}
function keepList(lines) {
  try {
    localStorage.setItem(NAME, JSON.stringify(lines.map((line) => FIELDS.map((field) => line[field]))));
    return true;
  } catch {
    localStorage.removeItem(NAME);
    return false;
  }
}

const forgetList = () => localStorage.removeItem(NAME);
return {readList, keepList, forgetList};
})();
const $explore_value_lacks_js = (() => {
const {h} = $explore_dom_js;
const {count, NONE, setName} = $explore_words_js;
const {longTable, money, productCell} = $explore_value_cells_js;
const {cents, lacking} = $explore_value_valuation_js;

const COLUMNS = [["Card", ""], ["Rarity", ""], ["Market price", "number"]];
function lacksView(rows, singlesOf, announce) {
  const place = h("div", {});
  const select = h("select", {onchange: async () => {
    const set = select.value;
    place.replaceChildren();
    try {
      const singles = set ? await singlesOf(Number(set)) : [];
      if (set && select.value === set) place.replaceChildren(...lackingOf(singles, rows));
    } catch (error) {
      announce(error.message, true);
    }
  }}, h("option", {value: ""}, "Choose …"), setsOf(rows).map(([id, name]) => h("option", {value: id}, name)));
  return h("section", {}, h("h2", {}, "What a set still lacks"), h("label", {class: "choice"}, h("span", {}, "Set"), select), place);
}
function setsOf(rows) {
  const known = rows.map(({product: {set}}) => [set.id, setName(set)]).filter(([id]) => id !== null);
  return [...new Map(known)].sort(([, a], [, b]) => a.localeCompare(b));
}

function lackingOf(singles, rows) {
  const {products, cents: sum, without} = lacking(singles, rows.map(({line}) => line));
  const text = `You have ${count(singles.length - products.length)} of ${count(singles.length)} singles.`;
  if (products.length === 0) return [h("p", {role: "status"}, `${text} The set is complete.`)];
  const unpriced = without ? `, without ${count(without)} that have no price` : "";
  const cells = (product) => [productCell(product), product.card.rarity ?? NONE, money(cents(product.price))];
  return [
    h("p", {role: "status"}, `${text} The others cost ${money(sum)} together at their market prices${unpriced}.`),
    ...longTable("Missing cards", COLUMNS, products, cells),
  ];
}
return {lacksView};
})();
const $explore_value_csv_js = (() => {
const {LIMITS, ListError} = $explore_value_list_error_js;
function* rows(text, separator) {
  const reader = new Reader(text, separator);
  while (reader.at < text.length) yield reader.row();
}

class Reader {
  at = 0;
  #row = 0;

  constructor(text, separator) {
    Object.assign(this, {text, ends: new Set([separator, "\n", "\r"]), separator});
  }

  row() {
    this.#row++;
    const cells = [this.#cell()];
    while (this.text[this.at] === this.separator) {
      if (cells.length === LIMITS.columns) this.#refuse(`has more than ${LIMITS.columns} columns`);
      this.at++;
      cells.push(this.#cell());
    }
    if (this.text[this.at] === "\r") this.at++;
    if (this.text[this.at] === "\n") this.at++;
    return cells;
  }

  #cell() {
    return this.text[this.at] === '"' ? this.#quoted() : this.#plain();
  }

  #plain() {
    const start = this.at;
    while (this.at < this.text.length && !this.ends.has(this.text[this.at])) {
      if (++this.at - start > LIMITS.characters) this.#refuseLength();
    }
    return this.text.slice(start, this.at);
  }
  #quoted() {
    let value = "";
    for (let start = this.at + 1; ; value += '"') {
      const end = this.text.indexOf('"', start);
      if (end < 0) this.#refuse("has a quote that is not closed");
      value += this.text.slice(start, end);
      if (value.length > LIMITS.characters) this.#refuseLength();
      this.at = end + 1;
      if (this.text[this.at] !== '"') return value + this.#plain();
      start = end + 2;
    }
  }

  #refuseLength() {
    this.#refuse(`has a cell of more than ${LIMITS.characters} characters`);
  }

  #refuse(what) {
    throw new ListError(`Row ${this.#row} ${what}. Nothing was read.`);
  }
}
return {rows};
})();
const $explore_value_deck_list_js = (() => {

const COMMENT = /^(\/\/|#|--)/;
const HEADINGS = "about|deck|main ?(board|deck)?|side ?(board)?|commanders?|companion|maybe ?board|considering|tokens|attractions|" +
  "stickers|signature spells?|pok[eé]mon|trainers?|energy|total cards|creatures|planeswalkers|instants|sorceries|artifacts|" +
  "enchantments|battles|lands|spells";
const HEADING = new RegExp(`^((${HEADINGS})\\s*[:(–-]?\\s*\\d*\\)?:?|\\p{L}[\\p{L} ]*:\\s*\\d*)$`, "iu");
const BEFORE = /^(?:SB:\s*)?(?:(\d{1,6})(?:\s*[x×]?\s+|[x×])|[x×](\d{1,6})\s+)(.+)$/i; // a quantity before the name
const AFTER = /^(.+?)\s+[x×]\s*(\d{1,6})$/i; // or after it
const TAGS = /\s+(\^[^^]*\^|#!?[^\s\d#].*)$/; // of Archidekt, after the categories; of Moxfield
const CATEGORIES = /(\([\w.-]{2,12}\)(?:\s+[^\s[]\S*)?(?:\s+\*[FE]\*)?)\s+\[[^\]]*\]$/; // of Archidekt
const FOIL = /\s+(?:\*[FE]\*|PH$|\(F\)|\[foil\]|\(foil\)|\(reverse holo\))/i;
const PLACES = [ // where in its set a card stands
  /^(?<name>.+?)\s+[([](?<set>[^()[\]]+)[)\]](?:\s+#?(?<number>[^\s()[\]]{1,20}(?: \d+\w?)?))?$/,
  /^(?<name>.+?)\s+(?<set>[A-Z][A-Z0-9.-]{1,10}|[a-z]{3}|(?=\S*\d)[A-Za-z][\w.-]{1,10})\s+#?(?<number>[A-Z]{0,4}\d+[A-Za-z]?(?:\/[A-Z]{0,4}\d+)?)$/,
  /^(?<name>.+?)\s+#?(?<number>[A-Z]{0,5}\d+[a-z]?\/[A-Z]{0,5}\d+)$/,
];
const ID = /^\d{3,18}$/;
const ENERGIES = { // as PTCG Live writes them: `Basic {R} Energy`
  G: "Grass", R: "Fire", W: "Water", L: "Lightning", P: "Psychic", F: "Fighting", D: "Darkness", M: "Metal", Y: "Fairy",
};
function deckLine(text) {
  const line = text.replace(/\s+/g, " ").trim().replace(/^\* /, "").replace(TAGS, "").replace(CATEGORIES, "$1");
  if (COMMENT.test(line) || HEADING.test(line)) return null;
  const [quantity, rest] = counted(line);
  const whole = rest.replace(FOIL, "").replace(/\{([GRWLPFDMY])\}/g, (_, letter) => ENERGIES[letter]).trim();
  const foil = FOIL.test(rest) ? "foil" : "";
  if (ID.test(whole)) return {id: whole, quantity, foil};
  const place = PLACES.map((pattern) => pattern.exec(whole)).find(Boolean)?.groups ?? {name: whole};
  return {quantity, foil, whole, ...place};
}

function counted(line) {
  const before = BEFORE.exec(line);
  if (before) return [before[1] ?? before[2], before[3]];
  const after = AFTER.exec(line);
  return after ? [after[2], after[1]] : ["1", line];
}
return {deckLine};
})();
const $explore_value_formats_js = (() => {
const NAMES = {
  id: ["idProduct", "Product id (Cardmarket)", "Cardmarket id", "mcmId"],
  quantity: ["Quantity", "Qty", "Amount", "Count", "Copies", "Owned", "Total quantity", "Quantity X", "cardq"],
  normals: ["Normal", "Normal count", "Normal quantity", "Reg qty", "Regular quantity", "Nonfoil quantity"],
  foils: ["Foil count", "Foil quantity", "Foil qty", "Foils", "Foil copies"],
  name: ["Simple name", "English name", "Card name", "Name", "Product name", "Card", "Product", "Title"],
  set: ["Set name", "Expansion name", "Exp. name", "Edition name", "Card set", "Set", "Expansion", "Edition"],
  code: ["Set code", "Expansion code", "Edition code", "Set ID"],
  number: ["Collector number", "Collector’s number", "Card number", "Number", "No."],
  printed: ["Card code"], // code and number in one
  foil: ["Foil", "Foil?", "Printing", "Finish", "Variance", "Variant", "Is foil", "Foil/Etched", "Reverse holo"],
  condition: ["Condition", "Card condition"],
  language: ["Language", "Lang"],
  grade: ["Grade"],
  playset: ["Playset?", "Playset"],
  scryfall: ["Scryfall ID"],
  tcgplayer: ["TCGplayer product ID"],
};
const APPS = [
  {name: "Cardmarket stock", sign: "idArticle"},
  {name: "ManaBox", sign: "ManaBox ID"},
  {name: "Dragon Shield", sign: "Trade quantity"},
  {name: "Dragon Shield’s app", sign: "Expansion code"},
  {name: "Deckbox", sign: "Artist proof", own: {tcgplayer: ["TcgPlayer ID"]}},
  {name: "Moxfield", sign: "Tradelist count"},
  {name: "TCGplayer", sign: "Simple name", own: {tcgplayer: ["Product ID"]}},
  {name: "TCGplayer’s stock", sign: "Product line"},
  {name: "Archidekt", sign: "Edition name"},
  {name: "Collectr", sign: "Portfolio name"},
  {name: "YGOPRODeck", sign: "cardq"},
  {name: "Delver Lens", sign: "Quantity X"},
  {name: "Delver Lens", sign: "Collector’s number"},
];
const plain = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
function formatOf(header) {
  const places = new Map(header.map((name, at) => [plain(name), at]).reverse()); // of two equal names, the first
  const {name, own} = APPS.find(({sign}) => places.has(plain(sign))) ?? {name: "a table"};
  const at = fields(places, {...NAMES, ...own});
  if ("normals" in at && "foil" in at && !("foils" in at)) { // “Normal” and “Foil” are counts
    at.foils = at.foil;
    delete at.foil;
  }
  const taken = new Set(Object.values(at));
  return {name, at, left: header.filter((one, place) => one.trim() && !taken.has(place))};
}
const namesCards = ({id, name, code, number}) => [id, name].some(isKnown) || [code, number].every(isKnown);

const isKnown = (place) => place !== undefined;

function fields(places, names) {
  const found = Object.entries(names).map(([field, ways]) => [field, ways.map((name) => places.get(plain(name))).find(isKnown)]);
  return Object.fromEntries(found.filter(([, at]) => isKnown(at)));
}

const quoted = (columns) => columns.map((name) => `“${name.trim()}”`).join(", ");
function columnsText(header, {at, left}) {
  const from = (...fields) => fields.filter((field) => field in at).map((field) => header[at[field]]);
  const taken = [
    ["Card", from("name", "id", "scryfall", "tcgplayer")], ["Set", from("set", "code")], ["Number", from("number", "printed")],
    ["Finish", from("foil", "foils")], ["Condition", from("condition", "grade")], ["Language", from("language")],
  ].map(([what, columns]) => `${what}: ${columns.length ? quoted(columns) : "no column"}.`);
  const counts = from("quantity", "normals", "foils", "playset");
  const counted = counts.length ? `Quantity: ${quoted(counts)}.` : "Quantity: no column, so each line counts once.";
  const both = "quantity" in at && "foils" in at && !("normals" in at) ? [`${quoted(from("foils"))} are among ${quoted(from("quantity"))}.`] : [];
  return [counted, ...both, ...taken, ...(left.length ? [`Left out: ${quoted(left)}.`] : [])].join(" ");
}
const lacksNames = (header) =>
  `This table has the columns ${quoted(header.filter((one) => one.trim()))}, and none that names a card: it needs Name, Card name, ` +
  "Product name or idProduct; or Set code and Collector number.";
return {formatOf, namesCards, columnsText, lacksNames};
})();
const $explore_value_slices_js = (() => {

const SLICE_MILLISECONDS = 12;
const breathe = () => new Promise((resolve) => setTimeout(resolve));
async function inSlices(items, work) {
  let since = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - since < SLICE_MILLISECONDS) continue;
    await breathe();
    since = performance.now();
  }
}
return {inSlices};
})();
const $explore_value_lines_js = (() => {
const {fold} = $explore_fold_js;
const {rows} = $explore_value_csv_js;
const {deckLine} = $explore_value_deck_list_js;
const {columnsText, formatOf, lacksNames, namesCards} = $explore_value_formats_js;
const {LIMITS, ListError} = $explore_value_list_error_js;
const {SET_CODE} = $explore_value_same_card_js;
const {inSlices} = $explore_value_slices_js;

const SEPARATORS = [";", "\t", ","];
const SEPARATOR_LINE = /^"?sep=(.)"?\r?\n/i; // what spreadsheet programs read
const WHOLE_NUMBER = /^(\d{1,6})([.,]0+)?x?$/i;
const PLAYSET = 4;
const MOST_SHOWN = 80; // characters
const [ABOUT, NAME] = [/^\s*about\s*$/i, /^\s*name\s/i]; // Arena writes the name of a deck below a heading
const MOST_COLUMNS_SHOWN = 40;
const YES = /^(x|1|true|yes|y)$/;
const UNGRADED = /^(|0|none|raw|ungraded|n\/?a)$/i;
const PRINTED_CODE = /^([a-z0-9]{2,5})-[a-z]{0,2}(\d{3}[a-z]?)$/i; // `MRD-EN017`: the set and the number in one
const FOIL_CONDITION = / (holo|reverse )?(holo)?foil$/; // `Near Mint Holofoil`
const FOIL = /^(?!non|not\b|no\b).*\b(foil|holo|holofoil|reverse|etched)\b/;
const LANGUAGES = [ // the marketplace's numbers, from 1
  "English", "French", "German", "Spanish", "Italian", "Simplified Chinese", "Japanese", "Portuguese", "Russian", "Korean",
  "Traditional Chinese",
];
const GRADES = {
  MT: ["mint", "m", "gem mint"], NM: ["near mint", "nearmint"], EX: ["excellent"], GD: ["good", "moderately played", "mp"],
  LP: ["light played", "lightly played", "lightplayed", "lightlyplayed"], PL: ["played", "heavily played", "hp", "heavilyplayed"],
  PO: ["poor", "damaged", "dmg", "d"],
};
const CODES = new Map(Object.entries(GRADES).flatMap(([code, words]) => [code.toLowerCase(), ...words].map((word) => [word, code])));
async function linesOf(text) {
  const table = tableOf(text.replace(/^\ufeff/, ""));
  const lines = [];
  let headings = 0;
  await inSlices(table.rows, (fields) => {
    if (fields === null) headings++;
    else if (fields) lines.push(...copiesOf(fields).map(line));
    if (lines.length > LIMITS.lines) throw new ListError(`The list has more than ${LIMITS.lines} lines: split it.`);
  });
  if (lines.length === 0) throw new ListError("There is no card in this list.");
  return {format: table.name, columns: table.columns, lines, headings};
}
function copiesOf(fields) {
  if (fields.foils === undefined) return [fields];
  const texts = [fields.quantity, fields.normals, fields.foils].map((text) => text?.trim() || "0");
  const [all, normals, foils] = texts.map(wholeNumber);
  const unread = texts.find((text) => Number.isNaN(wholeNumber(text)));
  if (unread) return [{...fields, quantity: unread}];
  const others = fields.normals === undefined ? all - Math.min(all, foils) : normals;
  return [{...fields, quantity: others, foil: ""}, {...fields, quantity: foils, foil: "foil"}].filter(({quantity}) => quantity > 0);
}
function tableOf(marked) {
  const [, named] = SEPARATOR_LINE.exec(marked) ?? [];
  const text = marked.replace(SEPARATOR_LINE, "").replace(/^\s*\n/, "");
  const [first] = text.slice(0, LIMITS.characters).split(/\r|\n/, 1);
  const often = SEPARATORS.toSorted((a, b) => first.split(b).length - first.split(a).length);
  const headers = (named ? [named] : often).map((separator) => [separator, rows(text, separator).next().value ?? []]);
  for (const [separator, header] of headers) {
    const format = formatOf(header);
    if (namesCards(format.at)) return {name: format.name, columns: columnsText(header, format), rows: cellRows(text, separator, format.at)};
  }
  const [[, header]] = headers;
  const isTable = looksLikeTable(text) || (header.length > 1 && Object.keys(formatOf(header).at).length > 0);
  if (isTable) throw new ListError(lacksNames(header.slice(0, MOST_COLUMNS_SHOWN).map((one) => one.slice(0, MOST_SHOWN))));
  return {name: "a plain list", columns: "", rows: plainRows(text)};
}
function looksLikeTable(text) {
  const [first, second] = text.split(/\r?\n/, 2).map((one) => one.slice(0, LIMITS.characters));
  return SEPARATORS.some((separator) => {
    const cells = first.split(separator).length;
    return cells > 2 && second?.split(separator).length === cells;
  });
}

function* cellRows(text, separator, at) {
  let header = true;
  for (const cells of rows(text, separator)) {
    if (header) header = false;
    else if (cells.every((cell) => cell.trim() === "")) yield undefined;
    else yield Object.fromEntries(Object.entries(at).map(([field, place]) => [field, cells[place]]));
  }
}

function* plainRows(text) {
  let before = "";
  for (const [one] of rows(text.replaceAll('"', ""), "")) {
    if (ABOUT.test(before) && NAME.test(one)) yield null;
    else yield one.trim() ? deckLine(one) : undefined;
    before = one;
  }
}

function line(fields) {
  const text = (name) => String(fields[name] ?? "").replace(/\s+/g, " ").trim();
  const [foil, condition] = [text("foil"), text("condition")].map(fold);
  const [, ofCode = "", inCode = ""] = PRINTED_CODE.exec(text("printed")) ?? [];
  const [code, number] = [text("code") || ofCode || (SET_CODE.test(text("set")) ? text("set") : ""), inCode || text("number")];
  const read = {
    quantity: wholeNumber(text("quantity") || "1") * (YES.test(fold(text("playset"))) ? PLAYSET : 1),
    id: idOf(text("id")), name: text("name"), set: text("set"), number,
    foil: YES.test(foil) || FOIL.test(foil) || FOIL_CONDITION.test(condition),
    condition: conditionOf(condition.replace(FOIL_CONDITION, "")) ?? text("condition"),
    language: LANGUAGES[text("language") - 1] ?? text("language"), code, scryfall: text("scryfall"), tcgplayer: text("tcgplayer"),
    grade: UNGRADED.test(text("grade")) ? "" : text("grade"),
    ...(fields.whole && fields.whole !== text("name") && {whole: fields.whole}),
  };
  if (read.id === null && !read.name && code && number) Object.assign(read, {name: `${code}/${number}`, code: ""});
  const wrong = faultOf(read, text);
  return wrong ? {...read, quantity: read.quantity || 0, wrong} : read;
}

const wholeNumber = (text) => Number(WHOLE_NUMBER.exec(text)?.[1]);
const idOf = (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null);
const conditionOf = (folded) => CODES.get(folded.replaceAll("_", " "));

function faultOf({quantity, id, name}, text) {
  if (Number.isNaN(quantity)) return `“${text("quantity").slice(0, MOST_SHOWN)}” is no quantity`;
  if (id !== null || name) return "";
  return text("id") ? `“${text("id").slice(0, MOST_SHOWN)}” is no product id` : "it has neither an id nor a name";
}
return {linesOf};
})();
const $explore_value_open_lines_js = (() => {
const {h} = $explore_dom_js;
const {count, setName} = $explore_words_js;
const {lineCell, longTable, money} = $explore_value_cells_js;
const {isAssumed, statusOf} = $explore_value_export_js;
const {cheapestFirst, pricesOf} = $explore_value_valuation_js;
function openView(lines, products, choose) {
  const [several, none] = ["several", "not found"].map((status) => lines.filter((line) => statusOf(line) === status));
  const assumed = lines.filter(isAssumed);
  return [several.length ? severalView(several, products, choose) : "",
    assumed.length ? choicesView("To check", assumed, products, choose) : "", none.length ? noneView(none) : ""];
}

function severalView(lines, products, choose) {
  const selects = new Map();
  const cheapest = (line) => cheapestFirst(line, choicesOf(line, products))[0]?.id_product ?? null;
  const all = h("button", {type: "button", onclick: () => {
    const pairs = lines.filter(({product}) => !product).map((line) => [line, cheapest(line)]);
    choose(pairs);
    for (const [line, id] of pairs) if (selects.has(line)) selects.get(line).value = id ?? "";
  }}, "Take the cheapest of each");
  return choicesView("To choose", lines, products, choose, selects, h("p", {}, all));
}

function choicesView(title, lines, products, choose, selects = new Map(), actions = "") {
  const columns = [["Line", ""], ["Quantity", "number"], ["Which one?", ""]];
  const cells = (line) => [lineCell(line), count(line.quantity), selectOf(line, products, choose, selects)];
  return h("section", {}, h("h2", {}, `${title} (${count(lines.length)})`), actions, longTable(title, columns, lines, cells));
}
const choicesOf = ({choices}, products) => choices.map((id) => products.get(id)).filter(Boolean);

function selectOf(line, products, choose, selects) {
  const options = choicesOf(line, products).map((product) => {
    const {name, set, number, card} = product;
    const text = [name, setName(set), number && `No. ${number}`, card?.rarity, money(pricesOf(line, product).price)];
    return h("option", {value: product.id_product}, text.filter(Boolean).join(" · "));
  });
  const chosen = () => choose([[line, Number(select.value) || null]]);
  const select = h("select", {"aria-label": `Which ${line.name}?`, onchange: chosen}, h("option", {value: ""}, "Choose …"), options);
  select.value = line.product ?? "";
  selects.set(line, select);
  return select;
}

const noneView = (lines) => h("section", {}, h("h2", {}, `Not found (${count(lines.length)})`),
  longTable("Not found", [["Line", ""], ["Quantity", "number"]], lines, (line) => [lineCell(line), count(line.quantity)]));
return {openView};
})();
const $explore_value_progress_js = (() => {
const {count} = $explore_words_js;

const WORDS = {lines: "Looking up lines", cards: "Loading prices"};
const byId = (id) => document.getElementById(id);

class Progress {
  #asking = null;

  constructor() {
    byId("cancel").addEventListener("click", () => this.#asking?.abort());
  }
  async during(work) {
    this.#asking?.abort();
    const asking = this.#asking = new AbortController();
    byId("progress").hidden = false;
    this.show("cards", 0, 0);
    try {
      return await work(asking.signal);
    } finally {
      if (this.#asking === asking) byId("progress").hidden = true;
    }
  }

  stop() {
    this.#asking?.abort();
  }

  show(what, done, all) {
    const bar = byId("bar-done");
    if (all) Object.assign(bar, {value: done, max: all});
    else bar.removeAttribute("value");
    byId("progress-text").textContent = all ? `${WORDS[what]}: ${count(done)} of ${count(all)}` : "One moment …";
  }
  wait(seconds) {
    byId("wait-text").textContent = seconds === null ? "" : `The limit of your key is reached: it goes on in ${seconds} s.`;
  }
}
return {Progress};
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
const $explore_value_worth_js = (() => {
const {h} = $explore_dom_js;
const {plot} = $explore_plot_js;
const {count, day, euros, percent, roundEuros} = $explore_words_js;
const {changeCell, money} = $explore_value_cells_js;
const {total} = $explore_value_valuation_js;
const {AGES, carry, hasYear, inYear, movesSince, sumOf, weekBefore, worthByWeek} = $explore_value_year_js;

const SAME_CARDS = "The same cards then and now, each at the last price that it had. Prices of earlier days are kept by the week.";
function worthView(rows, lines, catalogue, loadYear) {
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
const offersOf = ({cents, without}, found, all) => (without === found ? []
  : [fact("At the lowest offers", money(cents), " ", h("span", {class: "where"}, speaksFor(found - without, all)))]);

const cardsOf = (lines) => lines.reduce((sum, {quantity}) => sum + quantity, 0);
const speaksFor = (some, all) => (some === all ? `for all ${count(all)} cards` : `for ${count(some)} of ${count(all)} cards`);
const some = (name, cards) => (cards ? [fact(name, count(cards))] : []);
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
return {worthView};
})();
const $explore_value_main_js = (() => {
const {h} = $explore_dom_js;
const {keyForm} = $explore_key_form_js;
const {count} = $explore_words_js;
const {visitorOf} = $explore_visitor_js;
const {appraise, loadPrices, productsOf} = $explore_value_appraisal_js;
const {Catalogue} = $explore_value_catalogue_js;
const {isAssumed, toCsv} = $explore_value_export_js;
const {dearestView, listView, movesView} = $explore_value_holdings_js;
const {listInput} = $explore_value_input_js;
const {forgetList, keepList, readList} = $explore_value_kept_list_js;
const {lacksView} = $explore_value_lacks_js;
const {linesOf} = $explore_value_lines_js;
const {openView} = $explore_value_open_lines_js;
const {Progress} = $explore_value_progress_js;
const {valued} = $explore_value_valuation_js;
const {worthView} = $explore_value_worth_js;
const {hasYear} = $explore_value_year_js;

const SCOPE = "cards:read";
const SAVED_MILLISECONDS = 60_000; // a browser needs the copy until it has saved it

const byId = (id) => document.getElementById(id);
const [page, status, worth, unsettled, result] = ["value", "status", "worth", "unsettled", "result"].map(byId);
const progress = new Progress();
let catalogue = null;
let lines = readList();

function announce(text, wrong = false) {
  status.textContent = text;
  status.classList.toggle("error", wrong);
}
async function take(text, added) {
  try {
    const {format, columns, lines: found, headings} = await linesOf(text);
    byId("columns").textContent = columns;
    lines = added ? [...lines, ...found] : found;
    const said = `Read as ${format}: ${found.length === 1 ? "1 line" : `${count(found.length)} lines`}${headings ? `, and ${count(headings)} headings` : ""}.`;
    await appraiseList(said);
  } catch (error) {
    announce(error.message, true);
  }
}

async function appraiseList(said = "") {
  const [mine, asked] = [lines, catalogue];
  const kept = keepList(lines) ? "" : "The list is too large to be kept in this browser: it is gone when you leave.";
  let outcome = "";
  try {
    await progress.during((signal) => appraise(mine, asked, signal, (...how) => progress.show(...how)));
  } catch (error) {
    outcome = error.name === "AbortError" ? "Cancelled: some cards have no price yet." : error.message;
  }
  if (mine !== lines || asked !== catalogue) return; // another list took its place, or the key was forgotten
  draw();
  keepList(lines);
  announce([said, summary(), kept, outcome].filter(Boolean).join(" "), outcome !== "");
  byId("again").hidden = outcome === "";
}

function summary() {
  const matched = lines.filter(({product}) => product).length;
  const several = lines.filter(({product, choices}) => !product && choices).length;
  const assumed = lines.filter(isAssumed).length;
  return `${count(matched)} matched${assumed ? ` (${count(assumed)} as the cheapest of several)` : ""}, ${count(several)} to choose, ${count(lines.length - matched - several)} not found.${codesText()}`;
}
function codesText() {
  const coded = lines.filter(({code, product}) => code && !product).length;
  return coded && catalogue.lacksCodes
    ? ` This service knows no codes of sets, so ${coded === 1 ? "1 line has" : `${count(coded)} lines have`} a name and a number alone: its operator adds the codes with “cardpress ingest identifiers”.`
    : "";
}

function draw() {
  unsettled.replaceChildren(...openView(lines, catalogue.products, choose));
  drawResult();
}

function drawResult() {
  const asked = catalogue;
  const rows = valued(lines, asked.products);
  const save = h("button", {type: "button", onclick: () => saveCsv(rows)}, "Save as CSV");
  const lacks = () => lacksView(rows, (set) => asked.ofSet(set), announce);
  const year = () => load(() => asked.loadSeries(productsOf(lines)));
  for (const id of ["add", "delete"]) byId(id).hidden = lines.length === 0;
  worth.replaceChildren(rows.length ? worthView(rows, lines, asked, year) : "");
  result.replaceChildren(...(rows.length ? [dearestView(rows), hasYear(rows, asked) ? movesView(rows, asked) : "", lacks()] : []),
    lines.length ? listView(lines, rows, save, (ids) => asked.loadCards(ids).catch(({message}) => announce(message, true))) : "");
}
async function load(work) {
  const asked = catalogue;
  try {
    await work();
  } catch (error) {
    announce(error.message, true);
  }
  if (asked === catalogue) drawResult(); // else the key was forgotten
}
async function choose(pairs) {
  for (const [line, id] of pairs) Object.assign(line, {product: id ?? undefined, why: id ? undefined : line.why});
  keepList(lines);
  announce(summary());
  await load(() => loadPrices(lines, catalogue));
}

function saveCsv(rows) {
  const link = h("a", {href: URL.createObjectURL(new Blob([toCsv(lines, rows)], {type: "text/csv"})), download: "my-cards.csv"});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MILLISECONDS);
}

function forget() {
  progress.stop();
  forgetList();
  lines = [];
  byId("list").value = "";
  byId("again").hidden = true;
  byId("columns").textContent = "";
  draw();
  announce("Your list is deleted from this browser.");
}
async function enter(key) {
  const visitor = await visitorOf(key, (seconds) => progress.wait(seconds));
  const [api, me] = [visitor.api, await visitor.me];
  if (!me.scopes.includes(SCOPE)) throw new Error(`The key “${me.name}” may not read cards: it lacks the scope ${SCOPE}.`);
  catalogue = new Catalogue(api);
  page.hidden = false;
  byId("list").focus();
  if (lines.length) appraiseList();
  return me.name;
}

function leave() {
  progress.stop();
  catalogue = null;
  page.hidden = true;
  for (const place of [worth, unsettled, result]) place.replaceChildren();
  announce("");
}

listInput((text, added) => catalogue && take(text, added), (error) => announce(error.message, true));
byId("delete").addEventListener("click", forget);
byId("again").addEventListener("click", () => appraiseList());
keyForm(enter, leave);
return {};
})();
