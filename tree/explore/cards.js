// The catalogue: search as you type, filters, sorting, and a list that loads more cards as you scroll.
import {h, nameOf, picture} from "./dom.js";
import {filterForm} from "./filter-form.js";
import {meant} from "./nothing-found.js";
import {inAll, marketPrice} from "./price.js";
import {count, day, direction, euros, percent, setName, since} from "./words.js";
import {weekChanges} from "./week.js";

const CARDS_PER_PAGE = 50;
const SKELETONS = 12;

/** The view. `route.params` are the filters. `route.replace` writes changed filters into the address. */
export function cardsView({api, route, announce, names, facets}) {
  const filters = filterForm(route.params, names);
  const list = h("ul", {class: "grid", "aria-label": "Cards"}, skeleton());
  const more = h("button", {type: "button", class: "more", hidden: true}, "More cards");
  const total = h("p", {class: "total"});
  const others = h("div", {});
  const week = weekMoves();
  const view = h("div", {}, filters.form, week, h("div", {class: "above"}, total, meaning()), others, list, more);
  let asking = new AbortController();
  let next = 0;
  let build;
  let shown = 0;
  let asked = JSON.stringify(filters.query());

  const showWeek = () => { if (week) week.hidden = Object.keys(filters.values()).length > 0; };
  showWeek();

  async function load() {
    if (next === null) return;
    const {signal} = asking;
    const offset = next;
    const [values, countable] = [filters.values(), filters.countable()]; // the form may change before the answer comes
    next = null;
    list.setAttribute("aria-busy", "true");
    try {
      const [page, from, rows] = await api.get("cards", {...filters.query(), limit: CARDS_PER_PAGE, offset}, {signal, build});
      [next, build] = [page.pagination.next_offset, from];
      if (offset === 0) {
        list.replaceChildren();
        list.classList.toggle("bare", !page.data.some(({image}) => image)); // rows instead of empty places for pictures
      }
      list.append(...page.data.map((product) => card(product, weekChanges(from))));
      shown = offset + page.data.length;
      total.textContent = Number(rows) === 1 ? "1 card" : `${count(Number(rows))} cards`;
      announce(summary(shown, Number(rows)));
      if (Number(rows) === 0) offerOthers(values, signal);
      if (offset === 0) facets.of(countable, {signal, build}).then(counted, () => {});
    } catch (error) {
      if (signal.aborted) return;
      if (build && error.code === "invalid_parameter") return restart(); // the build was pruned: begin again
      if (offset === 0) list.replaceChildren();
      if (error.code === "not_found") offerOthers(values, signal);
      total.textContent = "";
      announce(error, true);
    }
    list.removeAttribute("aria-busy");
    more.hidden = next === null;
    watch.unobserve(more);
    watch.observe(more); // The observer reports only changes. A new observation reports whether the end is still near.
  }

  /** Offer what may be meant, unless something else is asked meanwhile. */
  function offerOthers(values, signal) {
    meant(values, names, api, signal).then((line) => { if (!signal.aborted) others.replaceChildren(line); }, () => {});
  }

  function counted({whole, ...options}) {
    filters.offer(options);
    total.append(inAll(whole));
  }

  function restart() {
    asking.abort();
    asking = new AbortController();
    [next, build] = [0, undefined];
    others.replaceChildren();
    more.hidden = true;
    load();
  }

  function apply() {
    const now = JSON.stringify(filters.query());
    if (now === asked || !route.replace(filters.values())) return; // such as a field that is left after a pause, or for a link
    asked = now;
    showWeek();
    restart();
  }

  let typing;
  filters.changed = (wait) => {
    clearTimeout(typing);
    if (wait < Infinity) typing = setTimeout(apply, wait);
  };
  more.addEventListener("click", load);
  const watch = new IntersectionObserver((entries) => entries.at(-1).isIntersecting && load(), {rootMargin: "800px"});
  load();
  view.leave = () => { asking.abort(); watch.disconnect(); clearTimeout(typing); };
  return view;
}

function summary(many, total) {
  if (many === 0) return "No cards found. Try fewer words, or clear the filters.";
  return many === total ? "These are all." : `${count(many)} of ${count(total)} cards shown.`;
}

/** What moved in the newest week, from the page, or null. It stands above the whole catalogue, not above what a filter leaves. */
function weekMoves() {
  const moves = document.getElementById("week");
  return moves && h("section", {class: "this-week", "aria-label": "Moves of a week"},
    h("h2", {}, `What moved in the week to ${day(moves.dataset.until)}?`), moves.content.cloneNode(true), h("p", {}, h("a", {href: "#/movers"}, "All moves")));
}

/** What the prices of a tile are, for people who see them for the first time. */
const MEANINGS = {
  "The large price":
    "The marketplace’s trend price: what the card goes for across Europe, over all sellers and languages. Of a card that " +
    "exists in foil alone, that of foils.",
  "Since a day": "How that price changed: now against 7 to 10 days before. It is empty if there was no price then.",
  "Offers from":
    "The cheapest offer of the English card, in any condition, by sellers in one country. This service checks them " +
    "every day.",
};

function meaning() {
  const entries = Object.entries(MEANINGS).map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text)));
  return h("details", {class: "meaning"}, h("summary", {}, "What do the prices mean?"), h("dl", {}, entries));
}

/** What stands in the place of cards until the first ones come. */
const skeleton = () => Array.from({length: SKELETONS}, () => h("li", {"aria-hidden": "true"}, h("span", {class: "picture"})));

/** A tile. `changes` is a promise of how prices changed over 7 days, by id; the tile does not wait for it. */
function card(product, changes) {
  const {price_guide: guide, filtered_price: filtered} = product;
  const about = [product.number && `No. ${product.number}`, product.rarity].filter(Boolean).join(", ");
  const change = h("span", {class: "change"});
  const lowest = filtered?.lowest;
  const offer = lowest == null ? [] : [h("span", {class: "label"}, "Offers from "), euros(lowest)];
  const market = marketPrice(guide);
  if (market) changes.then((known) => change.append(...changed(known.get(product.id_product))));
  return h("li", {},
    h("a", {class: "card", href: `#/cards/${product.id_product}`},
      picture(product.image, product, {loading: "lazy"}),
      h("span", {class: "name"}, nameOf(product.name)),
      h("span", {class: "where"}, setName(product.set) ?? product.category ?? ""),
      h("span", {class: "where"}, about),
      h("span", {class: "prices"},
        h("b", {}, euros(market?.price ?? lowest)),
        change,
        h("span", {class: "offer"}, offer))));
}

const changed = (change) => (change === undefined ? [] : [
  h("span", {class: direction(change.percents)}, percent(change.percents)), h("span", {class: "label"}, ` ${since(change.since)}`)]);
