// The form of the catalogue's filters.
import {combobox} from "./combobox.js";
import {h} from "./dom.js";
import {clear, countable, fields, followSearch, isWhole, recount, text, values} from "./filters.js";

const TYPING_MILLISECONDS = 250;
const FOLDED = "(max-width: 40rem)"; // where the filters are closed at first
const SEARCH = {type: "search", maxlength: "100", placeholder: "Name, set, number"};

/**
 * The form. `values()` are the filters that differ from the defaults, `query()` those of /cards, `countable()` those of
 * /facets. `offer()` takes the options of filters. The form calls `changed` after a change, with the milliseconds to
 * wait for more typing.
 */
export function filterForm(params, names) {
  const offered = {};
  const search = combobox("Find a card", text("q", params, SEARCH), (typed) => names.matching(typed));
  const folded = fields(params, offered);
  const empty = h("button", {type: "button", class: "quiet"}, "Clear");
  const open = !matchMedia(FOLDED).matches || folded.some((one) => params[one.querySelector("[name]").name]);
  const form = h("form", {class: "filters", role: "search", "aria-label": "Cards"}, h("div", {class: "wide"}, search),
    h("details", {open}, h("summary", {}, "Filters and order"), h("div", {class: "fields"}, folded, empty)));
  const {elements} = form;
  const filters = {
    form,
    changed: () => {},
    values: () => values(form),
    query: () => ({...found(values(form)), sort: elements.sort.value}),
    countable: () => countable(form) && found(countable(form)),
    offer: (found) => recount(elements, Object.assign(offered, {kind: null, rarity: [], ...found})),
  };
  empty.addEventListener("click", () => { clear(elements); filters.changed(0); });
  listen(form, filters, offered);
  followSearch(elements);
  return filters;
}

/** The filters of the API, whose `find` is what the form calls `q`. */
const found = ({q, ...others}) => (q ? {find: q, ...others} : others);

/** What is typed counts after a pause. If a part of a value finds nothing, it counts when it is known, or entered. */
function listen(form, filters, offered) {
  const known = (name, value) => value === "" || offered[name]?.some((option) => option.value === value);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({target: {name, type, value}}) => {
    followSearch(form.elements);
    const part = isWhole(name) && !known(name, value);
    filters.changed(part ? Infinity : type === "select-one" ? 0 : TYPING_MILLISECONDS);
  });
  form.addEventListener("change", () => {
    followSearch(form.elements);
    filters.changed(0);
  });
}
