// Which product a line of a list means: names, sets and numbers are compared as people write them.
import {baseName, faceName, fold, nameKey, shortName, wordText} from "../fold.js";

export const SET_CODE = /^(?:[\w-]{1,6}|(?=.*\d)[\w.-]{1,12})$/;

/** The front of a card with two faces, or the name of one with one. */
export const faceOf = (name) => faceName(name) || name;

const BASES = [baseName, (name) => shortName(name) || baseName(name), (name) => faceOf(baseName(name))];
const KEYS = [nameKey, ...BASES.map((base) => (name) => wordText(base(name)))]; // the nearest first

/** A basic energy as it was called before it was called basic. */
export const energyOf = (name) => name.replace(/^basic (?=\p{L}+ energy\b)/iu, "");

/** Whether a line that has a name can mean a Card. */
export function agrees(name, card) {
  const keys = KEYS.map((key) => key(energyOf(card.name)));
  return [name, faceOf(name)].some((one) => keys.includes(nameKey(energyOf(one))));
}

/** A collector number as the API compares it: `058/102` is 58. What has no digit before its slash, like `SY/W08-025`, is whole. */
export function numberKey(text) {
  const [part] = text.split("/");
  return wholeNumberKey(/\d/.test(part) ? part : text);
}

const wholeNumberKey = (text) => fold(text).trim().replace(/\d+/g, (digits) => digits.replace(/^0+(?=\d)/, ""));

/**
 * What a line means among Cards: `{id}` for one, `{choices, why}` for several, `{why}` for none. `likely` is the one of several
 * that has the number, where the right one may have none.
 * `sets` are the ids of the sets that have the name of the line's set.
 */
export function decide({name, set, number}, cards, sets) {
  const named = set || number ? agreeing(name, cards) : nearest(name, cards);
  if (named.length === 0) return {why: "no product has this name"};
  const unknown = {kept: named, agreed: !set || SET_CODE.test(set)};
  const inSet = sets.length ? narrow(named, (card) => sets.includes(card.set.id)) : unknown;
  const counts = number && inSet.kept.some((card) => card.number); // else the number says nothing
  const {kept, agreed} = counts ? withNumber(inSet.kept, number) : {kept: inSet.kept, agreed: true};
  const proves = counts && agreed && inSet.kept.every((card) => card.number); // else the right product may be one without
  const placed = sets.length || !counts ? inSet.agreed : proves || !set;
  if (kept.length === 1 && agreed && placed) return {id: kept[0].id_product};
  const why = !placed ? `not known in “${set}”` : agreed ? "several products fit" : `the number ${number} is not known`;
  const likely = counts && agreed && kept.length === 1 ? kept[0].id_product : undefined;
  return {choices: kept.map((card) => card.id_product), why, likely};
}

/** The Cards whose whole or base name is a name, so that set and number tell which; those of the nearest name if there are none. */
function agreeing(name, cards) {
  const wanted = nameKey(name);
  const found = cards.filter((card) => KEYS.slice(0, 2).some((key) => key(card.name) === wanted));
  return found.length ? found : nearest(name, cards);
}

/** The Cards whose name is nearest to a name, of those that are equal to it in one of the three ways. */
function nearest(name, cards) {
  for (const wanted of [name, faceOf(name)].map(nameKey)) {
    for (const key of KEYS) {
      const found = cards.filter((card) => key(card.name) === wanted);
      if (found.length) return found;
    }
  }
  return [];
}

/** The Cards with a number: as it stands, else as its part before a slash; all of them if none has it. */
function withNumber(cards, number) {
  const whole = narrow(cards, (card) => wholeNumberKey(card.number ?? "") === wholeNumberKey(number));
  return whole.agreed ? whole : narrow(cards, (card) => numberKey(card.number ?? "") === numberKey(number));
}

/** The Cards that fit; all of them if none does. */
function narrow(cards, fits) {
  const kept = cards.filter(fits);
  return kept.length ? {kept, agreed: true} : {kept: cards, agreed: false};
}
