// What the list lacks of a set, and what that costs.
import {h} from "../dom.js";
import {count, NONE, setName} from "../words.js";
import {longTable, money, productCell} from "./cells.js";
import {cents, lacking} from "./valuation.js";

const COLUMNS = [["Card", ""], ["Rarity", ""], ["Market price", "number"]];

/** A choice of the sets in the list. `singlesOf(set)` gives the products of one. */
export function lacksView(rows, singlesOf, announce) {
  const place = h("div", {});
  const select = h("select", {onchange: async () => {
    const set = select.value;
    place.replaceChildren();
    try {
      const singles = set ? await singlesOf(Number(set)) : [];
      if (set && select.value === set) place.replaceChildren(...lackingOf(singles, rows));
    } catch (error) {
      announce(error.message, true);
    }
  }}, h("option", {value: ""}, "Choose …"), setsOf(rows).map(([id, name]) => h("option", {value: id}, name)));
  return h("section", {}, h("h2", {}, "What a set still lacks"), h("label", {class: "choice"}, h("span", {}, "Set"), select), place);
}

/** The sets of a list by name, as pairs of id and name. */
function setsOf(rows) {
  const known = rows.map(({product: {set}}) => [set.id, setName(set)]).filter(([id]) => id !== null);
  return [...new Map(known)].sort(([, a], [, b]) => a.localeCompare(b));
}

function lackingOf(singles, rows) {
  const {products, cents: sum, without} = lacking(singles, rows.map(({line}) => line));
  const text = `You have ${count(singles.length - products.length)} of ${count(singles.length)} singles.`;
  if (products.length === 0) return [h("p", {role: "status"}, `${text} The set is complete.`)];
  const unpriced = without ? `, without ${count(without)} that have no price` : "";
  const cells = (product) => [productCell(product), product.card.rarity ?? NONE, money(cents(product.price))];
  return [
    h("p", {role: "status"}, `${text} The others cost ${money(sum)} together at their market prices${unpriced}.`),
    ...longTable("Missing cards", COLUMNS, products, cells),
  ];
}
