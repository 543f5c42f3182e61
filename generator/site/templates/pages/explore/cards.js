// The catalogue: search as you type, filters, sorting, and a list that loads more cards as you scroll.
import {cardTable} from "./card-table.js";
import {h, nameOf, picture} from "./dom.js";
import {saveTable} from "./files.js";
import {filterForm} from "./filter-form.js";
import {meant} from "./nothing-found.js";
import {inAll, marketPrice} from "./price.js";
import {count, day, euros, percent, setName, since, tendency} from "./words.js";
import {weekChanges} from "./week.js";

const CARDS_PER_PAGE = 50;
const SKELETONS = 12;
const NO_PICTURES = "There are no pictures here: the data that this service reads names none for these cards.";

/** The view. `route.params` are the filters. `route.replace` writes changed filters into the address. */
export function cardsView({api, route, announce, names, facets}) {
  const filters = filterForm(route.params, names);
  const list = h("ul", {class: "grid", "aria-label": "Cards"}, skeleton());
  const more = h("button", {type: "button", class: "more", hidden: true}, "More cards");
  const total = h("p", {class: "total"});
  const download = h("button", {type: "button", class: "quiet", hidden: true, onclick: saveList}, "Download as CSV");
  const others = h("div", {});
  const pictures = h("p", {class: "when", hidden: true}, NO_PICTURES);
  const week = weekMoves();
  const view = h("div", {}, filters.form, week, h("div", {class: "above"}, total, meaning(), download), pictures, others, list, more);
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
      const [page, from, rows, hint] = await api.get("cards", {...filters.query(), limit: CARDS_PER_PAGE, offset}, {signal, build});
      [next, build] = [page.pagination.next_offset, from];
      if (offset === 0) {
        list.replaceChildren();
        const bare = !page.data.some(({image}) => image); // rows instead of empty places for pictures
        list.classList.toggle("bare", bare);
        pictures.hidden = !bare || page.data.length === 0;
      }
      list.append(...page.data.map((product) => card(product, weekChanges(from))));
      shown = offset + page.data.length;
      download.hidden = shown === 0;
      total.textContent = cardsText({[values.kind ?? "all"]: Number(rows)});
      announce(summary(shown, Number(rows)));
      others.replaceChildren(meant(hint, values));
      if (offset === 0) facets.of(countable, {signal, build}).then((found) => counted(found, values), () => {});
    } catch (error) {
      if (signal.aborted) return;
      if (build && error.code === "invalid_parameter") return restart(); // the build was pruned: begin again
      if (offset === 0) list.replaceChildren();
      others.replaceChildren(meant(error.hint, values));
      download.hidden = offset === 0;
      total.textContent = "";
      announce(error, true);
    }
    list.removeAttribute("aria-busy");
    more.hidden = next === null;
    watch.unobserve(more);
    watch.observe(more); // The observer reports only changes. A new observation reports whether the end is still near.
  }

  /** Say how many are cards, and what those of a search cost together. The sum of the whole catalogue answers no question. */
  function counted({whole, ...options}, {sort, order, ...searched}) {
    filters.offer(options);
    if (!whole) return;
    const kinds = Object.fromEntries(whole.kinds.map(({value, products}) => [value, products]));
    const {missed = 0} = whole;
    total.textContent = cardsText(missed ? {all: whole.products + missed} : kinds);
    if (Object.keys(searched).length) total.append(inAll(whole));
  }

  /** Save the cards that the filters find, as many as few requests can read. */
  async function saveList() {
    const {signal} = asking;
    download.disabled = true;
    try {
      const table = await cardTable(api, filters.query(), signal);
      saveTable(table, "cards.csv");
      announce(`The file has the first ${count(table.length - 1)} cards. All prices are in the table “prices” of the downloads.`);
    } catch (error) {
      if (!signal.aborted) announce(error, true);
    }
    download.disabled = false;
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

/** How many products of each kind, in words: `all` are of any kind. */
function cardsText({all = 0, single = 0, sealed = 0}) {
  const some = (products, one) => products > 0 && `${count(products)} ${products === 1 ? one : `${one}s`}`;
  return [some(all, "product"), some(single, "card"), some(sealed, "sealed product")].filter(Boolean).join(", ") || "No cards";
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
  h("span", {class: tendency(change.percents)}, percent(change.percents)), h("span", {class: "label"}, ` ${since(change.since)}`)]);
