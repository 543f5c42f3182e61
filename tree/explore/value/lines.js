// The lines of a list, from the text of any format.
import {fold} from "../fold.js";
import {rows} from "./csv.js";
import {deckLine} from "./deck-list.js";
import {columnsText, formatOf, lacksNames, namesCards} from "./formats.js";
import {LIMITS, ListError} from "./list-error.js";
import {SET_CODE} from "./same-card.js";
import {inSlices} from "./slices.js";

const SEPARATORS = [";", "\t", ","];
const SEPARATOR_LINE = /^"?sep=(.)"?\r?\n/i; // what spreadsheet programs read
const WHOLE_NUMBER = /^(\d{1,6})([.,]0+)?x?$/i;
const PLAYSET = 4;
const MOST_SHOWN = 80; // characters
const [ABOUT, NAME] = [/^\s*about\s*$/i, /^\s*name\s/i]; // Arena writes the name of a deck below a heading
const MOST_COLUMNS_SHOWN = 40;
const YES = /^(x|1|true|yes|y)$/;
const UNGRADED = /^(|0|none|raw|ungraded|n\/?a)$/i;
const PRINTED_CODE = /^([a-z0-9]{2,5})-[a-z]{0,2}(\d{3}[a-z]?)$/i; // `MRD-EN017`: the set and the number in one
const FOIL_CONDITION = / (holo|reverse )?(holo)?foil$/; // `Near Mint Holofoil`
const FOIL = /^(?!non|not\b|no\b).*\b(foil|holo|holofoil|reverse|etched)\b/;
const LANGUAGES = [ // the marketplace's numbers, from 1
  "English", "French", "German", "Spanish", "Italian", "Simplified Chinese", "Japanese", "Portuguese", "Russian", "Korean",
  "Traditional Chinese",
];
const GRADES = {
  MT: ["mint", "m", "gem mint"], NM: ["near mint", "nearmint"], EX: ["excellent"], GD: ["good", "moderately played", "mp"],
  LP: ["light played", "lightly played", "lightplayed", "lightlyplayed"], PL: ["played", "heavily played", "hp", "heavilyplayed"],
  PO: ["poor", "damaged", "dmg", "d"],
};
const CODES = new Map(Object.entries(GRADES).flatMap(([code, words]) => [code.toLowerCase(), ...words].map((word) => [word, code])));

/**
 * The lines of a text: `{format, columns, lines, headings}`. A line is `{quantity, id, name, set, number, foil, condition,
 * language, grade}`, with `wrong` if it cannot be read. `columns` says what the columns of a table were taken for, and
 * `headings` counts the lines that are no cards. Throws ListError for what is no list.
 */
export async function linesOf(text) {
  const table = tableOf(text.replace(/^\ufeff/, ""));
  const lines = [];
  let headings = 0;
  await inSlices(table.rows, (fields) => {
    if (fields === null) headings++;
    else if (fields) lines.push(...copiesOf(fields).map(line));
    if (lines.length > LIMITS.lines) throw new ListError(`The list has more than ${LIMITS.lines} lines: split it.`);
  });
  if (lines.length === 0) throw new ListError("There is no card in this list.");
  return {format: table.name, columns: table.columns, lines, headings};
}

/** The lines of a row: one, or one for each finish where these are counted in columns of their own. */
function copiesOf(fields) {
  if (fields.foils === undefined) return [fields];
  const texts = [fields.quantity, fields.normals, fields.foils].map((text) => text?.trim() || "0");
  const [all, normals, foils] = texts.map(wholeNumber);
  const unread = texts.find((text) => Number.isNaN(wholeNumber(text)));
  if (unread) return [{...fields, quantity: unread}];
  const others = fields.normals === undefined ? all - Math.min(all, foils) : normals;
  return [{...fields, quantity: others, foil: ""}, {...fields, quantity: foils, foil: "foil"}].filter(({quantity}) => quantity > 0);
}

