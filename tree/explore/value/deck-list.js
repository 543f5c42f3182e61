// Plain lists, a card on a line: `4 Lightning Bolt`, `2x Pikachu (Base Set) 58/102`, `1 Arven SVI 166`, or an id.

const COMMENT = /^(\/\/|#|--)/;
const HEADINGS = "about|deck|main ?(board|deck)?|side ?(board)?|commanders?|companion|maybe ?board|considering|tokens|attractions|" +
  "stickers|signature spells?|pok[eé]mon|trainers?|energy|total cards|creatures|planeswalkers|instants|sorceries|artifacts|" +
  "enchantments|battles|lands|spells";
const HEADING = new RegExp(`^((${HEADINGS})\\s*[:(–-]?\\s*\\d*\\)?:?|\\p{L}[\\p{L} ]*:\\s*\\d*)$`, "iu");
const BEFORE = /^(?:SB:\s*)?(?:(\d{1,6})(?:\s*[x×]?\s+|[x×])|[x×](\d{1,6})\s+)(.+)$/i; // a quantity before the name
const AFTER = /^(.+?)\s+[x×]\s*(\d{1,6})$/i; // or after it
const TAGS = /\s+(\^[^^]*\^|#!?[^\s\d#].*)$/; // of Archidekt, after the categories; of Moxfield
const CATEGORIES = /(\([\w.-]{2,12}\)(?:\s+[^\s[]\S*)?(?:\s+\*[FE]\*)?)\s+\[[^\]]*\]$/; // of Archidekt
const FOIL = /\s+(?:\*[FE]\*|PH$|\(F\)|\[foil\]|\(foil\)|\(reverse holo\))/i;
const PLACES = [ // where in its set a card stands
  /^(?<name>.+?)\s+[([](?<set>[^()[\]]+)[)\]](?:\s+#?(?<number>[^\s()[\]]{1,20}(?: \d+\w?)?))?$/,
  /^(?<name>.+?)\s+(?<set>[A-Z][A-Z0-9.-]{1,10}|[a-z]{3}|(?=\S*\d)[A-Za-z][\w.-]{1,10})\s+#?(?<number>[A-Z]{0,4}\d+[A-Za-z]?(?:\/[A-Z]{0,4}\d+)?)$/,
  /^(?<name>.+?)\s+#?(?<number>[A-Z]{0,5}\d+[a-z]?\/[A-Z]{0,5}\d+)$/,
];
const ID = /^\d{3,18}$/;
const ENERGIES = { // as PTCG Live writes them: `Basic {R} Energy`
  G: "Grass", R: "Fire", W: "Water", L: "Lightning", P: "Psychic", F: "Fighting", D: "Darkness", M: "Metal", Y: "Fairy",
};

/** The fields of a line as text. `whole` is all of it but the quantity: a name may hold brackets. Null for a heading. */
export function deckLine(text) {
  const line = text.replace(/\s+/g, " ").trim().replace(/^\* /, "").replace(TAGS, "").replace(CATEGORIES, "$1");
  if (COMMENT.test(line) || HEADING.test(line)) return null;
  const [quantity, rest] = counted(line);
  const whole = rest.replace(FOIL, "").replace(/\{([GRWLPFDMY])\}/g, (_, letter) => ENERGIES[letter]).trim();
  const foil = FOIL.test(rest) ? "foil" : "";
  if (ID.test(whole)) return {id: whole, quantity, foil};
  const place = PLACES.map((pattern) => pattern.exec(whole)).find(Boolean)?.groups ?? {name: whole};
  return {quantity, foil, whole, ...place};
}

function counted(line) {
  const before = BEFORE.exec(line);
  if (before) return [before[1] ?? before[2], before[3]];
  const after = AFTER.exec(line);
  return after ? [after[2], after[1]] : ["1", line];
}
