// Finds the product of each line: by its id, else as other catalogues name it, else by its name, set and number.
import {wordText} from "../fold.js";
import {matchElsewhere} from "./elsewhere.js";
import {decide, energyOf, faceOf, numberKey} from "./same-card.js";
import {cheapestFirst} from "./valuation.js";

const MOST_CHOICES = 20;
const MOST_CHARACTERS = 100; // of `q`
const MOST_NAMED = 200; // characters of a name
const FEWEST_OF_CODE = 3; // lines that tell the set of a code, if more than nine of ten agree

/** The ids of products that a line needs: its own, those to choose from or to check, or the one that it names. */
export const idsOf = ({product, choices, id, why}) => (product && !why ? [product] : choices ?? (id === null ? [] : [id]));

/** Give a line whose id is a product's that `product`. Return the lines that are left to be found by their names. */
export function matchIds(lines, {products}) {
  for (const line of lines) if (!products.has(line.product)) delete line.product; // a newer build may lack it
  const open = lines.filter((line) => !line.product && !line.choices && !line.wrong);
  for (const line of open) {
    if (products.has(line.id)) Object.assign(line, {product: line.id, why: undefined});
    else if (!line.name) line.why = `no product has the id ${line.id}`;
  }
  return open.filter((line) => !line.product && line.name);
}

/**
 * Give each line a `product`, or `choices`, or neither; `why` says why. `progress(done)` counts lines. The name of each line
 * is asked for first: with the set and the number, that is enough for most.
 */
export async function matchNames(lines, catalogue, signal, progress) {
  const names = lines.map(({name}) => name.trim()).filter(isAskable);
  const entries = await catalogue.named(names, signal, (asked) =>
    progress(lines.filter(({name}) => asked.has(name.trim())).length));
  const codes = lines.some(({code}) => code) ? await catalogue.codes(signal) : new Map();
  const open = lines.filter((line) => !settleByName(line, entries.get(line.name.trim()), codes));
  if (open.length) await matchOtherwise(open, lines, codes, catalogue, signal);
}

/** Settle a line whose name, with its set and number, is proof enough. Return whether it is settled. */
function settleByName(line, entry, codes) {
  if (!entry || entry.products > entry.ids.length) return false;
  const sets = setsIn(entry.printings, line, codes);
  if ((line.set || line.code) && sets.length === 0) return false; // what seems to be a set may be a part of the name
  const meant = decide(line, entry.printings, sets);
  const product = entry.printings.find((one) => one.id_product === meant.id);
  const isCodeAlone = product && wordText(line.set ?? "") !== wordText(product.set.name ?? "");
  if (line.number && isCodeAlone && !isNumbered(product, line)) return false; // a card of another name may have the number
  const isAll = meant.id || !(line.set || line.code || line.number || line.whole || line.scryfall || line.tcgplayer);
  if (isAll) settle(line, meant);
  return isAll;
}

/** The ids of the sets among printings that a line names, or that its code means. */
function setsIn(printings, {set, code}, codes) {
  const named = wordText(set ?? "");
  const ofCode = codes.get(code?.toLowerCase());
  const sets = printings.map((one) => one.set).filter(({id, name}) => (named && wordText(name ?? "") === named) || id === ofCode);
  return [...new Set(sets.map(({id}) => id))];
}

/** Match lines by the ids of other catalogues, by all that may be their names, and by what other lines tell of codes. */
async function matchOtherwise(open, lines, codes, catalogue, signal) {
  for (const [line, products] of await matchElsewhere(open, catalogue, signal)) takeCheapest(line, products);
  const left = open.filter(({product}) => !product);
  const named = await catalogue.named([...new Set(left.flatMap(namesOf))], signal);
  const sets = left.some(({set}) => set) ? Map.groupBy(await catalogue.sets(signal), ({name}) => wordText(name)) : new Map();
  const read = left.map((line) => ({line, ...readingOf(line, named)}));
  const likely = new Map();
  for (const one of read) {
    const inSets = (one.reading.set && sets.get(wordText(one.reading.set))) || [];
    const meant = await found(one, inSets.map(({id}) => id), catalogue, signal);
    if (meant.likely) likely.set(one.line, meant.likely);
    settle(one.line, meant);
  }
  const told = setsOfCodes(lines.map((line) => ({code: line.code, product: line.product ?? likely.get(line)})), catalogue);
  for (const one of read) {
    const {code, product} = one.line;
    if (one.line.set && !one.reading.set) continue; // what seemed to be a code is a part of the name
    const set = told.get(code?.toLowerCase()) ?? codes.get(code?.toLowerCase());
    if (set === undefined || (product && catalogue.products.get(product).set.id === set)) continue;
    const meant = await found(one, [set], catalogue, signal);
    settleInSet(one.line, set, meant, told.has(code.toLowerCase()), catalogue);
  }
}

