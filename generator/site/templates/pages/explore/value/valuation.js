// What lines of a list are worth. Amounts are whole cents.

/** A price in whole cents, null for none. Prices have two decimals at most. */
export const cents = (price) => (price === null || price === undefined ? null : Math.round(price * 100));

/**
 * The prices of a line's product: `{price, low, foil}`. `foil` says of a foil whether its price is that of foils, which the
 * Card knows. A graded card has none: these are prices of raw cards.
 */
export function pricesOf(line, {price, low, card}) {
  if (line.grade) return {price: null, low: null, foil: null};
  const ofFoils = line.foil ? card?.price_guide?.holo.trend ?? 0 : 0;
  return {price: cents(ofFoils > 0 ? ofFoils : price), low: cents(low), foil: line.foil ? ofFoils > 0 : null};
}

/** Products by their price as that of a line, the cheapest first, those without a price last. */
export function cheapestFirst(line, products) {
  const price = (product) => pricesOf(line, product).price ?? Infinity;
  return products.toSorted((a, b) => price(a) - price(b) || a.id_product - b.id_product);
}

/** The cheapest offer of a line's condition under the seller filter, in cents; null if there is none. */
export const offerOf = ({condition}, card) =>
  cents(card.filtered_price?.cheapest_offers_by_condition[condition]?.[0]?.price);

/** The lines that have a product, valued: `{line, product, price, low, foil}`. */
export const valued = (lines, products) => lines.filter((line) => products.has(line.product)).map((line) => {
  const product = products.get(line.product);
  return {line, product, ...pricesOf(line, product)};
});

/** The worth of all lines at `price` or `low`, and how many cards have none: `{cents, without}`. */
export function total(rows, kind) {
  let [sum, without] = [0, 0];
  for (const row of rows) {
    if (row[kind] === null) without += row.line.quantity;
    else sum += row[kind] * row.line.quantity;
  }
  return {cents: sum, without};
}

/** The cards of a list that cost most, one line for each product. */
export function dearest(rows, most) {
  const priced = rows.filter(({price}) => price !== null).sort((a, b) => b.price - a.price);
  const distinct = new Map(priced.map((row) => [`${row.product.id_product} ${row.foil}`, row]));
  return [...distinct.values()].slice(0, most);
}

/** What of a set's singles a list lacks, the cheapest first. */
export function lacking(singles, lines) {
  const owned = new Set(lines.map(({product}) => product));
  const price = (product) => product.price ?? Infinity;
  return singles.filter(({id_product: id}) => !owned.has(id)).sort((a, b) => price(a) - price(b) || a.id_product - b.id_product);
}
