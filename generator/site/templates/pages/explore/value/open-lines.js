// The lines that need you: those that fit several products, to choose from, and those that were not found.
import {h} from "../dom.js";
import {count} from "../words.js";
import {longTable, money} from "./cells.js";
import {pricesOf} from "./valuation.js";

/** `choose(pairs)` is called with lines and the ids that were chosen for them. */
export function openView(lines, cards, choose) {
  const [several, none] = [lines.filter(({product, choices}) => choices && !product), lines.filter(({product, choices}) => !product && !choices)];
  return [several.length ? severalView(several, cards, choose) : "", none.length ? noneView(none) : ""];
}

function severalView(lines, cards, choose) {
  const selects = new Map();
  const cheapest = (line) => line.choices.toSorted((a, b) => trendOf(line, cards.get(a)) - trendOf(line, cards.get(b)))[0];
  const all = h("button", {type: "button", onclick: () => {
    const pairs = lines.filter(({product}) => !product).map((line) => [line, cheapest(line)]);
    choose(pairs);
    for (const [line, id] of pairs) if (selects.has(line)) selects.get(line).value = id;
  }}, "Take the cheapest of each");
  const columns = [["Line", ""], ["Quantity", "number"], ["Which one?", ""]];
  return h("section", {id: "several"}, h("h2", {}, `To choose (${count(lines.length)})`), h("p", {}, all),
    longTable("To choose", columns, lines, (line) => [lineCell(line), count(line.quantity), selectOf(line, cards, choose, selects)]));
}

const trendOf = (line, card) => pricesOf(line, card).trend ?? Infinity;

const lineCell = (line) => h("span", {}, line.name || `Product ${line.id ?? "?"}`,
  h("span", {class: "where"}, [line.set, line.number && `No. ${line.number}`, line.wrong ?? line.why].filter(Boolean).join(" · ")));

function selectOf(line, cards, choose, selects) {
  const options = line.choices.filter((id) => cards.has(id)).map((id) => {
    const card = cards.get(id);
    const text = [card.name, card.set.name, card.number && `No. ${card.number}`, card.rarity, money(pricesOf(line, card).trend)];
    return h("option", {value: id}, text.filter(Boolean).join(" · "));
  });
  const select = h("select", {"aria-label": `Which ${line.name}?`, onchange: () => choose([[line, Number(select.value) || null]])},
    h("option", {value: ""}, "Choose …"), options);
  select.value = line.product ?? "";
  selects.set(line, select);
  return select;
}

const noneView = (lines) => h("section", {id: "not-found"}, h("h2", {}, `Not found (${count(lines.length)})`),
  longTable("Not found", [["Line", ""], ["Quantity", "number"]], lines, (line) => [lineCell(line), count(line.quantity)]));
