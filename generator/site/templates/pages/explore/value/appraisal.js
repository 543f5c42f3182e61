// From lines to what is known of their products: the steps that ask the API.
import {idsOf, matchIds, matchNames} from "./match.js";

/**
 * Find the product of each line, and load its Card and its year. `progress(what, done, all)` is called as it goes. After
 * an abort the lines keep what was found, and the catalogue what was loaded.
 */
export async function appraise(lines, catalogue, signal, progress) {
  await load(lines.flatMap(idsOf), lines, catalogue, signal, progress);
  const open = matchIds(lines, catalogue);
  if (open.length === 0) return;
  await matchNames(open, catalogue, signal, (done, all) => progress("names", done, all));
  await load(lines.flatMap(idsOf), lines, catalogue, signal, progress);
}

async function load(ids, lines, catalogue, signal, progress) {
  const distinct = new Set(ids);
  const loaded = [...distinct].filter((id) => catalogue.cards.has(id)).length;
  const choices = new Set(lines.flatMap((line) => (line.product ? [] : line.choices ?? [])));
  let done = loaded;
  await Promise.all([
    catalogue.loadCards(ids, signal, (more) => progress("cards", done += more, distinct.size)),
    catalogue.loadSeries(ids.filter((id) => !choices.has(id)), signal),
  ]);
}
