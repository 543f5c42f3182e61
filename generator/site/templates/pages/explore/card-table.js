// The cards of a list as a table: the columns of `prices.csv` that a Card has, under its names.
import {lowestOffer, marketPrice} from "./price.js";

const CARDS_PER_REQUEST = 100;
const MOST_CARDS = 1000; // each hundred costs one request
const COLUMNS = ["id_product", "name", "kind", "set_id", "set", "number", "rarity", "day", "price", "finish", "low", "avg7", "avg30", "url"];

/** A promise of the table of the first cards that a query of /cards finds. Throws as `Api.get`. */
export async function cardTable(api, query, signal) {
  const table = [COLUMNS];
  let build;
  for (let offset = 0; offset !== null && offset < MOST_CARDS;) {
    const [page, from] = await api.get("cards", {...query, limit: CARDS_PER_REQUEST, offset}, {signal, build});
    table.push(...page.data.map(cellsOf));
    [build, offset] = [from, page.pagination.next_offset];
  }
  return table;
}

function cellsOf({id_product: id, name, kind, set, number, rarity, cardmarket_url: url, price_guide: guide}) {
  const market = marketPrice(guide);
  const {avg7, avg30} = market?.foil ? guide.holo : guide ?? {};
  const prices = market ? [guide.day, market.price, market.foil ? "foil" : "normal", lowestOffer(guide), avg7, avg30] : Array(6).fill(null);
  return [id, name, kind, set.id, set.name, number, rarity, ...prices, url];
}
