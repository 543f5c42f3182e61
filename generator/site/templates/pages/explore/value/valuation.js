// What lines of a list are worth. Amounts are whole cents.

/** A price in whole cents, null for none. Prices have two decimals at most. */
export const cents = (price) => (price === null || price === undefined ? null : Math.round(price * 100));

/**
 * The prices of a line's Card: `{trend, low, foil}`. `foil` says of a foil whether these are prices of foils; the marketplace
 * writes a trend of 0 where it has none. A graded card has none: these are prices of raw cards.
 */
export function pricesOf(line, {price_guide: guide}) {
  if (line.grade) return {trend: null, low: null, foil: null};
  const foil = line.foil && (guide?.holo.trend ?? 0) > 0;
  const {trend, low} = (foil ? guide.holo : guide) ?? {};
  return {trend: cents(trend), low: cents(low), foil: line.foil ? foil : null};
}

/** Cards by their trend price as the Card of a line, the cheapest first, those without such a price last. */
export function cheapestFirst(line, cards) {
  const trend = (card) => pricesOf(line, card).trend ?? Infinity;
  return cards.toSorted((a, b) => trend(a) - trend(b) || a.id_product - b.id_product);
}

/** The cheapest offer of a line's condition under the seller filter, in cents; null if there is none. */
export const offerOf = ({condition}, {filtered_price: filtered}) =>
  cents(filtered?.cheapest_offers_by_condition[condition]?.[0]?.price);

/** The lines that have a product, valued: `{line, card, trend, low, foil}`. */
export const valued = (lines, cards) => lines.filter(({product}) => cards.has(product)).map((line) => {
  const card = cards.get(line.product);
  return {line, card, ...pricesOf(line, card)};
});

/** The newest day of the prices; null if there is none. */
export const newestDay = (rows) =>
  rows.reduce((newest, {card: {price_guide: guide}}) => (guide && guide.day > (newest ?? "") ? guide.day : newest), null);

/** The worth of all lines at one of their prices, and how many cards have none: `{cents, without}`. */
export function total(rows, price) {
  let [sum, without] = [0, 0];
  for (const row of rows) {
    if (row[price] === null) without += row.line.quantity;
    else sum += row[price] * row.line.quantity;
  }
  return {cents: sum, without};
}

/** The cards of a list that cost most, one line for each product. */
export function dearest(rows, most) {
  const priced = rows.filter(({trend}) => trend !== null).sort((a, b) => b.trend - a.trend);
  const distinct = new Map(priced.map((row) => [`${row.card.id_product} ${row.foil}`, row]));
  return [...distinct.values()].slice(0, most);
}

/** What of a set's Cards a list lacks, the cheapest first, what they cost at `low`, and how many have no such price. */
export function lacking(ofSet, lines) {
  const owned = new Set(lines.map(({product}) => product));
  const missing = ofSet.filter(({kind, id_product: id}) => kind === "single" && !owned.has(id));
  const low = (card) => cents(card.price_guide?.low) ?? Infinity;
  const cards = missing.sort((a, b) => low(a) - low(b) || a.id_product - b.id_product);
  const priced = cards.filter((card) => low(card) < Infinity);
  return {cards, cents: priced.reduce((sum, card) => sum + low(card), 0), without: cards.length - priced.length};
}
