// Plain lists, a card on a line: `4 Lightning Bolt`, `2x Pikachu (Base Set) 58/102`, `1 Arven SVI 166`, or an id.

const COMMENT = /^(\/\/|#|--)/;
const HEADINGS = "about|deck|main ?(board|deck)?|side ?board|commanders?|companion|maybe ?board|tokens|pok[eé]mon|trainers?|energy|" +
  "total cards";
const HEADING = new RegExp(`^(${HEADINGS})\\s*[:(]?\\s*\\d*\\)?:?$`, "i");
const BEFORE = /^(?:SB:\s*)?(\d{1,6})\s*[x×]?\s+(.+)$/i; // a quantity before the name
const AFTER = /^(.+?)\s+[x×]\s*(\d{1,6})$/i; // or after it
const TAGS = /\s+\^[^^]*\^$/; // of Archidekt, after the categories
const CATEGORIES = /(\([\w.-]{2,12}\)\s+\S+(?:\s+\*[FE]\*)?)\s+\[[^\]]*\]$/; // likewise
const FOIL = /\s+(?:\*[FE]\*|PH$|\(F\)|\[foil\]|\(foil\)|\(reverse holo\))/i;
const PLACES = [ // where in its set a card stands
  /^(?<name>.+?)\s+[([](?<set>[^()[\]]+)[)\]](?:\s+#?(?<number>[^\s()[\]]{1,20}(?: \d+\w?)?))?$/,
  /^(?<name>.+?)\s+(?<set>[A-Z][A-Z0-9.-]{1,10})\s+(?<number>[A-Z]{0,4}\d+[a-z]?)$/,
  /^(?<name>.+?)\s+#?(?<number>[A-Z]{0,5}\d+[a-z]?\/[A-Z]{0,5}\d+)$/,
];
const ID = /^\d{3,18}$/;

/** The fields of a line as text. `whole` is all of it but the quantity: a name may hold brackets. Null for a heading. */
export function deckLine(text) {
  const line = text.replace(/\s+/g, " ").trim().replace(/^\* /, "").replace(TAGS, "").replace(CATEGORIES, "$1");
  if (COMMENT.test(line) || HEADING.test(line)) return null;
  const [quantity, rest] = counted(line);
  const whole = rest.replace(FOIL, "").trim();
  const foil = FOIL.test(rest) ? "foil" : "";
  if (ID.test(whole)) return {id: whole, quantity, foil};
  const place = PLACES.map((pattern) => pattern.exec(whole)).find(Boolean)?.groups ?? {name: whole};
  return {quantity, foil, whole, ...place};
}

function counted(line) {
  const before = BEFORE.exec(line);
  if (before) return [before[1], before[2]];
  const after = AFTER.exec(line);
  return after ? [after[2], after[1]] : ["1", line];
}
