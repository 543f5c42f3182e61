// Which product a line of a list means: names, sets and numbers are compared as people write them.
import {fold} from "../fold.js";

const SET_CODE = /^[\w-]{1,6}$/; // the catalogue has names of sets alone

/** A name without case, accents, kinds of quotes and double spaces. */
export const nameKey = (text) => fold(text).replace(/[’‘´`]/g, "'").replace(/["“”]/g, "").replace(/\s+/g, " ").trim();

/** A name without what catalogues add in brackets, such as attacks or a number. */
const baseKey = (text) => nameKey(text.replace(/(?<=\S)\s*[[(].*$/s, ""));

/** The first face of a card with two, and a name without a subtitle. */
const firstKey = (text) => baseKey(text.split(/ (?:\/\/?|-) /)[0]);

export const KEYS = [nameKey, baseKey, firstKey]; // the nearest first

/** A collector number as the API compares it: `058/102` is 58. */
export const numberKey = (text) =>
  fold(text.split("/")[0]).trim().replace(/\d+/g, (digits) => digits.replace(/^0+(?=\d)/, ""));

/**
 * What a line means among Cards: `{id}` for one, `{choices, why}` for several, `{why}` for none.
 * `sets` are the ids of the sets that have the name of the line's set.
 */
export function decide({name, set, number}, cards, sets) {
  const named = nearest(name, cards);
  if (named.length === 0) return {why: "no product has this name"};
  const unknown = {kept: named, agreed: !set || SET_CODE.test(set)};
  const inSet = sets.length ? narrow(named, (card) => sets.includes(card.set.id)) : unknown;
  const numbered = narrow(inSet.kept, (card) => numberKey(card.number ?? "") === numberKey(number));
  const counts = number && inSet.kept.some((card) => card.number); // else the number says nothing
  const {kept, agreed} = counts ? numbered : {kept: inSet.kept, agreed: true};
  const placed = inSet.agreed || (counts && agreed && !sets.length);
  if (kept.length === 1 && agreed && placed) return {id: kept[0].id_product};
  const why = !placed ? `not known in “${set}”` : agreed ? "several products fit" : `the number ${number} is not known`;
  return {choices: kept.map((card) => card.id_product), why};
}

/** The Cards whose name is nearest to a name, of those that are equal to it in one of the three ways. */
function nearest(name, cards) {
  for (const key of KEYS) {
    const found = cards.filter((card) => key(card.name) === key(name));
    if (found.length) return found;
  }
  return [];
}

/** The Cards that fit; all of them if none does. */
function narrow(cards, fits) {
  const kept = cards.filter(fits);
  return kept.length ? {kept, agreed: true} : {kept: cards, agreed: false};
}
