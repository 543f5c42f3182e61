// The search of the reference, over all its pages: headings, endpoints, parameters, resources and fields, by name and by what
// is said about them. An address of the time when the reference was one page leads to the place's page.
import {h} from "../explore/dom.js";

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

const [search, found] = ["search", "found"].map((id) => document.getElementById(id));
let places = null; // a promise of all places

const known = () => places ??= fetch("/docs/search.json").then((answer) => answer.json()).then((rows) => rows.map(([name, where, href, text]) =>
  ({name, where, href, named: `${name} ${where}`.toLowerCase(), text: ` ${text.toLowerCase().replace(/\W+/g, " ")}`})));

/** Return how well a place fits the words, 0 is best: its name, the start of its name, any part of it, or only its text. */
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

/** Go to the page of a place that this page lacks. */
async function goToPlace() {
  const id = decodeURIComponent(location.hash.slice(1));
  if (!id || document.getElementById(id)) return;
  const place = (await known()).find(({href}) => href.endsWith(`#${id}`));
  if (place) location.replace(place.href);
}

addEventListener("hashchange", goToPlace);
goToPlace();
