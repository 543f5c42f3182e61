// The catalogue: search as you type, filters, sorting, and a list that loads more cards as you scroll.
import {h, picture} from "./dom.js";
import {count, direction, euros, percent} from "./words.js";
import {weekChanges} from "./week.js";

const CARDS_PER_PAGE = 50;
const TYPING_MILLISECONDS = 250;
const DEFAULTS = {kind: "all", sort: "trend"}; // of the API
const SORTS = {
  trend: "Trend price", low: "Lowest price", avg: "Average price", filtered: "Cheapest offer", name: "Name",
  number: "Collector number", newest: "Newest",
};
const FOLDED = "(max-width: 40rem)"; // where the filters are closed at first

/** The view. `route.params` are the filters. `route.replace` writes changed filters into the address. */
export function cardsView({api, route, announce, sets}) {
  const filters = filterForm(route.params, sets);
  const list = h("ul", {class: "grid", "aria-label": "Cards"});
  const more = h("button", {type: "button", class: "more", hidden: true}, "More cards");
  const total = h("p", {class: "total"});
  const view = h("div", {}, filters.form, h("div", {class: "above"}, total, MEANING()), list, more);
  let asking = new AbortController();
  let next = 0;
  let build;
  let shown = 0;

  async function load() {
    if (next === null) return;
    const {signal} = asking;
    const offset = next;
    next = null;
    list.setAttribute("aria-busy", "true");
    try {
      const [page, from, rows] = await api.get("cards", {...filters.values(), limit: CARDS_PER_PAGE, offset}, {signal, build});
      [next, build] = [page.pagination.next_offset, from];
      if (offset === 0) list.replaceChildren();
      list.append(...page.data.map((product) => card(product, weekChanges(from))));
      shown = offset + page.data.length;
      total.textContent = Number(rows) === 1 ? "1 card" : `${count(Number(rows))} cards`;
      announce(summary(shown, Number(rows)));
    } catch (error) {
      if (signal.aborted) return;
      if (build && error.code === "invalid_parameter") return restart(); // the build was pruned: begin again
      if (offset === 0) list.replaceChildren();
      total.textContent = "";
      announce(error.message, true);
    }
    list.removeAttribute("aria-busy");
    more.hidden = next === null;
    watch.unobserve(more);
    watch.observe(more); // The observer reports only changes. A new observation reports whether the end is still near.
  }

  function restart() {
    asking.abort();
    asking = new AbortController();
    [next, build] = [0, undefined];
    more.hidden = true;
    load();
  }

  let typing;
  filters.changed = (wait) => {
    clearTimeout(typing);
    typing = setTimeout(() => { route.replace(filters.values()); restart(); }, wait);
  };
  more.addEventListener("click", load);
  const watch = new IntersectionObserver((entries) => entries.at(-1).isIntersecting && load(), {rootMargin: "800px"});
  load();
  view.leave = () => { asking.abort(); watch.disconnect(); clearTimeout(typing); };
  return view;
}

const summary = (many, total) => (many === 0 ? "No cards found. Try fewer words, or clear the filters." : many === total ? "These are all." : `${count(many)} of ${count(total)} cards shown.`);

