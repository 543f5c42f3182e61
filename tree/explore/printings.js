// The other products of the same name.
import {nameKey} from "./fold.js";

const LONGEST_QUERY = 100; // characters, of the API
const MOST = 50;

/** A promise of the singles with the name of a product, without it. */
export async function printingsOf(product, api, signal) {
  if (product.kind !== "single" || product.name.length > LONGEST_QUERY) return [];
  const [page] = await api.get("cards", {q: product.name, kind: "single", sort: "match", limit: MOST}, {signal});
  const name = nameKey(product.name);
  return page.data.filter((card) => nameKey(card.name) === name && card.id_product !== product.id_product);
}
