// The lines that need you: those that fit several products, to choose from or to check, and those that were not found.
import {h} from "../dom.js";
import {count, setName} from "../words.js";
import {lineCell, longTable, money} from "./cells.js";
import {isAssumed, statusOf} from "./export.js";
import {cheapestFirst, pricesOf} from "./valuation.js";

/** `choose(pairs)` is called with lines and the ids that were chosen for them. */
export function openView(lines, products, choose) {
  const [several, none] = ["several", "not found"].map((status) => lines.filter((line) => statusOf(line) === status));
  const assumed = lines.filter(isAssumed);
  return [several.length ? severalView(several, products, choose) : "",
    assumed.length ? choicesView("To check", assumed, products, choose) : "", none.length ? noneView(none) : ""];
}

function severalView(lines, products, choose) {
  const selects = new Map();
  const cheapest = (line) => cheapestFirst(line, choicesOf(line, products))[0]?.id_product ?? null;
  const all = h("button", {type: "button", onclick: () => {
    const pairs = lines.filter(({product}) => !product).map((line) => [line, cheapest(line)]);
    choose(pairs);
    for (const [line, id] of pairs) if (selects.has(line)) selects.get(line).value = id ?? "";
  }}, "Take the cheapest of each");
  return choicesView("To choose", lines, products, choose, selects, h("p", {}, all));
}

function choicesView(title, lines, products, choose, selects = new Map(), actions = "") {
  const columns = [["Line", ""], ["Quantity", "number"], ["Which one?", ""]];
  const cells = (line) => [lineCell(line), count(line.quantity), selectOf(line, products, choose, selects)];
  return h("section", {}, h("h2", {}, `${title} (${count(lines.length)})`), actions, longTable(title, columns, lines, cells));
}

/** The choices that the build has. */
const choicesOf = ({choices}, products) => choices.map((id) => products.get(id)).filter(Boolean);

function selectOf(line, products, choose, selects) {
  const options = choicesOf(line, products).map((product) => {
    const {name, set, number, card} = product;
    const text = [name, setName(set), number && `No. ${number}`, card?.rarity, money(pricesOf(line, product).price)];
    return h("option", {value: product.id_product}, text.filter(Boolean).join(" · "));
  });
  const chosen = () => choose([[line, Number(select.value) || null]]);
  const select = h("select", {"aria-label": `Which ${line.name}?`, onchange: chosen}, h("option", {value: ""}, "Choose …"), options);
  select.value = line.product ?? "";
  selects.set(line, select);
  return select;
}

const noneView = (lines) => h("section", {}, h("h2", {}, `Not found (${count(lines.length)})`),
  longTable("Not found", [["Line", ""], ["Quantity", "number"]], lines, (line) => [lineCell(line), count(line.quantity)]));
