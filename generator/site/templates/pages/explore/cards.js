// The catalogue: search as you type, filters, sorting, and a list that loads more cards as you scroll.
import {h, picture} from "./dom.js";
import {count, euros} from "./words.js";

const PAGE = 50;
const TYPING_MILLISECONDS = 250;
const DEFAULTS = {kind: "all", sort: "trend"}; // of the API
const SORTS = {
  trend: "Trend price", low: "Lowest price", avg: "Average price", filtered: "Lowest under the filter", name: "Name",
  number: "Collector number", newest: "Newest",
};

/** The view. `route.params` are the filters. `route.replace` writes changed filters into the address. */
export function cardsView({api, route, announce, sets}) {
  const filters = filterForm(route.params, sets);
  const list = h("ul", {class: "grid", "aria-label": "Cards"});
  const more = h("button", {type: "button", class: "more", hidden: true}, "More cards");
  const view = h("div", {}, filters.form, list, more);
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
      const [page, from, total] = await api.get("cards", {...filters.values(), limit: PAGE, offset}, {signal, build});
      [next, build] = [page.pagination.next_offset, from];
      if (offset === 0) list.replaceChildren();
      list.append(...page.data.map(card));
      shown = offset + page.data.length;
      announce(summary(shown, Number(total)));
    } catch (error) {
      if (signal.aborted) return;
      if (build && error.code === "invalid_parameter") return restart(); // the build was pruned: begin again
      if (offset === 0) list.replaceChildren();
      announce(error.message, true);
    }
    list.removeAttribute("aria-busy");
    more.hidden = next === null;
    if (!more.hidden && nearby(more)) load();
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
  const watch = new IntersectionObserver(([entry]) => entry.isIntersecting && load(), {rootMargin: "800px"});
  watch.observe(more);
  load();
  view.leave = () => { asking.abort(); watch.disconnect(); clearTimeout(typing); };
  return view;
}

const nearby = (element) => element.getBoundingClientRect().top < innerHeight + 800;
const summary = (many, total) => (many === 0 ? "No cards found." : many === total ? `${count(many)} cards, all that were found.` : `${count(many)} of ${count(total)} cards shown.`);

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
  const form = h("form", {class: "filters", role: "search", "aria-label": "Cards"},
    h("label", {class: "wide"}, h("span", {}, "Name"),
      h("input", {name: "q", type: "search", maxlength: "100", autocomplete: "off", spellcheck: "false", value: params.q ?? "", placeholder: "Words of the name"})),
    field("Set", text("set", {list: "sets", placeholder: "Any"})),
    field("Kind", choice("kind", [["all", "All"], ["single", "Singles"], ["sealed", "Sealed"]], params.kind)),
    field("Rarity", text("rarity", {placeholder: "Any"})),
    field("Number", text("number", {placeholder: "Any", size: "6"})),
    field("Game", text("game", {maxlength: "200", placeholder: "Any"})),
    field("From €", text("min_price", {type: "number", min: "0", step: "0.01"})),
    field("To €", text("max_price", {type: "number", min: "0", step: "0.01"})),
    field("Sort by", choice("sort", Object.entries(SORTS), params.sort)),
    field("Order", choice("order", [["", "Usual"], ["asc", "Upwards"], ["desc", "Downwards"]], params.order)),
    h("button", {type: "button", class: "quiet", onclick: () => clear()}, "Clear"),
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

function card(product) {
  const {price_guide: guide, filtered_price: filtered} = product;
  const where = [product.set.name, product.number, product.rarity].filter(Boolean).join(", ");
  return h("li", {},
    h("a", {class: "card", href: `#/cards/${product.id_product}`},
      picture(product.image, product.name, {loading: "lazy"}),
      h("span", {class: "name"}, product.name),
      h("span", {class: "where"}, where || product.category || ""),
      h("span", {class: "prices"},
        price("Trend", guide?.trend), price("Filtered", filtered?.lowest))));
}

const price = (label, value) => h("span", {}, h("span", {class: "label"}, `${label} `), h("span", {}, euros(value)));
