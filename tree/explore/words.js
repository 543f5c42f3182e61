// Numbers, times and codes in words.

const LOCALE = "en-IE";
const MONEY = new Intl.NumberFormat(LOCALE, {style: "currency", currency: "EUR"});
const ROUND = new Intl.NumberFormat(LOCALE, {style: "currency", currency: "EUR", maximumSignificantDigits: 3, notation: "compact"});
const COUNT = new Intl.NumberFormat(LOCALE);
const INDEX = new Intl.NumberFormat(LOCALE, {minimumFractionDigits: 2, maximumFractionDigits: 2});
const SIZE = new Intl.NumberFormat(LOCALE, {maximumFractionDigits: 1});
const PERCENT = new Intl.NumberFormat(LOCALE, {minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: "exceptZero"});
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export const NONE = "–";
const or = (format) => (value) => (value === null || value === undefined ? NONE : format(value));

export const euros = or((value) => MONEY.format(value));
export const roundEuros = or((value) => ROUND.format(value));
export const count = or((value) => COUNT.format(value));
/** A size in kB, MB or GB. */
export const bytes = or((value) => {
  const power = Math.min(3, Math.max(1, Math.floor(Math.log10(Math.max(value, 1)) / 3)));
  return `${SIZE.format(value / 1000 ** power)} ${["", "kB", "MB", "GB"][power]}`;
});
export const percent = or((value) => `${PERCENT.format(value).replace("-", "−")} %`);
/** The index of a market, which is 100 on its first day. */
export const index = or((value) => INDEX.format(value));
/** A day of the API, as the build writes days into the pages. */
export const day = or((value) => `${Number(value.slice(8, 10))} ${MONTHS[Number(value.slice(5, 7)) - 1]} ${value.slice(0, 4)}`);
export const time = or((value) => `${day(value)}, ${value.slice(11, 16)} UTC`);

export const CONDITIONS = {
  MT: "Mint", NM: "Near Mint", EX: "Excellent", GD: "Good", LP: "Light Played", PL: "Played", PO: "Poor",
};
export const condition = or((code) => CONDITIONS[code.toUpperCase()] ?? code);

/** The API's seller filter `sellerCountry=23&language=1`. */
export const SELLER_FILTER = "English, one country";
export const SELLER_FILTER_MEANING = "The cheapest offers of the English card, in any condition, by sellers in one country.";

/** Since when a price moved. */
export const since = (value) => `since ${day(value).replace(/ \d+$/, "").replace(" ", "\u00a0")}`;

/** Whether a change is up or down, as a class; "" for none. */
export const direction = (change) => (change > 0 ? "up" : change < 0 ? "down" : "");

/** A message of the API as pages write it. */
export const sentence = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The name of a set, also of one that the lake does not know; null for no set. */
export const setName = ({id, name}) => name ?? (id === null ? null : `Expansion ${id}`);

/** Name the page: what it shows, where that is. */
export function titled(...parts) {
  document.title = [...parts, "cardpress"].filter(Boolean).join(", ");
}
