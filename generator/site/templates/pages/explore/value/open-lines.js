// The lines that need you: those that fit several products, to choose from or to check, and those that were not found.
import {h} from "../dom.js";
import {count, setName} from "../words.js";
import {lineCell, longTable, money} from "./cells.js";
import {isAssumed, statusOf} from "./export.js";
import {cheapestFirst, pricesOf} from "./valuation.js";

/** `choose(pairs)` is called with lines and the ids that were chosen for them. */
export function openView(lines, cards, choose) {
  const [several, none] = ["several", "not found"].map((status) => lines.filter((line) => statusOf(line) === status));
  const assumed = lines.filter(isAssumed);
  return [several.length ? severalView(several, cards, choose) : "",
    assumed.length ? choicesView("To check", assumed, cards, choose) : "", none.length ? noneView(none) : ""];
}

function severalView(lines, cards, choose) {
  const selects = new Map();
  const cheapest = (line) => cheapestFirst(line, choicesOf(line, cards))[0]?.id_product ?? null;
  const all = h("button", {type: "button", onclick: () => {
    const pairs = lines.filter(({product}) => !product).map((line) => [line, cheapest(line)]);
    choose(pairs);
    for (const [line, id] of pairs) if (selects.has(line)) selects.get(line).value = id ?? "";
  }}, "Take the cheapest of each");
  return choicesView("To choose", lines, cards, choose, selects, h("p", {}, all));
}

function choicesView(title, lines, cards, choose, selects = new Map(), actions = "") {
  const columns = [["Line", ""], ["Quantity", "number"], ["Which one?", ""]];
  const cells = (line) => [lineCell(line), count(line.quantity), selectOf(line, cards, choose, selects)];
  return h("section", {}, h("h2", {}, `${title} (${count(lines.length)})`), actions, longTable(title, columns, lines, cells));
}

/** The Cards of the choices that the build has. */
const choicesOf = ({choices}, cards) => choices.map((id) => cards.get(id)).filter(Boolean);

function selectOf(line, cards, choose, selects) {
  const options = choicesOf(line, cards).map((card) => {
    const text = [card.name, setName(card.set), card.number && `No. ${card.number}`, card.rarity, money(pricesOf(line, card).trend)];
    return h("option", {value: card.id_product}, text.filter(Boolean).join(" · "));
  });
  const chosen = () => choose([[line, Number(select.value) || null]]);
  const select = h("select", {"aria-label": `Which ${line.name}?`, onchange: chosen}, h("option", {value: ""}, "Choose …"), options);
  select.value = line.product ?? "";
  selects.set(line, select);
  return select;
}

const noneView = (lines) => h("section", {}, h("h2", {}, `Not found (${count(lines.length)})`),
  longTable("Not found", [["Line", ""], ["Quantity", "number"]], lines, (line) => [lineCell(line), count(line.quantity)]));
