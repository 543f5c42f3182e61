// Finds the products of lines that name a card as other catalogues do: by the code of its set and its number, or by an id.
import {agrees} from "./same-card.js";

const ID = /^[a-z0-9][a-z0-9.-]*-[a-z0-9!?]+$/i; // of TCGdex, such as sv03-125; some names look so, too
const SET_NUMBER = /^([a-z0-9.-]{2,12})\/([^\s/]+)$/i; // `obf/125`

/**
 * Give each line a `product` if an id of another catalogue means one product, whose name agrees with the line's. Return the
 * products of the lines whose id means several, by line.
 */
export async function matchElsewhere(lines, catalogue, signal) {
  const wanted = lines.map((line) => ({line, ids: idsOf(line)})).filter(({ids}) => ids.length);
  const [products, several] = [new Map(), new Map()];
  for (const [scheme, ids] of Map.groupBy(wanted.flatMap(({ids}) => ids), ([scheme]) => scheme)) {
    const known = await catalogue.identified(scheme, ids.map(([, value]) => value), signal);
    for (const [value, found] of known) products.set(`${scheme} ${value}`, found);
  }
  const found = ([scheme, value]) => products.get(`${scheme} ${value}`) ?? [];
  await catalogue.loadProducts(wanted.flatMap(({ids}) => ids.flatMap(found)), signal);
  for (const {line, ids} of wanted) {
    const fits = ids.map((id) => found(id).map((product) => catalogue.products.get(product)).filter((product) => product && fit(id, line, product)));
    const first = fits.find((products) => products.length);
    if (first?.length === 1) line.product = first[0].id_product;
    else if (first) several.set(line, first);
  }
  return several;
}

/** Whether a product fits a line: its name agrees, unless the line has an id for a name. */
const fit = ([, value], line, product) =>
  value.toLowerCase() === line.name.toLowerCase() || (!line.code && SET_NUMBER.test(line.name)) || agrees(line.name, product);

/** What a line says of its card in other catalogues: pairs of a scheme and a value, the surest first. */
function idsOf({name, code, number, scryfall, tcgplayer}) {
  const ids = [["scryfall", scryfall], ["tcgplayer", tcgplayer]].filter(([, value]) => value);
  if (ID.test(name)) ids.push(...[...new Set([name, lowerBefore("-", name)])].map((one) => ["tcgdex", one]));
  const [, set, of] = code && number ? ["", code, number] : SET_NUMBER.exec(name) ?? [];
  if (set) ids.push(...numbersOf(of).map((one) => ["set_number", `${set.toLowerCase()}/${one}`]));
  return ids.filter(([, value]) => /^[^,\s]{1,200}$/.test(value));
}

/** A text in lower case up to the last mark. */
const lowerBefore = (mark, text) => text.slice(0, text.lastIndexOf(mark)).toLowerCase() + text.slice(text.lastIndexOf(mark));

/** A number as it stands, and without what follows a slash: as it is there, without zeros before its digits, and of two or three digits. */
function numbersOf(number) {
  const [part] = number.split("/");
  const written = [0, 2, 3].map((digits) => part.replace(/\d+/, (run) => run.replace(/^0+(?=\d)/, "").padStart(digits, "0")));
  return [...new Set([number, part, ...written])];
}
