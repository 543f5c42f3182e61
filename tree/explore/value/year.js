// The worth of a list over a year, by weeks. A week without a price carries the last one before it.
import {cents} from "./valuation.js";

const DAY_MILLISECONDS = 86_400_000;
const WEEK_DAYS = 7;
export const AGES = [[7, "7 days ago"], [30, "30 days ago"], [365, "A year ago"]];

/** Whether the year of all lines is loaded. */
export const hasYear = (rows, {series}) => rows.every(({product}) => series.has(product.id_product));

/** The lines whose prices the year knows: not those of foils, and none if no line has a price. */
export const inYear = (rows, series) => rows.every(({price}) => price === null)
  ? [] : rows.filter(({line, foil, product}) => !line.grade && foil !== true && series.has(product.id_product));

/** Prices of weeks in cents, with the last one where there is none: `[{price, carried}]`; null before the first one. */
export function carry(prices) {
  let last = null;
  return prices.map((price) => {
    last = cents(price) ?? last;
    return {price: last, carried: price === null && last !== null};
  });
}

/** What lines were worth in each week: `[{week, cents, carried}]`, where `carried` is the part without a price of that week. */
export function worthByWeek(rows, series, weeks) {
  const worth = weeks.map((week) => ({week, cents: 0, carried: 0}));
  for (const {product, line} of rows) {
    carry(series.get(product.id_product)).forEach(({price, carried}, at) => {
      worth[at].cents += (price ?? 0) * line.quantity;
      if (carried) worth[at].carried += price * line.quantity;
    });
  }
  return worth;
}

/** The place of the week that holds the day so many days before a day; the first one for all earlier days. */
export function weekBefore(weeks, day, days) {
  const age = (Date.parse(day) - Date.parse(weeks[0])) / DAY_MILLISECONDS - days;
  return Math.max(0, Math.floor(age / WEEK_DAYS));
}

/** How lines moved since a week, in cents for all their cards: `[{product, line, then, now}]`, without lines that had no price. */
export function movesSince(rows, series, week) {
  return rows.flatMap(({product, line}) => {
    const prices = carry(series.get(product.id_product));
    const [then, now] = [prices[week].price, prices.at(-1).price];
    return then === null ? [] : [{product, line, then: then * line.quantity, now: now * line.quantity}];
  });
}

/** The sum of moves: `{then, now, cards}`. */
export const sumOf = (moves) => moves.reduce((sum, {then, now, line}) =>
  ({then: sum.then + then, now: sum.now + now, cards: sum.cards + line.quantity}), {then: 0, now: 0, cards: 0});
