// Where a search finds nothing: links to searches that may be meant.
import {h} from "./dom.js";
import {foldWithoutApostrophes} from "./fold.js";
import {count} from "./words.js";

const MOST_SETS = 3;
const LONGEST = 100; // a list of /facets ends here
const SIGNS_AROUND = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/**
 * A promise of a line with links: to names that are spelled nearly like the one that was typed, and to what the words before
 * the last one find with that as a number or a set. It is empty if there are none. `values` are the filters.
 */
export async function meant({q = "", ...others}, names, api, signal) {
  const {set, number, rarity, ...wider} = others; // a card of another name is hardly in the same place
  const near = (await names.nearest(q)).map((name) => [name, {...wider, q: name}]);
  const links = [...await lastWordApart(q, others, api, signal), ...near];
  if (links.length === 0) return "";
  const parts = links.flatMap(([text, params]) => [h("a", {href: `#/cards?${new URLSearchParams(params)}`}, text), ", "]);
  return h("p", {class: "meant"}, "Did you mean ", parts.slice(0, -1), "?");
}

async function lastWordApart(text, others, api, signal) {
  const words = text.trim().split(/\s+/);
  const last = words.pop().replace(SIGNS_AROUND, "");
  if (words.length === 0 || last === "") return [];
  const q = words.join(" ");
  const found = async (name, more) => {
    const [, , rows] = await api.get("cards", {...others, q, ...more, limit: 1}, {signal});
    return Number(rows) > 0 ? [[`${q}, ${name} (${count(Number(rows))})`, {...others, q, ...more}]] : [];
  };
  const numbered = /\d/.test(last) ? await found(`number ${last}`, {number: last}) : [];
  if (numbered.length) return numbered;
  const sets = await setsWith({...others, q}, last, api, signal);
  return (await Promise.all(sets.map(({id, name}) => found(`set ${name}`, {set: id})))).flat();
}

/** The first sets with cards of a search that have a word in their names. A build that is older than /facets knows none. */
async function setsWith({set: _, sort, order, ...filters}, word, api, signal) {
  try {
    const [{sets}] = await api.get("facets", filters, {signal});
    const part = foldWithoutApostrophes(word);
    const known = sets.filter(({name}) => name && foldWithoutApostrophes(name).includes(part));
    const others = sets.length < LONGEST ? [] : (await api.get("sets", {q: word, limit: MOST_SETS}, {signal}))[0].data;
    return [...new Map([...known, ...others].map((one) => [one.id, one])).values()].slice(0, MOST_SETS);
  } catch (error) {
    if (signal.aborted) throw error;
    return [];
  }
}
