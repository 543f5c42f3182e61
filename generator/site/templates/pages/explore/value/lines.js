// The lines of a list, from the text of any format.
import {fold} from "../fold.js";
import {rows} from "./csv.js";
import {deckLine} from "./deck-list.js";
import {formatOf} from "./formats.js";
import {LIMITS, ListError} from "./list-error.js";
import {SET_CODE} from "./same-card.js";
import {inSlices} from "./slices.js";

const SEPARATORS = [";", "\t", ","];
const SEPARATOR_LINE = /^"?sep=(.)"?\r?\n/i; // what spreadsheet programs read
const WHOLE_NUMBER = /^(\d{1,6})([.,]0+)?$/;
const PLAYSET = 4;
const MOST_SHOWN = 80; // characters
const [ABOUT, NAME] = [/^\s*about\s*$/i, /^\s*name\s/i]; // Arena writes the name of a deck below a heading
const NO_COLUMN = "No column of this table is known: it needs a column idProduct, or Name, and may have Quantity, Set and Number.";
const YES = /^(x|1|true|yes|y)$/;
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
 * The lines of a text: `{format, lines, headings}`. A line is `{quantity, id, name, set, number, foil, condition,
 * language}`, with `wrong` if it cannot be read. `headings` counts the lines that are no cards. Throws ListError for what
 * is no list.
 */
export async function linesOf(text) {
  const table = tableOf(text.replace(/^\ufeff/, ""));
  const lines = [];
  let headings = 0;
  await inSlices(table.rows, (fields) => {
    if (lines.length === LIMITS.lines) throw new ListError(`The list has more than ${LIMITS.lines} lines: split it.`);
    if (fields === null) headings++;
    else if (fields) lines.push(line(fields));
  });
  if (lines.length === 0) throw new ListError("There is no card in this list.");
  return {format: table.name, lines, headings};
}

/** The fields of each row as text: null for a heading, undefined for an empty row. */
function tableOf(marked) {
  const [, named] = SEPARATOR_LINE.exec(marked) ?? [];
  const text = marked.replace(SEPARATOR_LINE, "").replace(/^\s*\n/, "");
  const [header] = text.slice(0, LIMITS.characters).split(/\r|\n/, 1);
  const often = SEPARATORS.toSorted((a, b) => header.split(b).length - header.split(a).length);
  for (const separator of named ? [named] : often) {
    const format = formatOf(rows(text, separator).next().value ?? []);
    if (format) return {name: format.name, rows: cellRows(text, separator, format.at)};
  }
  if (looksLikeTable(text)) throw new ListError(NO_COLUMN);
  return {name: "a plain list", rows: plainRows(text)};
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
  const text = (name) => (fields[name] ?? "").replace(/\s+/g, " ").trim();
  const foil = fold(text("foil"));
  const read = {
    quantity: Number(WHOLE_NUMBER.exec(text("quantity") || "1")?.[1]) * (YES.test(fold(text("playset"))) ? PLAYSET : 1),
    id: idOf(text("id")), name: text("name"), set: text("set"), number: text("number"), foil: YES.test(foil) || FOIL.test(foil),
    condition: grade(text("condition")), language: LANGUAGES[text("language") - 1] ?? text("language"),
    code: text("code") || (SET_CODE.test(text("set")) ? text("set") : ""), scryfall: text("scryfall"),
    ...(fields.whole && fields.whole !== text("name") && {whole: fields.whole}),
  };
  const wrong = faultOf(read, text);
  return wrong ? {...read, quantity: read.quantity || 0, wrong} : read;
}

const idOf = (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null);
const grade = (text) => CODES.get(fold(text).replaceAll("_", " ")) ?? text;

function faultOf({quantity, id, name}, text) {
  if (Number.isNaN(quantity)) return `“${text("quantity").slice(0, MOST_SHOWN)}” is no quantity`;
  if (id !== null || name) return "";
  return text("id") ? `“${text("id").slice(0, MOST_SHOWN)}” is no product id` : "it has neither an id nor a name";
}
