// The explorer: it asks for the key, then shows the view that the address names after its #.
import "./early.js";
import {cardView} from "./card.js";
import {cardsView} from "./cards.js";
import {h} from "./dom.js";
import {downloadsView} from "./downloads.js";
import {Facets} from "./facets.js";
import {gameView, setView} from "./group.js";
import {keyForm} from "./key-form.js";
import {denied, lost} from "./lost.js";
import {marketView} from "./market.js";
import {moversView} from "./movers.js";
import {Names} from "./names.js";
import {SetCards} from "./set-cards.js";
import {Tracked} from "./tracked.js";
import {visitorOf} from "./visitor.js";
import {watchedView, watchlistView} from "./watchlist.js";
import {sentence, titled} from "./words.js";

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

/** Show a message in the status line. Of an ApiError it says what to do. */
function announce(said, wrong = false) {
  status.textContent = sentence(said.message ?? said);
  status.classList.toggle("error", wrong);
  if (said.status === 0) status.append(" ", h("button", {type: "button", onclick: again}, "Try again"));
  if (said.status === 403) scopes.then((known) => replace(denied(said, known)));
}

/** Show the view of the address anew. */
function again() {
  current?.view.leave?.();
  if (current?.kind === cardsView) list = null;
  current = null;
  show();
}

/** Show what stands for a view that failed. */
function replace(view) {
  current?.view.leave?.();
  [current, list] = [null, null];
  announce("");
  place.replaceChildren(view);
  view.querySelector("h2").focus();
}

/** The view for an address that names none. */
function lostView({announce: say}) {
  say("");
  return lost("There is no page at this address");
}

/** Return the view that a hash names, and its arguments. */
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

/** The parameters of an address, and a function that replaces them there. It does nothing and returns false after a link was followed. */
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

/** Enter with a key, show the view of the address, and return the name of the key. */
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
