// Files that the pages make: tables as CSV, by the rules of `prices.csv`.
import {h} from "./dom.js";

const SAVED_MILLISECONDS = 60_000; // a browser needs the copy until it has saved it
const FORMULA = /^[=+\-@\t\r]/; // spreadsheets compute cells that begin with one of these

/** Save a Blob under a name. */
export function save(blob, name) {
  const link = h("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MILLISECONDS);
}

/** Save a table, an array of rows of cells. The mark at its beginning tells a spreadsheet that this is UTF-8. */
export function saveTable(rows, name) {
  const text = rows.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
  save(new Blob(["\ufeff", text], {type: "text/csv"}), name);
}

/** A cell of CSV. One that a spreadsheet would compute gets a ' before it. */
const cell = (value) => plainCell(typeof value === "string" && FORMULA.test(value) ? `'${value}` : value);

/** A value as a cell, in quotes where it needs them. */
export function plainCell(value) {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
