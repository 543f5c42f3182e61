// The market price of a card, by the rule of the API: the trend, else the trend of foils. And what cards cost together.
import {count, euros} from "./words.js";

/** `{price, field, foil}` of a price guide, with the field of its history; null if it has no market price. */
export function marketPrice(guide) {
  if (guide?.trend > 0) return {price: guide.trend, field: "trend", foil: false};
  return guide?.holo.trend > 0 ? {price: guide.holo.trend, field: "trend_holo", foil: true} : null;
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
