// The script of the reference: forms that try an endpoint, and the mark in the contents.
import {addCopyButton, colourCode} from "./code.js";
import "./home.js";
import {keepKey, readKey} from "./key.js";
import "./search.js";

const MOST_SHOWN_CHARACTERS = 200_000;

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
contents.classList.remove("unready");
const entries = [...contents.querySelectorAll('a[href^="#"]')].map((link) => ({link, place: document.getElementById(link.hash.slice(1))}));
const first = {link: contents.querySelector('[aria-current="page"]')};
let marked = null;

/** Mark the last section that begins above a line near the top. Positions are read anew, so no speed of scrolling skips one. */
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