/** The fields of each row as text: null for a heading, undefined for an empty row. */
function tableOf(marked) {
  const [, named] = SEPARATOR_LINE.exec(marked) ?? [];
  const text = marked.replace(SEPARATOR_LINE, "").replace(/^\s*\n/, "");
  const [first] = text.slice(0, LIMITS.characters).split(/\r|\n/, 1);
  const often = SEPARATORS.toSorted((a, b) => first.split(b).length - first.split(a).length);
  const headers = (named ? [named] : often).map((separator) => [separator, rows(text, separator).next().value ?? []]);
  for (const [separator, header] of headers) {
    const format = formatOf(header);
    if (namesCards(format.at)) return {name: format.name, columns: columnsText(header, format), rows: cellRows(text, separator, format.at)};
  }
  const [[, header]] = headers;
  const isTable = looksLikeTable(text) || (header.length > 1 && Object.keys(formatOf(header).at).length > 0);
  if (isTable) throw new ListError(lacksNames(header.slice(0, MOST_COLUMNS_SHOWN).map((one) => one.slice(0, MOST_SHOWN))));
  return {name: "a plain list", columns: "", rows: plainRows(text)};
}

/** Whether the first two lines have equally many cells, three or more. */
function looksLikeTable(text) {
  const [first, second] = text.split(/\r?\n/, 2).map((one) => one.slice(0, LIMITS.characters));
  return SEPARATORS.some((separator) => {
    const cells = first.split(separator).length;
    return cells > 2 && second?.split(separator).length === cells;
  });
}

function* cellRows(text, separator, at) {
  let header = true;
  for (const cells of rows(text, separator)) {
    if (header) header = false;
    else if (cells.every((cell) => cell.trim() === "")) yield undefined;
    else yield Object.fromEntries(Object.entries(at).map(([field, place]) => [field, cells[place]]));
  }
}

function* plainRows(text) {
  let before = "";
  for (const [one] of rows(text.replaceAll('"', ""), "")) {
    if (ABOUT.test(before) && NAME.test(one)) yield null;
    else yield one.trim() ? deckLine(one) : undefined;
    before = one;
  }
}

function line(fields) {
  const text = (name) => String(fields[name] ?? "").replace(/\s+/g, " ").trim();
  const [foil, condition] = [text("foil"), text("condition")].map(fold);
  const [, ofCode = "", inCode = ""] = PRINTED_CODE.exec(text("printed")) ?? [];
  const [code, number] = [text("code") || ofCode || (SET_CODE.test(text("set")) ? text("set") : ""), inCode || text("number")];
  const read = {
    quantity: wholeNumber(text("quantity") || "1") * (YES.test(fold(text("playset"))) ? PLAYSET : 1),
    id: idOf(text("id")), name: text("name"), set: text("set"), number,
    foil: YES.test(foil) || FOIL.test(foil) || FOIL_CONDITION.test(condition),
    condition: conditionOf(condition.replace(FOIL_CONDITION, "")) ?? text("condition"),
    language: LANGUAGES[text("language") - 1] ?? text("language"), code, scryfall: text("scryfall"), tcgplayer: text("tcgplayer"),
    grade: UNGRADED.test(text("grade")) ? "" : text("grade"),
    ...(fields.whole && fields.whole !== text("name") && {whole: fields.whole}),
  };
  if (read.id === null && !read.name && code && number) Object.assign(read, {name: `${code}/${number}`, code: ""});
  const wrong = faultOf(read, text);
  return wrong ? {...read, quantity: read.quantity || 0, wrong} : read;
}

const wholeNumber = (text) => Number(WHOLE_NUMBER.exec(text)?.[1]);
const idOf = (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null);
const conditionOf = (folded) => CODES.get(folded.replaceAll("_", " "));

function faultOf({quantity, id, name}, text) {
  if (Number.isNaN(quantity)) return `“${text("quantity").slice(0, MOST_SHOWN)}” is no quantity`;
  if (id !== null || name) return "";
  return text("id") ? `“${text("id").slice(0, MOST_SHOWN)}” is no product id` : "it has neither an id nor a name";
}
