// Where a search finds nothing: links to searches that may be meant.
import {h} from "./dom.js";
import {wordText} from "./fold.js";
import {nearest} from "./near-names.js";
import {count} from "./words.js";

const MOST_SETS = 3;
const SIGNS_AROUND = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/**
 * A promise of a line with links: to names that are spelled nearly like the one that was typed, to what the first words find
 * with the last one as a number or with the others as a set, and to sets and games that are spelled nearly like those of the
 * filters. It is empty if there are none. `values` are the filters.
 */
export async function meant(values, names, api, signal) {
  const {q = "", ...others} = values;
  const {set, number, rarity, ...wider} = others; // a card of another name is hardly in the same place
  const near = (await names.nearest(q)).map((name) => [name, {...wider, q: name}]);
  const links = [...await lastWordsApart(q, others, api, signal), ...near, ...await nearValues(values, api)];
  if (links.length === 0) return "";
  const parts = links.flatMap(([text, params]) => [h("a", {href: `#/cards?${new URLSearchParams(params)}`}, text), ", "]);
  return h("p", {class: "meant"}, "Did you mean ", parts.slice(0, -1), "?");
}

async function lastWordsApart(text, others, api, signal) {
  const words = text.trim().split(/\s+/);
  if (words.length < 2) return [];
  const found = async (find, name, more) => {
    const [, , rows] = await api.get("cards", {...others, find, ...more, limit: 1}, {signal});
    return Number(rows) > 0 ? [[`${find}, ${name} (${count(Number(rows))})`, {...others, q: find, ...more}]] : [];
  };
  const last = words.at(-1).replace(SIGNS_AROUND, "");
  const numbered = /\d/.test(last) ? await found(words.slice(0, -1).join(" "), `number ${last}`, {number: last}) : [];
  if (numbered.length) return numbered;
  const sets = await known("set", api);
  const cuts = words.slice(1).map((_, at) => [words.slice(0, at + 1).join(" "), wordText(words.slice(at + 1).join(" "))]);
  const near = cuts.flatMap(([first, rest]) => nearest(sets, rest, 1).map((one) => [first, one])).slice(0, MOST_SETS);
  return (await Promise.all(near.map(([first, {id, name}]) => found(first, `set ${name}`, {set: id})))).flat();
}

/** Links to the search with the set or the game that is nearest to one that is not known. */
async function nearValues(values, api) {
  const links = await Promise.all(["set", "game"].filter((filter) => values[filter]).map(async (filter) => {
    const [all, text] = [await known(filter, api), wordText(values[filter])];
    if (text === "" || all.some(({words, id}) => words === text || String(id) === text)) return [];
    const holding = all.filter(({words}) => words.includes(text)).sort((a, b) => b.products - a.products);
    return [...nearest(all, text, 1), ...holding].slice(0, 1).map(({name}) => [`${filter} ${name}`, {...values, [filter]: name}]);
  }));
  return links.flat();
}

/** The sets or the games, with the words of their names. */
async function known(filter, api) {
  const rows = await api.all(`${filter}s`, {limit: 500});
  return rows.filter(({name}) => name).map((row) => ({...row, words: wordText(row.name)}));
}
