// The list in this browser. It is nowhere else.

const NAME = "cardpress-list";
const FIELDS = [
  "quantity", "id", "name", "set", "number", "foil", "condition", "language", "whole", "wrong", "product", "choices", "why",
  "code", "scryfall", "tcgplayer", "grade",
];

/** The lines that were kept; none if there are none, or if they are of another form. */
export function readList() {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? "[]").map(lineOf);
  } catch {
    return [];
  }
}

function lineOf(values) {
  const fields = FIELDS.map((field, at) => [field, values[at]]);
  return Object.fromEntries(fields.filter(([field, value]) => field === "id" || value !== null));
}

/** Keep lines. Return whether the browser had the room. */
export function keepList(lines) {
  try {
    localStorage.setItem(NAME, JSON.stringify(lines.map((line) => FIELDS.map((field) => line[field]))));
    return true;
  } catch {
    localStorage.removeItem(NAME);
    return false;
  }
}

export const forgetList = () => localStorage.removeItem(NAME);
