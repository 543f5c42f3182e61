// The script of the reference: forms that try an endpoint, the search, and the mark in the contents.
import {addCopyButton, colourCode} from "./code.js";
import "./home.js";
import {keepKey, readKey} from "./key.js";

const MOST_SHOWN_CHARACTERS = 200_000;
const MOST_RESULTS = 12;
// What people call things, and what the reference calls them. Words that say nothing are left out.
const SYNONYMS = {
  "cors": "browsers", "cross-origin": "browsers", "origin": "browsers", "autocomplete": "completion", "typeahead": "completion",
  "suggest": "completion", "sdk": "openapi", "client": "openapi", "swagger": "openapi", "webhook": "alert", "notify": "alert",
  "notification": "alert", "collection": "worth", "portfolio": "worth", "excel": "spreadsheet", "csv": "spreadsheet",
  "throttle": "rate", "throttling": "rate", "quota": "rate", "429": "rate", "auth": "key", "token": "key", "login": "key",
  "pagination": "paging", "cursor": "paging", "dump": "mirror", "export": "files", "etag": "caching", "many": "list", "history": "days",
};
const SILENT = new Set(["a", "an", "and", "for", "how", "in", "of", "the", "to", "with"]);
const OTHER_PLACES = "h1, h2, h3, h4, article, .fields, .scroll[role]";

/** An element with properties and children. */
function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** Return the URL of a form: the path with its parameters, and a query of the other fields that are not empty. */
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
    element("pre", {className: "code", tabIndex: 0, ariaLabel: "Body of the answer"}, code),
    element("details", {}, element("summary", {}, "Headers of the answer"),
      element("pre", {className: "code", tabIndex: 0, ariaLabel: "Headers of the answer"}, element("code", {}, headers))),
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
  place.hidden = false;
}

document.querySelector("#origin").textContent = location.origin;

// The code of the guide has no class, since it comes from Markdown.
for (const code of document.querySelectorAll('.prose code[class^="language-"]')) {
  code.dataset.language = code.className.slice("language-".length);
  code.textContent = code.textContent.trimEnd().replaceAll(/https:\/\/api\.example\.com/g, location.origin);
  colourCode(code);
  Object.assign(code.parentElement, {className: "code", tabIndex: 0});
  addCopyButton(code.parentElement);
}

// Each heading and each name of a field is a link to itself, so that you can copy its address.
for (const name of document.querySelectorAll("main :is(h2, h3)[id], main [id] > :is(dt, th) > code")) {
  const link = element("a", {className: "anchor", href: `#${name.closest("[id]").id}`});
  link.append(...name.childNodes);
  name.append(link);
}

// The contents are closed at first on a small screen. The entry of the section that is in view is marked.
const contents = document.querySelector(".contents");
if (matchMedia("(max-width: 56rem)").matches) contents.querySelector("details").open = false;
const entries = [...contents.querySelectorAll("a")].map((link) => ({link, place: document.getElementById(link.hash.slice(1))}));
let marked = null;

/** Mark the last section that begins above a line near the top. Positions are read anew, so no speed of scrolling skips one. */
function mark() {
  const line = Math.min(innerHeight * 0.3, 240);
  const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  const {link} = atEnd ? entries.at(-1) : entries.findLast(({place}) => place.getBoundingClientRect().top <= line) ?? entries[0];
  if (link === marked) return;
  if (marked) marked.ariaCurrent = null;
  marked = link;
  link.ariaCurrent = "location";
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

// The search: headings, endpoints, parameters, resources and fields, by name and by what the reference says about them.
const [search, found] = ["search", "found"].map((id) => document.getElementById(id));
const places = [];

/** Return the text from a heading to the next heading, article or table of fields, which are places of their own. */
function textBelow(heading) {
  const texts = [];
  for (let node = heading.nextElementSibling; node && !node.matches(OTHER_PLACES); node = node.nextElementSibling) texts.push(node.textContent);
  return texts.join(" ");
}

function addPlace(name, where, id, text) {
  places.push({name, where, id, named: `${name} ${where}`.toLowerCase(), text: ` ${text.toLowerCase().replace(/\W+/g, " ")}`});
}

for (const heading of document.querySelectorAll("main :is(h1, h2, h3)[id]")) addPlace(heading.textContent, "", heading.id, textBelow(heading));
for (const article of document.querySelectorAll(".endpoint, .resource, .headers")) {
  const {id, textContent} = article.querySelector("h2, h3");
  if (article.dataset.path) addPlace(article.dataset.path, textContent, id, "");
  for (const row of article.querySelectorAll(".fields [id]")) addPlace(row.querySelector("code").textContent, textContent, row.id, row.textContent);
}

/** Return how well a place fits the words, 0 is best: its name, the start of its name, any part of it, or only its text. */
function rank({name, named, text}, words) {
  if (name.toLowerCase() === words.join(" ")) return 0;
  if (words.every((word) => named.includes(word))) return named.startsWith(words[0]) ? 1 : 2;
  const said = (word) => named.includes(word) || text.includes(` ${word}`);
  if (words.every((word) => named.includes(SYNONYMS[word] ?? word))) return 3;
  return words.every((word) => said(word) || said(SYNONYMS[word] ?? word)) ? 4 : Infinity;
}

function showFound() {
  const typed = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const words = typed.some((word) => !SILENT.has(word)) ? typed.filter((word) => !SILENT.has(word)) : typed;
  const ranked = words.length === 0 ? [] : places.map((place) => [rank(place, words), place]).filter(([order]) => order < Infinity);
  const hits = ranked.sort(([a], [b]) => a - b).map(([, place]) => place);
  found.replaceChildren(...hits.slice(0, MOST_RESULTS).map(({name, where, id}) => element("li", {},
    element("a", {href: `#${id}`}, element("b", {}, name), where ? ` ${where}` : ""))));
  if (words.length > 0 && hits.length === 0) found.append(element("li", {className: "none"}, "Nothing found."));
  found.hidden = words.length === 0;
}

search.addEventListener("input", showFound);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") found.querySelector("a")?.click();
  if (event.key === "ArrowDown") found.querySelector("a")?.focus();
  if (["Enter", "ArrowDown"].includes(event.key)) event.preventDefault();
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
search.parentElement.hidden = false;
