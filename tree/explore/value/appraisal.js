// From lines to what is known of their products: the steps that ask the API.
import {idsOf, matchIds, matchNames} from "./match.js";

const FEW = 100; // products whose year takes one request

/**
 * Find the product of each line with its prices, and the year of a short list. `progress(what, done, all)` is called as it
 * goes. After an abort the lines keep what was found, and the catalogue what was loaded.
 */
export async function appraise(lines, catalogue, signal, progress) {
  const ids = new Set(lines.flatMap(idsOf));
  let done = [...ids].filter((id) => catalogue.products.has(id)).length;
  await catalogue.loadProducts([...ids], signal, (more) => progress("cards", done += more, ids.size));
  const open = matchIds(lines, catalogue);
  await matchNames(open, catalogue, signal, (asked) => progress("lines", lines.length - open.length + asked, lines.length));
  await loadPrices(lines, catalogue, signal);
}

/** Load what the value of lines with a product needs beside their market price: prices of foils, and the year of a short list. */
export async function loadPrices(lines, catalogue, signal) {
  await catalogue.loadCards(productsOf(lines.filter(({foil}) => foil)), signal);
  const products = productsOf(lines);
  if (products.length <= FEW) await catalogue.loadSeries(products, signal);
}

/** The ids of the products that lines have, each once. */
export const productsOf = (lines) => [...new Set(lines.map(({product}) => product).filter(Boolean))];
