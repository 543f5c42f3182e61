// The market price of a card, by the rule of the API: the trend, else the trend of foils. And what cards cost together.
import {count, euros} from "./words.js";

/** `{price, field, foil}` of a price guide, with the field of its history; null if it has no market price. */
export function marketPrice(guide) {
  if (guide?.trend > 0) return {price: guide.trend, field: "trend", foil: false};
  return guide?.holo.trend > 0 ? {price: guide.holo.trend, field: "trend_holo", foil: true} : null;
}

/** The lowest offer across Europe of the finish that has the market price; null if the guide has none. */
export const lowestOffer = (guide) => (marketPrice(guide)?.foil ? guide.holo.low : guide?.low) ?? null;

/** What some Cards cost together, by market price and by lowest offer, and how many of them have such a price, in words. */
export function costText(cards) {
  const guides = cards.map(({price_guide: guide}) => guide);
  const [market, lowest] = [guides.map((guide) => marketPrice(guide)?.price), guides.map(lowestOffer)].map(sumText);
  return `${market} at market prices, ${lowest} at the lowest offers across Europe`;
}

/** A sum of prices, exact by whole cents, and for how many of them it speaks. */
function sumText(prices) {
  const known = prices.filter((price) => price !== null && price !== undefined);
  const cents = known.reduce((sum, price) => sum + Math.round(price * 100), 0);
  const some = known.length === prices.length ? "" : ` (${count(known.length)} of ${count(prices.length)} have one)`;
  return `${euros(known.length ? cents / 100 : null)}${some}`;
}

/**
 * What the cards cost together, and how many have no price; nothing in a copy as plain files. `missed` is how many cards the
 * sum misses, whose price is that of foils.
 */
export function inAll({products, priced, value, missed} = {}) {
  if (!priced) return "";
  const without = products - priced;
  const rest = (without ? `, ${count(without)} without a price` : "") + (missed ? `, and ${count(missed)} in foil alone` : "");
  return `, ${euros(value)} in all${rest}`;
}
