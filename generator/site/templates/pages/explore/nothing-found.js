// Where a search finds nothing: links to searches that may be meant.
import {h} from "./dom.js";
import {count} from "./words.js";

const MOST_SETS = 3;

/**
 * A promise of a line with links: to names that are spelled nearly like the one that was typed, and to what the words before
 * the last one find with that as a number or a set. It is empty if there are none. `values` are the filters.
 */
export async function meant({q = "", ...others}, names, api, signal) {
  const near = (await names.nearest(q)).map((name) => [name, {...others, q: name}]);
  const links = [...await lastWordApart(q, others, api, signal), ...near];
  if (links.length === 0) return "";
  const parts = links.flatMap(([text, params]) => [h("a", {href: `#/cards?${new URLSearchParams(params)}`}, text), ", "]);
  return h("p", {class: "meant"}, "Did you mean ", parts.slice(0, -1), "?");
}

async function lastWordApart(text, others, api, signal) {
  const words = text.trim().split(/\s+/);
  const last = words.pop();
  if (words.length === 0) return [];
  const q = words.join(" ");
  const found = async (name, more) => {
    const [, , rows] = await api.get("cards", {...others, q, ...more, limit: 1}, {signal});
    return Number(rows) > 0 ? [[`${q}, ${name} (${count(Number(rows))})`, {...others, q, ...more}]] : [];
  };
  const numbered = /\d/.test(last) ? await found(`number ${last}`, {number: last}) : [];
  if (numbered.length) return numbered;
  const [{data: sets}] = await api.get("sets", {q: last, limit: MOST_SETS}, {signal});
  return (await Promise.all(sets.map(({id, name}) => found(`set ${name}`, {set: id})))).flat();
}
