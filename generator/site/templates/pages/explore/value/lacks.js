// What the list has of each of its sets, which singles are missing, and what these cost.
import {h} from "../dom.js";
import {costText, lowestOffer} from "../price.js";
import {count, euros, NONE, setName} from "../words.js";
import {productsOf} from "./appraisal.js";
import {longTable, money, productCell} from "./cells.js";
import {cents, lacking} from "./valuation.js";

const SETS = [["Set", ""], ["You have", "number"], ["Missing", ""]];
const MISSING = [["Card", ""], ["Rarity", ""], ["Market price", "number"], ["Lowest in Europe", "number"]];

/** A button for the sets of a list: to count a list takes its Cards, and a set all of its singles, so each is asked for. */
export function lacksView(rows, catalogue, announce) {
  const [place, missing] = [h("div", {}), h("div", {"aria-live": "polite"})];
  const during = (work) => async ({target}) => {
    target.disabled = true;
    try { await work(); } catch (error) { announce(error.message, true); }
    target.disabled = false;
  };
  const open = (set) => during(async () => missing.replaceChildren(...missingOf(set, await catalogue.ofSet(set.id), rows)));
  const show = during(async () => {
    await catalogue.loadCards(productsOf(rows.map(({line}) => line)));
    const sets = setsOf(rows, await catalogue.sets());
    place.replaceChildren(...longTable("Your sets", SETS, sets, (set) => setCells(set, open(set))));
  });
  return h("section", {}, h("h2", {}, "What your sets lack"), h("p", {}, h("button", {type: "button", onclick: show}, "Show my sets")), place, missing);
}

/** The sets of a list's singles by name: `{id, name, singles, owned}`. */
function setsOf(rows, known) {
  const singles = [...new Set(rows.map(({product}) => product))].filter(({card, set}) => card?.kind === "single" && set.id !== null);
  const sizes = new Map(known.map((set) => [set.id, set.singles]));
  const sets = [...Map.groupBy(singles, ({set}) => set.id)].map(([id, those]) =>
    ({id, name: setName(those[0].set), singles: sizes.get(id) ?? those.length, owned: those.length}));
  return sets.sort((a, b) => a.name.localeCompare(b.name) || a.id - b.id);
}

const setCells = ({id, name, singles, owned}, open) => [h("a", {href: `/explore#/sets/${id}`}, name), `${count(owned)} of ${count(singles)}`,
  h("button", {type: "button", "aria-label": `What is missing of ${name}?`, onclick: open}, "What is missing?")];

function missingOf({name}, singles, rows) {
  const products = lacking(singles, rows.map(({line}) => line));
  const text = `You have ${count(singles.length - products.length)} of ${count(singles.length)} singles of ${name}.`;
  if (products.length === 0) return [h("p", {}, `${text} The set is complete.`)];
  const others = products.length === 1 ? "The other one costs" : `The other ${count(products.length)} cost`;
  const cells = (product) => [productCell(product), product.card.rarity ?? NONE, money(cents(product.price)), euros(lowestOffer(product.card.price_guide))];
  return [h("p", {}, `${text} ${others} ${costText(products.map(({card}) => card))}.`), ...longTable("Missing cards", MISSING, products, cells)];
}
