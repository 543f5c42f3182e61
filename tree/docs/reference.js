const $docs_code_js = (() => {

const NUMBER = /(\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/;
const JSON_PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/g;
function parts(comment, text, words) {
  const word = new RegExp(`(?<![-\\w$.])(${words})(?![-\\w])`);
  return new RegExp([comment, text, word, NUMBER].map(({source}) => source).join("|"), "gm");
}

const PARTS = {
  py: parts(/((?<!\S)#.*$)/, /([a-z]{0,2}"""[^]*?"""|\b[a-z]{0,2}"(?:[^"\\\n]|\\.)*"|\b[a-z]{0,2}'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/,
    "False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield"),
  mjs: parts(/((?<![:\w])\/\/.*$|\/\*[^]*?\*\/)/, /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/,
    "async|await|const|else|export|false|for|from|function|if|import|let|new|null|of|return|throw|true|while|yield"),
  sh: parts(/((?<!\S)#.*$)/, /("(?:[^"\\]|\\.)*"|'[^']*')/, "case|curl|do|done|elif|else|esac|exit|export|fi|for|if|in|set|then|while"),
  sql: parts(/(--.*$)/, /('[^']*')/, "ATTACH|AS|AT|BY|CREATE|FROM|GROUP|JOIN|ON|ORDER|SECRET|SELECT|WHERE"),
};
function colour(node, pattern, kindOf) {
  const text = node.textContent;
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    const kind = kindOf(found);
    const length = kind === "name" ? found[1].length : found[0].length;
    parts.push(text.slice(at, found.index), span(kind, found[0].slice(0, length)), found[0].slice(length));
    at = found.index + found[0].length;
  }
  node.replaceChildren(...parts, text.slice(at));
}

function span(kind, text) {
  const node = document.createElement("span");
  node.className = `code-${kind}`;
  node.textContent = text;
  return node;
}

const jsonKind = ([, text, colon, word]) => (colon ? "name" : text ? "text" : word ? "word" : "number");
const codeKind = ([, comment, text, word]) => (comment ? "comment" : text ? "text" : word ? "word" : "number");

const NAMES = {python: "py", javascript: "mjs", console: "sh"}; // of languages in Markdown
function colourCode(node) {
  node.dataset.language = NAMES[node.dataset.language] ?? node.dataset.language;
  if (node.dataset.language === "json") colour(node, JSON_PARTS, jsonKind);
  else if (PARTS[node.dataset.language]) colour(node, PARTS[node.dataset.language], codeKind);
}
function addCopyButton(pre) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.ariaLabel = `Copy: ${pre.ariaLabel ?? "code"}`;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(pre); // without access to the clipboard: select, for Ctrl-C
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  const frame = document.createElement("div");
  frame.className = "copies";
  pre.replaceWith(frame);
  frame.append(pre, button);
}
function dressCode() {
  for (const place of document.querySelectorAll(".origin")) place.replaceWith(location.origin);
  for (const node of document.querySelectorAll("code[data-language]")) colourCode(node);
  for (const pre of document.querySelectorAll("pre.code")) addCopyButton(pre);
}
return {colourCode, addCopyButton, dressCode};
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
const $docs_home_js = (() => {
const {colourCode, dressCode} = $docs_code_js;
const {keepKey, readKey} = $docs_key_js;
const {showKey} = $docs_menu_js;

const byId = (id) => document.getElementById(id);
const [form, input, state, forget] = ["key-form", "key", "key-state", "forget"].map(byId);
const INVITATION = state?.textContent; // a page without the form shows the key alone
let name = ""; // of the key in use

const ask = (url, key) => fetch(url, {
  headers: {Authorization: `Bearer ${key}`}, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
});

function show(text, wrong = false) {
  showKey(name);
  if (state) {
    state.textContent = text;
    state.classList.toggle("error", wrong);
  }
  for (const run of document.querySelectorAll(".run")) run.hidden = readKey() === "";
}
async function enter(key) {
  try {
    const answer = await ask("/api/v1/me", key);
    const body = await answer.json();
    if (!answer.ok) return show(body.error.message, true);
    keepKey(key);
    if (input) input.value = "";
    name = body.name;
    show(`The key “${name}” is in use until you close this tab: ${body.rate_limit} requests a minute.`);
  } catch (error) {
    show(`No answer: ${error.message}`, true);
  }
}

async function run(article) {
  const [said, details] = [article.querySelector(".run span"), article.querySelector("details")];
  const started = performance.now();
  said.textContent = "…";
  try {
    const answer = await ask(article.dataset.url, readKey());
    const body = await answer.json();
    said.textContent = `${answer.status} ${answer.statusText} in ${Math.round(performance.now() - started)} ms`;
    const code = details.querySelector("code");
    code.textContent = JSON.stringify(body, null, 2);
    colourCode(code);
    details.open = true;
  } catch (error) {
    said.textContent = `No answer: ${error.message}`;
  }
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  enter(input.value.trim());
});
forget.addEventListener("click", () => {
  keepKey("");
  name = "";
  show(INVITATION);
  input?.focus();
});
for (const article of document.querySelectorAll(".request")) {
  article.querySelector(".run button").addEventListener("click", () => run(article));
}
dressCode();
fetch("/healthz", {credentials: "omit", referrerPolicy: "no-referrer"}).then((answer) => answer.json()).then(({guests}) => {
  if (guests && byId("key-need")) byId("key-need").textContent = `Without a key you may ask ${Number(guests).toLocaleString("en")} times a minute. A key adds downloads, the scanner and a limit of your own.`;
}).catch(() => {}); // a tree has no such path, and no guests
form?.classList.remove("later");
show(INVITATION);
if (readKey()) enter(readKey());
addEventListener("newkey", () => enter(readKey()));
return {};
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
const $docs_search_js = (() => {
const {h} = $explore_dom_js;

const MOST_RESULTS = 12;
const SYNONYMS = {
  "cors": "browsers", "cross-origin": "browsers", "origin": "browsers", "autocomplete": "completion", "typeahead": "completion",
  "suggest": "completion", "sdk": "openapi", "client": "openapi", "swagger": "openapi", "webhook": "alert", "notify": "alert",
  "notification": "alert", "collection": "worth", "portfolio": "worth", "excel": "spreadsheet", "csv": "spreadsheet",
  "throttle": "rate", "throttling": "rate", "quota": "rate", "429": "rate", "auth": "key", "token": "key", "login": "key",
  "pagination": "paging", "cursor": "paging", "dump": "mirror", "export": "files", "etag": "caching", "many": "list", "history": "days",
};
const SILENT = new Set(["a", "an", "and", "for", "how", "in", "of", "the", "to", "with"]);

const [search, found] = ["search", "found"].map((id) => document.getElementById(id));
let places = null; // a promise of all places

const known = () => places ??= fetch("/docs/search.json").then((answer) => answer.json()).then((rows) => rows.map(([name, where, href, text]) =>
  ({name, where, href, named: `${name} ${where}`.toLowerCase(), text: ` ${text.toLowerCase().replace(/\W+/g, " ")}`})));
function rank({name, named, text}, words) {
  if (name.toLowerCase() === words.join(" ")) return 0;
  if (words.every((word) => named.includes(word))) return named.startsWith(words[0]) ? 1 : 2;
  const said = (word) => named.includes(word) || text.includes(` ${word}`);
  if (words.every((word) => named.includes(SYNONYMS[word] ?? word))) return 3;
  return words.every((word) => said(word) || said(SYNONYMS[word] ?? word)) ? 4 : Infinity;
}

async function showFound() {
  const all = await known();
  const typed = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const words = typed.some((word) => !SILENT.has(word)) ? typed.filter((word) => !SILENT.has(word)) : typed;
  const ranked = words.length === 0 ? [] : all.map((place) => [rank(place, words), place]).filter(([order]) => order < Infinity);
  const hits = ranked.sort(([a], [b]) => a - b).map(([, place]) => place);
  found.replaceChildren(...hits.slice(0, MOST_RESULTS).map(({name, where, href}) => h("li", {},
    h("a", {href}, h("b", {}, name), where ? ` ${where}` : ""))));
  if (words.length > 0 && hits.length === 0) found.append(h("li", {class: "none"}, "Nothing found."));
  found.hidden = words.length === 0;
}

search.addEventListener("input", showFound);
search.addEventListener("keydown", (event) => {
  const act = {Enter: "click", ArrowDown: "focus"}[event.key];
  if (!act) return;
  event.preventDefault();
  showFound().then(() => found.querySelector("a")?.[act]());
});
found.addEventListener("keydown", (event) => {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (!step) return;
  const links = [...found.querySelectorAll("a")];
  (links[links.indexOf(document.activeElement) + step] ?? search).focus();
  event.preventDefault();
});
const closeFound = () => { search.value = ""; showFound(); };
found.addEventListener("click", closeFound);
search.addEventListener("focus", showFound);
addEventListener("pointerdown", ({target}) => { if (!search.parentElement.contains(target)) found.hidden = true; });
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !found.hidden) { closeFound(); search.focus(); }
  const slash = event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
  if (!slash && !(event.key === "k" && (event.ctrlKey || event.metaKey))) return;
  event.preventDefault();
  search.focus();
});
search.parentElement.classList.remove("later");
async function goToPlace() {
  const id = decodeURIComponent(location.hash.slice(1));
  if (!id || document.getElementById(id)) return;
  const place = (await known()).find(({href}) => href.endsWith(`#${id}`));
  if (place) location.replace(place.href);
}

addEventListener("hashchange", goToPlace);
goToPlace();
return {};
})();
const $docs_reference_js = (() => {
const {addCopyButton, colourCode} = $docs_code_js;
const {keepKey, readKey} = $docs_key_js;

const MOST_SHOWN_CHARACTERS = 200_000;
function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}
function target(path, inputs) {
  const query = new URLSearchParams();
  for (const {name, place, input} of inputs) {
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(input.value));
    else if (input.value !== "") query.append(name, input.value);
  }
  return query.size ? `${path}?${query}` : path;
}

function inputOf({choices, example, filled, in: place}) {
  const properties = {required: place === "path", autocomplete: "off", spellcheck: false};
  if (!choices) return element("input", {...properties, type: "text", value: place === "path" ? example : filled, placeholder: example});
  const select = element("select", properties, new Option("", ""), ...choices.split(" ").map((choice) => new Option(choice)));
  select.value = filled;
  return select;
}

function keyInput() {
  const input = element("input", {type: "password", value: readKey(), autocomplete: "off", spellcheck: false, className: "key"});
  input.addEventListener("input", () => {
    keepKey(input.value.trim());
    for (const other of document.querySelectorAll("input.key")) if (other !== input) other.value = input.value;
  });
  return input;
}

addEventListener("newkey", () => { for (const input of document.querySelectorAll("input.key")) input.value = readKey(); });

const pretty = (text) => {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
};

async function ask(url, isPublic) {
  const key = readKey();
  const headers = key && !isPublic ? {Authorization: `Bearer ${key}`} : {};
  const started = performance.now();
  const answer = await fetch(url, {headers, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer"});
  const text = await answer.text();
  return {answer, text, took: Math.round(performance.now() - started)};
}

function shown(url, {answer, text, took}) {
  const body = pretty(text);
  const cut = body.length > MOST_SHOWN_CHARACTERS ? `${body.slice(0, MOST_SHOWN_CHARACTERS)}\n… cut: ${body.length} characters in all` : body;
  const code = element("code", {}, cut);
  code.dataset.language = "json";
  colourCode(code);
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  return [
    element("p", {className: "result"}, element("strong", {}, `${answer.status} ${answer.statusText}`), ` in ${took} ms, `,
      element("code", {}, url)),
    element("pre", {className: "code", role: "group", tabIndex: 0, ariaLabel: "Body of the answer"}, code),
    element("details", {}, element("summary", {}, "Headers of the answer"),
      element("pre", {className: "code", role: "group", tabIndex: 0, ariaLabel: "Headers of the answer"}, element("code", {}, headers))),
  ];
}

function form(article, output) {
  const isPublic = "public" in article.dataset;
  const inputs = [...article.querySelectorAll("[data-in]")].map(({dataset}) =>
    ({name: dataset.name, place: dataset.in, input: inputOf(dataset)}));
  const labels = inputs.map(({name, input}) => element("label", {}, element("span", {}, name), input));
  if (!isPublic) labels.unshift(element("label", {}, element("span", {}, "API key"), keyInput()));
  const send = element("button", {className: "first", type: "submit"}, "Send");
  const node = element("form", {autocomplete: "off", ariaLabel: `Try: ${article.dataset.title}`}, ...labels, send);
  if (!isPublic) node.append(element("p", {className: "note"}, "The key lasts until you close this tab, and is sent to this host only."));
  node.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    const url = target(article.dataset.path, inputs);
    try {
      output.replaceChildren(...shown(url, await ask(url, isPublic)));
      output.querySelectorAll("pre").forEach(addCopyButton);
      output.scrollIntoView({block: "nearest"});
    } catch (error) {
      output.replaceChildren(element("p", {className: "result"}, `No answer: ${error.message}`));
    }
    send.disabled = false;
  });
  return node;
}

for (const article of document.querySelectorAll(".endpoint")) {
  const place = article.querySelector(".try");
  if (!place) continue; // a file is no text to show
  const output = element("div", {ariaLive: "polite"});
  const button = element("button", {type: "button", ariaExpanded: "false"}, "Try it");
  let panel = null;
  button.addEventListener("click", () => {
    if (!panel) button.after(panel = element("div", {hidden: true}, form(article, output), output));
    panel.hidden = !panel.hidden;
    button.ariaExpanded = String(!panel.hidden);
    if (!panel.hidden) panel.querySelector("input, select, button").focus();
  });
  place.append(button);
}
for (const code of document.querySelectorAll('.prose code[class^="language-"]')) {
  code.dataset.language = code.className.slice("language-".length);
  code.textContent = code.textContent.trimEnd().replaceAll(/https:\/\/api\.example\.com/g, location.origin);
  colourCode(code);
  Object.assign(code.parentElement, {className: "code", tabIndex: 0});
  addCopyButton(code.parentElement);
}
for (const name of document.querySelectorAll("main :is(h2, h3)[id], main [id] > :is(dt, th) > code")) {
  const link = element("a", {className: "anchor", href: `#${name.closest("[id]").id}`});
  link.append(...name.childNodes);
  name.append(link);
}
const contents = document.querySelector(".contents");
if (matchMedia("(max-width: 56rem)").matches) contents.querySelector("details").open = false;
contents.classList.remove("unready");
const entries = [...contents.querySelectorAll('a[href^="#"]')].map((link) => ({link, place: document.getElementById(link.hash.slice(1))}));
const first = {link: contents.querySelector('[aria-current="page"]')};
let marked = null;
function mark() {
  const line = Math.min(innerHeight * 0.3, 240);
  const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  const {link} = atEnd ? entries.at(-1) ?? first : entries.findLast(({place}) => place.getBoundingClientRect().top <= line) ?? first;
  if (link === marked) return;
  if (marked && marked !== first.link) marked.ariaCurrent = null;
  marked = link;
  if (link !== first.link) link.ariaCurrent = "location";
  const [box, frame] = [link.getBoundingClientRect(), contents.getBoundingClientRect()];
  if (box.top < frame.top || box.bottom > frame.bottom) contents.scrollTop += box.top - frame.top - frame.height / 2;
}
let waiting = false;
const markSoon = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; mark(); });
};
for (const event of ["scroll", "resize", "hashchange"]) addEventListener(event, markSoon, {passive: true});
mark();
return {};
})();
