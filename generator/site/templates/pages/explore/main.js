// The explorer: it asks for the key, then shows the view that the address names after its #.
import {keepKey, readKey} from "../docs/key.js";
import {Api} from "./api.js";
import {cardView} from "./card.js";
import {cardsView} from "./cards.js";
import {downloadsView} from "./downloads.js";
import {moversView} from "./movers.js";
import {Tracked} from "./tracked.js";
import {watchedView, watchlistView} from "./watchlist.js";
import {day} from "./words.js";

const byId = (id) => document.getElementById(id);
const [place, status, form, bar] = [byId("view"), byId("status"), byId("key-form"), byId("bar")];
const TITLE = document.title;
let api = null;
let sets = null;
let cards = null; // links between the catalogue and the watchlist
let current = null; // {kind, view, address, scroll}
let list = null; // the list of cards as it was left, to come back to

/** Show a message, or an error, in the status line. */
function announce(text, wrong = false) {
  status.textContent = text;
  status.classList.toggle("error", wrong);
}

/** Return the view that a hash names, and its arguments. */
function routeOf(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  const last = rest.length ? decodeURIComponent(rest.join("/")) : "";
  if (name === "watchlist") return last ? {name, view: watchedView, slug: last} : {name, view: watchlistView};
  if (name === "cards" && last) return {name, view: cardView, id: encodeURIComponent(last)};
  if (name === "downloads") return {name, view: downloadsView};
  if (name !== "cards") return {name: "movers", view: moversView};
  return {name: "cards", view: cardsView, params: Object.fromEntries(new URLSearchParams(query)), replace: (params) => {
    const text = new URLSearchParams(params).toString();
    history.replaceState(null, "", `#/cards${text ? `?${text}` : ""}`);
    current.address = location.hash;
  }};
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
  document.title = TITLE;
  announce(back ? "" : "One moment …");
  const scroll = back ? list.scroll : 0;
  current = back || {kind: route.view, address: location.hash, scroll: 0};
  current.view ??= route.view({api, route, announce, sets, cards});
  place.replaceChildren(current.view);
  for (const link of bar.querySelectorAll("[data-view]")) link.ariaCurrent = link.dataset.view === route.name ? "page" : null;
  scrollTo(0, scroll);
}

async function enter(key) {
  const client = new Api(key, (seconds) => announce(seconds === null ? "" : `The rate limit is reached: waiting ${seconds} s.`));
  const [me] = await client.get("me");
  const [{build}] = await client.get("status");
  api = client;
  sets = me.scopes.includes("cards:read") ? api.all("sets", {limit: 1000}).then((all) => all.map(({name}) => name)) : Promise.resolve([]);
  cards = new Tracked(api, me.scopes);
  keepKey(key);
  byId("key-name").textContent = `Key: ${me.name}.`;
  byId("freshness").textContent = `As of ${day(build.as_of)}.`;
}

/** Enter with a key and show the view of the address, or the form and what is wrong with the key. */
async function begin(key) {
  const button = form.querySelector("button");
  button.disabled = true;
  byId("key-error").textContent = "";
  try {
    await enter(key);
    byId("key").value = "";
    form.hidden = true;
    bar.hidden = false;
    show();
    place.querySelector("input[type=search], h2")?.focus();
  } catch (error) {
    if (error.status === 401) keepKey("");
    form.hidden = false;
    byId("key-error").textContent = error.message;
  }
  button.disabled = false;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  begin(byId("key").value.trim());
});

byId("forget").addEventListener("click", () => {
  current?.view.leave?.();
  list?.view.leave();
  keepKey("");
  [api, sets, cards, current, list] = [null, null, null, null, null];
  place.replaceChildren();
  announce("");
  bar.hidden = true;
  form.hidden = false;
  byId("key").focus();
});

addEventListener("hashchange", show);
addEventListener("scroll", () => { if (current) current.scroll = scrollY; }, {passive: true});
if (readKey()) {
  begin(readKey());
} else {
  form.hidden = false;
  byId("key").focus();
}
