// Finds the product of each line: by its id, else by its name, set and number.
import {PAGE, requestsFor, searchOfName} from "./name-requests.js";
import {decide, nameKey, numberKey} from "./same-card.js";
import {Spellings} from "./spellings.js";
import {inSlices} from "./slices.js";

const MOST_CHOICES = 20;

/** The ids of products that a line needs: its own, those to choose from, or the one that it names. */
export const idsOf = ({product, choices, id}) => (product ? [product] : choices ?? (id === null ? [] : [id]));

/** Give a line whose id is a product's that `product`. Return the lines that are left to be found by their names. */
export function matchIds(lines, catalogue) {
  for (const line of lines) if (!catalogue.cards.has(line.product)) delete line.product; // a newer build may lack it
  const open = lines.filter((line) => !line.product && !line.choices && !line.wrong);
  for (const line of open) {
    if (catalogue.cards.has(line.id)) line.product = line.id;
    else if (!line.name) line.why = `no product has the id ${line.id}`;
  }
  return open.filter((line) => !line.product && line.name);
}

/** Give each line a `product`, or `choices`, or neither; `why` says why. `progress(done, all)` counts requests. */
export async function matchNames(lines, catalogue, signal, progress) {
  const spellings = await Spellings.of(await catalogue.names(signal));
  const sets = lines.some(({set}) => set) ? Map.groupBy(await catalogue.sets(signal), ({name}) => nameKey(name)) : new Map();
  const wanted = [];
  await inSlices(lines, (line) => {
    const reading = spellings.reading(line);
    const words = spellings.wordsOf(reading.name);
    if (words) wanted.push({line, reading, words, sets: (reading.set && sets.get(nameKey(reading.set))) || []});
    else line.why = "no product has this name";
  });
  const requests = requestsFor(wanted, spellings.known ? {sort: "match"} : {});
  for (const [done, request] of requests.entries()) {
    progress(done, requests.length);
    const cards = await request.ask(catalogue, signal);
    for (const one of request.wanted) settle(one.line, await found(one, cards, catalogue, signal));
  }
}

/** What a line means. If the Cards do not say, others may: those of other sets, or those that have the line's number. */
async function found({reading, words, sets}, cards, catalogue, signal) {
  const ids = sets.map(({id}) => id);
  const first = decide(reading, cards, ids);
  const others = first.id ? null : first.choices ? ofNumber(reading.number, cards) : ids.length === 1 && {};
  if (!others) return first;
  const second = decide(reading, await catalogue.search({...searchOfName(words), ...others}, signal), ids);
  return second.id || !first.choices ? second : first;
}

/** The filter of a number, where a search may have found more Cards than it gives. */
const ofNumber = (number, cards) => (number && cards.length >= PAGE ? {number: numberKey(number)} : null);

function settle(line, {id, choices, why}) {
  if (id) line.product = id;
  else Object.assign(line, {why}, choices && {choices: choices.slice(0, MOST_CHOICES)});
}
