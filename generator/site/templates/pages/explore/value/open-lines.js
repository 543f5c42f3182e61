// The lines that need you: those that fit several products, to choose from, and those that were not found.
import {h} from "../dom.js";
import {count, setName} from "../words.js";
import {lineCell, longTable, money} from "./cells.js";
import {statusOf} from "./export.js";
import {pricesOf} from "./valuation.js";

/** `choose(pairs)` is called with lines and the ids that were chosen for them. */
export function openView(lines, cards, choose) {
  const [several, none] = ["several", "not found"].map((status) => lines.filter((line) => statusOf(line) === status));
  return [several.length ? severalView(several, cards, choose) : "", none.length ? noneView(none) : ""];
}

function severalView(lines, cards, choose) {
  const selects = new Map();
  const trend = (line, id) => pricesOf(line, cards.get(id)).trend ?? Infinity;
  const cheapest = (line) => choicesOf(line, cards).sort((a, b) => trend(line, a) - trend(line, b))[0] ?? null;
  const all = h("button", {type: "button", onclick: () => {
    const pairs = lines.filter(({product}) => !product).map((line) => [line, cheapest(line)]);
    choose(pairs);
    for (const [line, id] of pairs) if (selects.has(line)) selects.get(line).value = id ?? "";
  }}, "Take the cheapest of each");
  const columns = [["Line", ""], ["Quantity", "number"], ["Which one?", ""]];
  const cells = (line) => [lineCell(line), count(line.quantity), selectOf(line, cards, choose, selects)];
  return h("section", {}, h("h2", {}, `To choose (${count(lines.length)})`), h("p", {}, all),
    longTable("To choose", columns, lines, cells));
}

/** The choices that the build has. */
const choicesOf = ({choices}, cards) => choices.filter((id) => cards.has(id));

function selectOf(line, cards, choose, selects) {
  const options = choicesOf(line, cards).map((id) => {
    const card = cards.get(id);
    const text = [card.name, setName(card.set), card.number && `No. ${card.number}`, card.rarity, money(pricesOf(line, card).trend)];
    return h("option", {value: id}, text.filter(Boolean).join(" · "));
  });
  const chosen = () => choose([[line, Number(select.value) || null]]);
  const select = h("select", {"aria-label": `Which ${line.name}?`, onchange: chosen}, h("option", {value: ""}, "Choose …"), options);
  select.value = line.product ?? "";
  selects.set(line, select);
  return select;
}

const noneView = (lines) => h("section", {}, h("h2", {}, `Not found (${count(lines.length)})`),
  longTable("Not found", [["Line", ""], ["Quantity", "number"]], lines, (line) => [lineCell(line), count(line.quantity)]));
