// What the list lacks of a set, and what that costs at the lowest offers.
import {h} from "../dom.js";
import {count, NONE, setName} from "../words.js";
import {longTable, money, productCell} from "./cells.js";
import {cents, lacking} from "./valuation.js";

const COLUMNS = [["Card", ""], ["Rarity", ""], ["Lowest", "number"]];

/** A choice of the sets in the list. `cardsOf(set)` gives the Cards of one. */
export function lacksView(rows, cardsOf, announce) {
  const place = h("div", {});
  const select = h("select", {onchange: async () => {
    const set = select.value;
    place.replaceChildren();
    try {
      const cards = set ? await cardsOf(Number(set)) : [];
      if (set && select.value === set) place.replaceChildren(...lackingOf(cards, rows));
    } catch (error) {
      announce(error.message, true);
    }
  }}, h("option", {value: ""}, "Choose …"), setsOf(rows).map(([id, name]) => h("option", {value: id}, name)));
  return h("section", {}, h("h2", {}, "What a set still lacks"), h("label", {class: "choice"}, h("span", {}, "Set"), select), place);
}

/** The sets of a list by name, as pairs of id and name. */
function setsOf(rows) {
  const known = rows.map(({card: {set}}) => [set.id, setName(set)]).filter(([id]) => id !== null);
  return [...new Map(known)].sort(([, a], [, b]) => a.localeCompare(b));
}

function lackingOf(ofSet, rows) {
  const {cards, cents: sum, without} = lacking(ofSet, rows.map(({line}) => line));
  const singles = ofSet.filter(({kind}) => kind === "single").length;
  const text = `You have ${count(singles - cards.length)} of ${count(singles)} singles.`;
  if (cards.length === 0) return [h("p", {role: "status"}, `${text} The set is complete.`)];
  const unpriced = without ? `, without ${count(without)} that have no such price` : "";
  const cells = (card) => [productCell(card), card.rarity ?? NONE, money(cents(card.price_guide?.low))];
  return [
    h("p", {role: "status"}, `${text} The others cost ${money(sum)} together, one of each at its lowest offer${unpriced}.`),
    ...longTable("Missing cards", COLUMNS, cards, cells),
  ];
}
