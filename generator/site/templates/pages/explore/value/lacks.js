// What the list lacks of a set, and what that costs at the lowest offers.
import {h} from "../dom.js";
import {count} from "../words.js";
import {longTable, money, productCell} from "./cells.js";
import {cents, lacking} from "./valuation.js";

const COLUMNS = [["Card", ""], ["Rarity", ""], ["Lowest", "number"]];

/** A choice of the sets in the list. `cardsOf(set)` gives the Cards of one. */
export function lacksView(rows, cardsOf, announce) {
  const sets = new Map(rows.filter(({card: {set}}) => set.id !== null).map(({card: {set}}) => [set.id, set.name ?? `Set ${set.id}`]));
  const options = [...sets].sort(([, a], [, b]) => a.localeCompare(b)).map(([id, name]) => h("option", {value: id}, name));
  const place = h("div", {});
  const select = h("select", {onchange: async () => {
    place.replaceChildren();
    if (!select.value) return;
    const set = select.value;
    try {
      const cards = await cardsOf(Number(set));
      if (select.value === set) place.replaceChildren(...lackingOf(cards, rows));
    } catch (error) {
      announce(error.message, true);
    }
  }}, h("option", {value: ""}, "Choose …"), options);
  return h("section", {}, h("h2", {}, "What a set still lacks"), h("label", {class: "choice"}, h("span", {}, "Set"), select), place);
}

function lackingOf(ofSet, rows) {
  const {cards, cents: sum, without} = lacking(ofSet, rows.map(({line}) => line));
  const singles = ofSet.filter(({kind}) => kind === "single").length;
  const text = `You have ${count(singles - cards.length)} of ${count(singles)} singles.`;
  if (cards.length === 0) return [h("p", {role: "status"}, `${text} The set is complete.`)];
  const cost = `The others cost ${money(sum)} together, one of each at its lowest offer${without ? `, without ${count(without)} that have no such price` : ""}.`;
  return [h("p", {role: "status"}, `${text} ${cost}`),
    ...longTable("Missing cards", COLUMNS, cards, (card) => [productCell(card), card.rarity ?? "–", money(cents(card.price_guide?.low))])];
}
