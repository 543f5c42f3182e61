// The requests that find lines by their names: one for each name, or the pages of a set if those are fewer.
import {nameKey} from "./same-card.js";

export const PAGE = 100; // Cards of an answer
const MOST_CHARACTERS = 100; // of `q`

/** The requests `{wanted, ask}` for `wanted`, each `{words, sets}`. `ask(catalogue, signal)` gives Cards. */
export function requestsFor(wanted, sort) {
  const byName = Map.groupBy(wanted, ({words, sets}) => JSON.stringify([nameKey(words), sets.map(({id}) => id)]));
  const bySet = Map.groupBy(byName.values(), ([{sets}]) => (sets.length === 1 ? sets[0] : null));
  return [...bySet].flatMap(([set, names]) => {
    const pages = set ? Math.ceil(set.products / PAGE) : Infinity;
    return pages < names.length ? [pagesOf(set, names.flat())] : names.map((some) => searchOf(set, some, sort));
  });
}

const pagesOf = (set, wanted) => ({wanted, ask: (catalogue, signal) => catalogue.ofSet(set.id, signal)});

function searchOf(set, wanted, sort) {
  const filters = {...searchOfName(wanted[0].words), ...(set && {set: set.id}), ...sort};
  return {wanted, ask: (catalogue, signal) => catalogue.search(filters, signal)};
}

/** The filter of /cards for words of a name, as many as it takes. */
export const searchOfName = (words) =>
  ({q: words.length <= MOST_CHARACTERS ? words : words.slice(0, MOST_CHARACTERS).replace(/\s\S*$/, "")});
