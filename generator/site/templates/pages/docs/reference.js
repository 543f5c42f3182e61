// The script of the reference: forms that try an endpoint, the search, and the mark in the contents.
import {colourCode} from "./code.js";
import "./home.js";
import {keepKey, readKey} from "./key.js";

const MOST_SHOWN = 200_000;
const MOST_FOUND = 12;

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
  const cut = body.length > MOST_SHOWN ? `${body.slice(0, MOST_SHOWN)}\n… cut: ${body.length} characters in all` : body;
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

// The search: headings, endpoints, parameters, resources and fields.
const [search, found] = ["search", "found"].map((id) => document.getElementById(id));
const places = [];
for (const heading of document.querySelectorAll("main :is(h1, h2, h3)[id]")) places.push([heading.textContent, "", heading.id]);
for (const article of document.querySelectorAll(".endpoint, .resource")) {
  const {id, textContent} = article.querySelector("h3");
  if (article.dataset.path) places.push([article.dataset.path, textContent, id]);
  for (const name of article.querySelectorAll("dt > code, tbody th > code")) places.push([name.textContent, textContent, id]);
}

function showFound() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length === 0 ? [] : places.filter(([name, where]) => words.every((word) => `${name} ${where}`.toLowerCase().includes(word)));
  const rank = ([name]) => (name.toLowerCase() === words.join(" ") ? 0 : name.toLowerCase().startsWith(words[0]) ? 1 : 2);
  hits.sort((a, b) => rank(a) - rank(b));
  found.replaceChildren(...hits.slice(0, MOST_FOUND).map(([name, where, id]) => element("li", {},
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
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !found.hidden) { closeFound(); search.focus(); }
  if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
  event.preventDefault();
  search.focus();
});
search.parentElement.hidden = false;
