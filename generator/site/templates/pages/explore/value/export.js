// The valued list as a table.
import {condition} from "../words.js";

const COLUMNS = ["Line", "Status", "Quantity", "idProduct", "Name", "Set name", "Collector number", "Foil", "Condition", "Language",
  "Market price", "Lowest offer", "Market price of all", "Lowest offers of all", "Note"];

/** The table; `rows` are the valued lines, `lines` all of them. */
export function tableOf(lines, rows) {
  const byLine = new Map(rows.map((row) => [row.line, row]));
  return [COLUMNS, ...lines.map((line, at) => cellsOf(line, at + 1, byLine.get(line)))];
}

const euros = (cents, quantity = 1) => (cents === null || cents === undefined ? "" : (cents * quantity / 100).toFixed(2));

function cellsOf(line, number, {product: known, price, low, foil} = {}) {
  const {quantity} = line;
  const product = [known?.id_product ?? line.id, known?.name ?? line.name, known?.set.name ?? line.set, known?.number ?? line.number];
  const copy = [line.foil ? "foil" : "", condition(line.condition), line.language];
  const prices = [euros(price), euros(low), euros(price, quantity), euros(low, quantity)];
  const note = foil === false ? "No price of foils: the normal price" : line.wrong ?? line.why ?? "";
  return [number, statusOf(line), quantity, ...product, ...copy, ...prices, note];
}

/** Whether the page took the cheapest of several products for a line. */
export const isAssumed = ({product, why}) => Boolean(product && why);

/** How a line ended. */
export const statusOf = ({product, choices}) => (product ? "matched" : choices ? "several" : "not found");