/** The form of the filters. It calls `changed` after a change, with the milliseconds to wait for more typing. */
function filterForm(params, sets) {
  const filters = {changed: () => {}};
  const field = (label, input) => h("label", {}, h("span", {}, label), input);
  const choice = (name, options, value) => {
    const select = h("select", {name}, options.map(([code, text]) => h("option", {value: code}, text)));
    select.value = value ?? options[0][0];
    return select;
  };
  const text = (name, more) => h("input", {name, type: "text", autocomplete: "off", spellcheck: "false", value: params[name] ?? "", ...more});
  const others = ["set", "kind", "rarity", "number", "game", "min_price", "max_price", "sort", "order"];
  const form = h("form", {class: "filters", role: "search", "aria-label": "Cards"},
    h("label", {class: "wide"}, h("span", {}, "Search by name"),
      h("input", {name: "q", type: "search", maxlength: "100", autocomplete: "off", spellcheck: "false", value: params.q ?? "", placeholder: "Words of the name"})),
    h("details", {open: !matchMedia(FOLDED).matches || others.some((name) => params[name])}, h("summary", {}, "Filters and order"), h("div", {class: "fields"},
    field("Set", text("set", {list: "sets", placeholder: "Any"})),
    field("Kind", choice("kind", [["all", "All"], ["single", "Singles"], ["sealed", "Sealed"]], params.kind)),
    field("Rarity", text("rarity", {placeholder: "Any"})),
    field("Number", text("number", {placeholder: "Any", size: "6"})),
    field("Game", text("game", {maxlength: "200", placeholder: "Any"})),
    field("From €", text("min_price", {type: "number", min: "0", step: "0.01"})),
    field("To €", text("max_price", {type: "number", min: "0", step: "0.01"})),
    field("Sort by", choice("sort", Object.entries(SORTS), params.sort)),
    field("Order", choice("order", [["", "Default"], ["asc", "Ascending"], ["desc", "Descending"]], params.order)),
    h("button", {type: "button", class: "quiet", onclick: () => clear()}, "Clear"))),
    h("datalist", {id: "sets"}));
  let known = new Set();
  sets.then((names) => {
    known = new Set(names);
    form.querySelector("datalist").append(...[...known].map((value) => h("option", {value})));
  }, () => {});
  const clear = () => {
    for (const input of form.elements) input.value = DEFAULTS[input.name] ?? "";
    filters.changed(0);
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  // A part of a set's name finds nothing. So this filter changes when the text is a known name, or when the field is left.
  form.addEventListener("input", ({target: {name, type, value}}) => {
    if (name !== "set" || value === "" || known.has(value)) filters.changed(type === "select-one" ? 0 : TYPING_MILLISECONDS);
  });
  form.addEventListener("change", ({target: {name}}) => name === "set" && filters.changed(0));
  filters.values = () => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()])
    .filter(([name, value]) => value && value !== DEFAULTS[name]));
  return Object.assign(filters, {form});
}

/** What the prices of a tile are, for people who see them for the first time. */
const MEANING = () => h("details", {class: "meaning"}, h("summary", {}, "What do the prices mean?"), h("dl", {},
  h("div", {}, h("dt", {}, "The large price"), h("dd", {}, "The marketplace’s trend price: what the card goes for across Europe, over all sellers and languages.")),
  h("div", {}, h("dt", {}, "In 7 days"), h("dd", {}, "How that price changed: now against 7 days before. It is empty if there was no price then.")),
  h("div", {}, h("dt", {}, "Offers from"), h("dd", {}, "The cheapest offer of the English card, in any condition, by sellers in one country. This service checks them every day."))));

/** A tile. `changes` is a promise of how prices changed over 7 days, by id; the tile does not wait for it. */
function card(product, changes) {
  const {price_guide: guide, filtered_price: filtered} = product;
  const about = [product.number && `No. ${product.number}`, product.rarity].filter(Boolean).join(", ");
  const change = h("span", {class: "change"});
  if (guide?.trend != null) changes.then((known) => change.append(...changed(known.get(product.id_product))));
  return h("li", {},
    h("a", {class: "card", href: `#/cards/${product.id_product}`},
      picture(product.image, product, {loading: "lazy"}),
      h("span", {class: "name"}, product.name),
      h("span", {class: "where"}, product.set.name ?? product.category ?? ""),
      h("span", {class: "where"}, about),
      h("span", {class: "prices"},
        h("b", {}, euros(guide?.trend ?? filtered?.lowest)),
        change,
        h("span", {class: "offer"}, filtered?.lowest == null ? [] : [h("span", {class: "label"}, "Offers from "), euros(filtered.lowest)]))));
}

const changed = (percents) => (percents === undefined ? [] : [
  h("span", {class: direction(percents)}, percent(percents)), h("span", {class: "label"}, " in 7 days")]);
