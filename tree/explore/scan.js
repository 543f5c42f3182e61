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
const $explore_sample_js = (() => {
const SIDE = 900;
const [WIDE, TALL] = [460, 643]; // of the card
const TABLES = [["#8a6f52", "#5e4833"], ["#5f7a6b", "#35493f"], ["#6d7482", "#3b404b"]]; // lit, and in the shade

const some = (choices) => choices[Math.floor(Math.random() * choices.length)];
async function samplePhoto(pictures) {
  const image = new Image(WIDE, TALL);
  image.src = some(pictures);
  await image.decode().catch(() => { throw new Error("The sample picture did not load. Try again."); });
  const canvas = Object.assign(document.createElement("canvas"), {width: SIDE, height: SIDE});
  const pen = canvas.getContext("2d");
  drawTable(pen);
  pen.translate(SIDE / 2, SIDE / 2);
  pen.rotate((Math.random() < 0.5 ? -1 : 1) * (0.15 + 0.6 * Math.random()));
  pen.drawImage(image, -WIDE / 2, -TALL / 2, WIDE, TALL);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
}

function drawTable(pen) {
  const light = pen.createLinearGradient(0, 0, SIDE, SIDE);
  some(TABLES).forEach((colour, at) => light.addColorStop(at, colour));
  pen.fillStyle = light;
  pen.fillRect(0, 0, SIDE, SIDE);
}
return {samplePhoto};
})();
const $explore_scan_js = (() => {
const {Api} = $explore_api_js;
const {h, picture} = $explore_dom_js;
const {keyForm} = $explore_key_form_js;
const {samplePhoto} = $explore_sample_js;
const {count, euros, setName} = $explore_words_js;

const WORKER = "/explore/scan-worker.js";
const SCOPE = "fingerprints:read";
const CLOSE = 10; // a second that is less farther than the first may be the right card: the same artwork, as a rule
const SURE = 20; // nearer, and without a close second, it is hardly ever another card
const FAR = 45; // a card that is farther is probably another one
const SURENESS = [[30, "Likely"], [FAR, "Maybe"], [Infinity, "Probably another card"]];
const MOST_PRODUCTS = 4; // of an entry
const PREVIEW_PIXELS = 640;

const byId = (id) => document.getElementById(id);
const [scanner, status, drop, answer, sample] = ["scanner", "status", "drop", "answer", "sample"].map(byId);
let api = null;
let scopes = [];
let worker = null;
let latest = 0; // the number of the newest photo: results of older ones are not shown

function announce(text, wrong = false) {
  status.textContent = text;
  status.className = wrong ? "status error" : "status";
}
function startWorker(key) {
  const policy = startWorker.policy ??= globalThis.trustedTypes?.createPolicy("cardpress-worker", {createScriptURL: () => WORKER});
  worker?.terminate();
  worker = new Worker(policy ? policy.createScriptURL(WORKER) : WORKER, {type: "module"});
  worker.addEventListener("message", ({data}) => received[data.type](data));
  worker.addEventListener("error", (event) => { event.preventDefault(); announce("The scanner could not start: load the page again.", true); });
  worker.postMessage({key});
}

const received = {
  index({entries, pictures}) {
    byId("index-size").textContent = `It knows ${count(entries)} pictures of cards.`;
    sample.hidden = pictures.length === 0;
    sample.pictures = pictures;
  },
  waiting({seconds}) {
    announce(seconds === null ? "One moment …" : `The rate limit is reached: waiting ${seconds} s.`);
  },
  wrong({number, message}) {
    if (number === 0) drop.replaceChildren(status, h("p", {}, h("a", {href: "/explore"}, "Look the card up by its name"))); // no index, no pictures
    if (number === 0 || number === latest) announce(message, true);
  },
  async result(result) {
    if (result.number !== latest) return result.photo.close();
    showPhoto(result);
    const products = await productsOf(result.matches);
    if (result.number === latest) showMatches(result, products);
  },
};

function recognise(file) {
  if (!file || !worker) return;
  latest++;
  answer.hidden = true;
  announce("One moment …");
  worker.postMessage({number: latest, file});
}
async function productsOf(matches) {
  const ids = matches.flatMap(({products}) => products.slice(0, MOST_PRODUCTS));
  if (ids.length === 0 || !scopes.includes("cards:read")) return new Map();
  try {
    const [{data}] = await api.get("cards", {ids: [...new Set(ids)].join(",")});
    return new Map(data.map((product) => [product.id_product, product]));
  } catch (error) {
    byId("caption").append(` No prices: ${error.message}`);
    return new Map();
  }
}
function showPhoto({photo, outline}) {
  const canvas = byId("photo");
  const scale = Math.min(1, PREVIEW_PIXELS / Math.max(photo.width, photo.height));
  [canvas.width, canvas.height] = [Math.round(photo.width * scale), Math.round(photo.height * scale)];
  const pen = canvas.getContext("2d");
  pen.drawImage(photo, 0, 0, canvas.width, canvas.height);
  photo.close();
  if (outline) {
    pen.beginPath();
    for (const [x, y] of outline) pen.lineTo(x * scale, y * scale);
    pen.closePath();
    for (const [colour, width] of [["#000", 6], ["#ff0", 3]]) {
      Object.assign(pen, {strokeStyle: colour, lineWidth: width, lineJoin: "round"}).stroke();
    }
  }
  byId("caption").textContent = outline ? "The outline of the card." : "No outline: the whole photo was compared.";
}

function showMatches({matches, milliseconds}, products) {
  const [first] = matches;
  const close = matches.map(({distance}) => distance - first.distance < CLOSE);
  const seconds = close.filter(Boolean).length - 1;
  byId("matches").replaceChildren(...matches.map((match, at) => matchItem(match, seconds === 0, at > 0 && close[at], products)));
  answer.hidden = false;
  byId("caption").append(` It took ${count(Math.round(milliseconds))} ms.`);
  if (first.distance > FAR) return announce("No card looks like this one. The index probably does not have it.");
  const others = seconds === 1 ? "Another card looks" : `${seconds} other cards look`;
  announce(`${sureness(first.distance, seconds === 0)}: ${nameAndPrice(first, products)}.${seconds ? ` ${others} nearly the same: compare the pictures.` : ""}`);
  status.classList.add("found");
}
function nameAndPrice({key, products: ids}, products) {
  const product = ids.map((id) => products.get(id)).find(Boolean);
  return product ? `${product.name}, ${priceOf(product)}` : key;
}
const sureness = (distance, alone) => (alone && distance <= SURE ? "Very sure" : SURENESS.find(([most]) => distance <= most)[1]);

function matchItem({key, distance, products: ids, image}, alone, second, products) {
  const known = ids.map((id) => products.get(id)).filter(Boolean);
  const more = ids.length - known.length;
  return h("li", {class: "match"},
    picture(known[0]?.image ?? image, known[0] ?? {name: key}),
    h("div", {},
      known.map((product) => h("div", {class: "card-line"},
        h("p", {class: "name"}, h("a", {href: `/explore#/cards/${product.id_product}`}, product.name)),
        h("p", {class: "where"}, [setName(product.set), product.number && `No. ${product.number}`, product.rarity].filter(Boolean).join(", ")),
        h("p", {class: "price"}, priceOf(product)))),
      known.length === 0 && h("p", {class: "name"}, key),
      more > 0 && h("p", {class: "where"}, known.length ? `and ${count(more)} more` : `Products ${ids.slice(0, MOST_PRODUCTS).join(", ")}`),
      h("p", {class: "sureness"}, h("b", {}, sureness(distance, alone)), " ",
        h("span", {class: "where", title: "How much the pictures differ. 0: not at all. More than 45: it is probably another card."},
          `difference ${distance.toFixed(1)}`)),
      second && h("p", {class: "second"}, "It looks nearly the same: compare the pictures")));
}

function priceOf({price_guide: guide, filtered_price: filtered}) {
  const price = guide?.trend ?? filtered?.lowest ?? null;
  return price === null ? "No price yet" : euros(price);
}
async function enter(key) {
  if (!key) throw Object.assign(new Error(""), {status: 401}); // guests may not read the index
  const client = new Api(key, (seconds) => received.waiting({seconds}));
  const [me] = await client.get("me");
  if (!me.scopes.includes(SCOPE)) throw new Error(`The key “${me.name}” may not read the index: it lacks the scope ${SCOPE}.`);
  [api, scopes] = [client, me.scopes];
  scanner.hidden = drop.hidden = false;
  startWorker(key);
  byId("file").focus();
  return me.name;
}

function leave() {
  worker?.terminate();
  [api, worker, latest] = [null, null, latest + 1];
  announce("");
  [answer.hidden, scanner.hidden, sample.hidden] = [true, true, true];
}

for (const id of ["file", "camera"]) {
  byId(id).addEventListener("change", ({target}) => {
    recognise(target.files[0]);
    target.value = ""; // the same file may be chosen again
  });
}

sample.addEventListener("click", async () => {
  sample.disabled = true;
  try {
    recognise(await samplePhoto(sample.pictures));
  } catch (error) {
    announce(error.message, true);
  }
  sample.disabled = false;
});

const imageOf = (transfer) => [...(transfer?.files ?? [])].find(({type}) => type.startsWith("image/"));
addEventListener("paste", (event) => recognise(imageOf(event.clipboardData)));
addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
addEventListener("dragleave", () => drop.classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  recognise(imageOf(event.dataTransfer));
});

keyForm(enter, leave);
return {};
})();
