// Text as the API compares it. These are the functions of `generator/storage/text.py`, and the same cases test both.

const APOSTROPHES = /['\u2019\u2018\u201b\u02bc\u00b4`\u2032]/g;
const WORD = /[\p{L}\p{N}]+/gu;
const BRACKET = / [[(]/;
const SHORTER = " - ";
const FACES = / \/\/? /;

/** A text without combining marks, whatever its case. */
export function fold(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}

/** A text as the API compares names of sets: their signs count, but no apostrophes. */
export const foldWithoutApostrophes = (text) => fold(text.replace(APOSTROPHES, ""));

/** The words of a query or a name: runs of letters and digits, without apostrophes. */
export const words = (text) => foldWithoutApostrophes(text).match(WORD) ?? [];

export const wordText = (text) => words(text).join(" ");

/** A product's name before its first bracket; all of it if nothing before has a word. */
export function baseName(name) {
  const [before] = name.split(BRACKET, 1);
  return words(before).length ? before : name;
}

/** The base name before its first ` - `, "" if it has none. */
export function shortName(name) {
  const base = baseName(name);
  return base.includes(SHORTER) ? base.slice(0, base.indexOf(SHORTER)) : "";
}

/** The front of a card with two faces: the name before its first ` // ` or ` / `, "" if it has none. */
export function faceName(name) {
  const [before, ...others] = name.split(FACES);
  return others.length ? before : "";
}

/** The text by which names are equal. */
export const nameKey = (name) => wordText(name) || fold(name);