/**
 * Settle a line whose code tells its set. What the build knows of a code holds for nine of ten cards: a product of another
 * set that was found already stays, unless the set has such a name, too. Then you choose.
 */
function settleInSet(line, set, meant, isTold, {products}) {
  const other = isTold ? undefined : line.product;
  const inSet = [meant.id, ...meant.choices ?? []].filter((id) => products.get(id)?.set.id === set);
  if (other && inSet.length === 0) return;
  delete line.product;
  settle(line, other ? {choices: [...inSet, other], why: `not known in “${line.code}”`} : meant);
}

/** Give a line the cheapest of the products that have its code and number. The others are left to choose from. */
function takeCheapest(line, products) {
  const choices = cheapestFirst(line, products).map((product) => product.id_product);
  Object.assign(line, {product: choices[0], choices: choices.slice(0, MOST_CHOICES), why: `the cheapest of ${products.length} that fit`});
}

/** The ids of sets by codes: where a code stands at cards of one set in more than nine of ten lines whose product is known or likely. */
function setsOfCodes(lines, catalogue) {
  const told = lines.filter(({code, product}) => code && product && catalogue.products.has(product));
  const sets = new Map();
  for (const [code, those] of Map.groupBy(told, ({code}) => code.toLowerCase())) {
    const counts = Map.groupBy(those, ({product}) => catalogue.products.get(product).set.id);
    const [set, most] = [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0];
    if (set !== null && those.length >= FEWEST_OF_CODE && most.length > 0.9 * those.length) sets.set(code, set);
  }
  return sets;
}

/** The names that a line may have: all of it, since names can hold brackets and numbers; its name; its first face; other forms. */
const namesOf = (line) => [line.whole, longerName(line), line.name, faceOf(line.name), energyOf(line.name)]
  .filter((one) => one && isAskable(one)).map((one) => one.trim());
const isAskable = (name) => name.length <= MOST_NAMED;

/** The name with what seems to be the code of a set, and may be the end of the name: `Mewtwo EX 54`. "" where it stands in brackets. */
const longerName = ({whole, name, set}) => (set && whole?.startsWith(`${name} ${set} `) ? `${name} ${set}` : "");

/** What a line says: it may be a name as a whole, or have no set. And the products of the name. */
function readingOf({whole, ...line}, named) {
  const entire = named.get(whole?.trim());
  if (entire?.matched === "name") return {reading: {...line, name: whole, set: "", number: ""}, entry: entire};
  const longer = longerName({whole, ...line});
  if (named.get(longer)) return {reading: {...line, name: longer, set: ""}, entry: named.get(longer)};
  const energy = energyOf(line.name).trim();
  const own = named.get(line.name.trim());
  if (!own && named.get(energy)) return {reading: {...line, name: energy}, entry: named.get(energy)};
  return {reading: line, entry: own ?? named.get(faceOf(line.name).trim())};
}

/** What a line means. Others are asked for if the products of its name may not be all that it can mean. */
async function found({reading, entry}, sets, catalogue, signal) {
  if (!entry) return {why: "no product has this name"};
  const first = decide(reading, entry.printings, sets);
  const others = othersOf(reading, entry, sets);
  const isSure = (sets.length && entry.products <= entry.ids.length) || isNumbered(catalogue.products.get(first.id), reading);
  if (!others || (first.id && isSure)) return first;
  const more = await catalogue.search({...searchOf(reading.name), ...others}, signal);
  const second = decide(reading, [...new Map([...entry.printings, ...more].map((one) => [one.id_product, one])).values()], sets);
  return second.id || !first.choices ? second : first;
}

/** The filters that find what else a line can mean, or null. */
function othersOf({set, number}, {matched, products, ids}, sets) {
  if (products > ids.length && sets.length === 1) return {set: sets[0]};
  if (products > ids.length && number) return {number: numberKey(number)};
  return matched === "name" && (set || number) ? {sort: "match"} : null; // it may be the base name of others
}

const isNumbered = (product, {number}) => number && numberKey(product?.number ?? "") === numberKey(number);

/** The filter of /cards for a name, as much of it as it takes. */
const searchOf = (name) =>
  ({q: name.length <= MOST_CHARACTERS ? name : name.slice(0, MOST_CHARACTERS).replace(/\s\S*$/, "")});

function settle(line, {id, choices, why}) {
  if (id) Object.assign(line, {product: id, why: undefined, choices: undefined});
  else Object.assign(line, {why, choices: choices?.slice(0, MOST_CHOICES)});
}
