// The filters of the catalogue: a field for each, and what the fields say. The sorts and the text filters are those of
// the API.
import {combobox} from "./combobox.js";
import {h} from "./dom.js";
import {foldWithoutApostrophes} from "./fold.js";
import {count} from "./words.js";

// Pairs of a value and its label.
const MATCH = "match"; // the default here while there are words to search
const SORTS = [[MATCH, "Best match"], ...[["trend", "Trend price"], ["low", "Lowest price"], ["avg", "Average price"], ["filtered", "Cheapest offer"], ["market", "Market price"], ["name", "Name"], ["number", "Collector number"], ["newest", "Newest"]]];
const TEXT_FILTERS = [["number", "Number"], ["rarity", "Rarity"], ["game", "Game"]];
const KINDS = [["all", "All"], ["single", "Singles"], ["sealed", "Sealed"]];
const ORDERS = [["", "Default"], ["asc", "Ascending"], ["desc", "Descending"]];
const GAMES = [["", "Any"]];
const DEFAULTS = {kind: "all", sort: "market"}; // what the page begins with
const OTHER_PRICES = ["low", "avg", "filtered", "market"]; // sorts by a price that is not the one of /facets
const MARKET = "market"; // the price that is the one of /facets for all cards but those with a foil price alone
const TEXT = {placeholder: "Any", maxlength: "200"};
const AMOUNT = {type: "number", min: "0", step: "0.01"};
const MOST_OPTIONS = 100;

const field = (label, input) => h("label", {}, h("span", {}, label), input);

export function text(name, params, more = TEXT) {
  return h("input", {name, type: "text", autocomplete: "off", spellcheck: "false", value: params[name] ?? "", ...more});
}

/** A list of choices: the known ones, and the one of the address. */
function choice(name, known, params) {
  const [usual] = known[0];
  const value = params[name] ?? usual;
  const all = known.some(([one]) => one === value) ? known : [...known, [value, value]];
  const select = h("select", {name}, all.map(([one, label]) => h("option", {value: one}, label)));
  select.value = value;
  return select;
}

/** A text field that offers the values of its filter which contain the text. */
function suggested(label, name, params, offered) {
  return combobox(label, text(name, params), (typed) => {
    const [all, part] = [offered[name] ?? [], foldWithoutApostrophes(typed.trim())];
    const taken = all.some(({value}) => value === typed); // then the others are what one can change it to
    return all.filter(({label}) => taken || foldWithoutApostrophes(label).includes(part)).slice(0, MOST_OPTIONS);
  }, true);
}

const CONTROLS = {
  set: suggested,
  rarity: suggested,
  game: (label, name, params) => field(label, choice(name, GAMES, params)),
};
const plain = (label, name, params) => field(label, text(name, params));

/** Whether a part of a filter's value finds nothing. */
export const isWhole = (name) => CONTROLS[name] === suggested;

/** The fields, but for the words to search. `offered` holds the options `{value, label, products}` of filters. */
export function fields(params, offered) {
  const named = (label, name) => (CONTROLS[name] ?? plain)(label, name, params, offered);
  return [
    named("Set", "set"),
    field("Kind", choice("kind", KINDS, params)),
    ...TEXT_FILTERS.map(([name, label]) => named(label, name)),
    field("From €", text("min_price", params, AMOUNT)),
    field("To €", text("max_price", params, AMOUNT)),
    field("Sort by", choice("sort", SORTS, {sort: params.sort ?? (params.q ? MATCH : DEFAULTS.sort)})),
    field("Order", choice("order", ORDERS, params)),
  ];
}

/** Offer counted values in the lists of choices. What is chosen stays, even if it would find nothing. */
export function recount(elements, offered) {
  refill(elements.kind, KINDS, offered.kind ?? KINDS.slice(1).map(([value]) => ({value})));
  refill(elements.game, GAMES, offered.game);
  for (const element of elements) element.dispatchEvent(new Event("offered"));
}

function refill(select, known, options) {
  const {value} = select;
  const [usual] = known[0];
  const labels = new Map(known);
  const kept = value === usual || options.some((option) => option.value === value) ? [] : [{value}];
  const text = (one, products) => (labels.get(one) ?? one) + (products == null ? "" : ` (${count(products)})`);
  const all = [{value: usual}, ...options, ...kept];
  select.replaceChildren(...all.map(({value: one, products}) => h("option", {value: one}, text(one, products))));
  select.value = value;
}

/** The default sort: by match while there are words to search, if the build has that sort. */
const usualSort = ({q, sort}) => (q.value.trim() && bestMatch(sort) ? MATCH : DEFAULTS.sort);
const bestMatch = (sort) => [...sort.options].find(({value}) => value === MATCH);

/** Follow the words to search: the best match comes first, unless another sort was chosen. That sort has one order. */
export function followSearch(elements) {
  const {sort, order} = elements;
  const match = bestMatch(sort);
  const usual = usualSort(elements);
  if (sort.value === MATCH || (sort.value === DEFAULTS.sort && match?.disabled)) sort.value = usual;
  if (match) match.disabled = match.hidden = usual !== MATCH;
  order.disabled = sort.value === MATCH;
}

/** The filters that differ from the defaults. */
export function values(form) {
  const usual = {...DEFAULTS, sort: usualSort(form.elements)};
  const entered = [...new FormData(form)].map(([name, value]) => [name, value.trim()]);
  return Object.fromEntries(entered.filter(([name, value]) => value && value !== usual[name]));
}

/** The filters that /facets counts, with `sort` if they bound the market price; null if they bound another one. */
export function countable(form) {
  const {sort: _, order, ...filters} = values(form);
  const sort = form.elements.sort.value;
  if (!(filters.min_price || filters.max_price) || !OTHER_PRICES.includes(sort)) return filters;
  return sort === MARKET ? {...filters, sort} : null;
}

export function clear(elements) {
  for (const input of elements) input.value = DEFAULTS[input.name] ?? "";
  followSearch(elements);
}