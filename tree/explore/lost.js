// What a visitor reads where there is nothing to show: a sentence, what to do, a link.
import {h} from "./dom.js";
import {GUEST} from "./visitor.js";
import {sentence} from "./words.js";

const LONGEST_QUERY = 100; // characters, of the API
const READABLE = {
  "cards:read": ["#/cards", "Cards"], "watchlist:read": ["#/watchlist", "Watchlist"], "bulk:read": ["#/downloads", "Downloads"],
  "fingerprints:read": ["/explore/scan", "Scan a card"],
};
const link = ([href, text]) => h("a", {href}, text);

/** A page for an address that leads nowhere, with a search. */
export function lost(heading) {
  const words = h("input", {type: "search", maxlength: LONGEST_QUERY, "aria-label": "Find a card", placeholder: "Name, set, number"});
  const search = (event) => {
    event.preventDefault();
    location.hash = `#/cards?${new URLSearchParams({q: words.value.trim()})}`;
  };
  return h("section", {class: "lost"}, h("h2", {tabindex: "-1"}, heading),
    h("form", {role: "search", onsubmit: search}, words, h("button", {class: "first"}, "Search")),
    h("p", {}, link(["#/cards", "All cards"])));
}

/** A page for someone who may not read a view, with links to what this key, or a guest, may read. */
export function denied(error, scopes) {
  const guest = scopes === GUEST.scopes;
  const others = scopes.filter((scope) => READABLE[scope]).flatMap((scope, at) => [at > 0 && ", ", link(READABLE[scope])]);
  return h("section", {class: "lost"}, h("h2", {tabindex: "-1"}, guest ? "This needs a key" : "Your key may not read this"),
    h("p", {}, `${sentence(error.message)}.`),
    h("p", {}, others.length > 0 && [guest ? "Open to all: " : "It may read: ", ...others, ". "], link(["/#key-title", `How to get ${guest ? "a" : "another"} key`])));
}
