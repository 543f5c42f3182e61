// The tables that apps and the marketplace export: which column holds what. The order of the columns does not count.

/** What a column may be called, by what it holds. The first name that a table has counts. */
const NAMES = {
  id: ["idProduct", "Product id (Cardmarket)", "Cardmarket id", "mcmId"],
  quantity: ["Quantity", "Qty", "Amount", "Count", "Copies", "Owned", "Total quantity", "Quantity X", "cardq"],
  normals: ["Normal", "Normal count", "Normal quantity", "Reg qty", "Regular quantity", "Nonfoil quantity"],
  foils: ["Foil count", "Foil quantity", "Foil qty", "Foils", "Foil copies"],
  name: ["Simple name", "English name", "Card name", "Name", "Product name", "Card", "Product", "Title"],
  set: ["Set name", "Expansion name", "Exp. name", "Edition name", "Card set", "Set", "Expansion", "Edition"],
  code: ["Set code", "Expansion code", "Edition code", "Set ID"],
  number: ["Collector number", "Collector’s number", "Card number", "Number", "No."],
  printed: ["Card code"], // code and number in one
  foil: ["Foil", "Foil?", "Printing", "Finish", "Variance", "Variant", "Is foil", "Foil/Etched", "Reverse holo"],
  condition: ["Condition", "Card condition"],
  language: ["Language", "Lang"],
  grade: ["Grade"],
  playset: ["Playset?", "Playset"],
  scryfall: ["Scryfall ID"],
  tcgplayer: ["TCGplayer product ID"],
};

/** Apps with a column that no other has, and the columns that hold something else there than their names say. */
const APPS = [
  {name: "Cardmarket stock", sign: "idArticle"},
  {name: "ManaBox", sign: "ManaBox ID"},
  {name: "Dragon Shield", sign: "Trade quantity"},
  {name: "Dragon Shield’s app", sign: "Expansion code"},
  {name: "Deckbox", sign: "Artist proof", own: {tcgplayer: ["TcgPlayer ID"]}},
  {name: "Moxfield", sign: "Tradelist count"},
  {name: "TCGplayer", sign: "Simple name", own: {tcgplayer: ["Product ID"]}},
  {name: "TCGplayer’s stock", sign: "Product line"},
  {name: "Archidekt", sign: "Edition name"},
  {name: "Collectr", sign: "Portfolio name"},
  {name: "YGOPRODeck", sign: "cardq"},
  {name: "Delver Lens", sign: "Quantity X"},
  {name: "Delver Lens", sign: "Collector’s number"},
];

/** A column's name without case, spaces and marks. */
const plain = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/**
 * The format of a table by its first row: `{name, at, left}`, with the place of each field's column, and the names of the
 * columns that are left out. `at` is empty if no column is known.
 */
export function formatOf(header) {
  const places = new Map(header.map((name, at) => [plain(name), at]).reverse()); // of two equal names, the first
  const {name, own} = APPS.find(({sign}) => places.has(plain(sign))) ?? {name: "a table"};
  const at = fields(places, {...NAMES, ...own});
  if ("normals" in at && "foil" in at && !("foils" in at)) { // “Normal” and “Foil” are counts
    at.foils = at.foil;
    delete at.foil;
  }
  const taken = new Set(Object.values(at));
  return {name, at, left: header.filter((one, place) => one.trim() && !taken.has(place))};
}

/** Whether columns say which card a row means. */
export const namesCards = ({id, name, code, number}) => [id, name].some(isKnown) || [code, number].every(isKnown);

const isKnown = (place) => place !== undefined;

function fields(places, names) {
  const found = Object.entries(names).map(([field, ways]) => [field, ways.map((name) => places.get(plain(name))).find(isKnown)]);
  return Object.fromEntries(found.filter(([, at]) => isKnown(at)));
}

const quoted = (columns) => columns.map((name) => `“${name.trim()}”`).join(", ");

/** A sentence for each thing that a table may say: the columns that were taken for it; and those that were left out. */
export function columnsText(header, {at, left}) {
  const from = (...fields) => fields.filter((field) => field in at).map((field) => header[at[field]]);
  const taken = [
    ["Card", from("name", "id", "scryfall", "tcgplayer")], ["Set", from("set", "code")], ["Number", from("number", "printed")],
    ["Finish", from("foil", "foils")], ["Condition", from("condition", "grade")], ["Language", from("language")],
  ].map(([what, columns]) => `${what}: ${columns.length ? quoted(columns) : "no column"}.`);
  const counts = from("quantity", "normals", "foils", "playset");
  const counted = counts.length ? `Quantity: ${quoted(counts)}.` : "Quantity: no column, so each line counts once.";
  const both = "quantity" in at && "foils" in at && !("normals" in at) ? [`${quoted(from("foils"))} are among ${quoted(from("quantity"))}.`] : [];
  return [counted, ...both, ...taken, ...(left.length ? [`Left out: ${quoted(left)}.`] : [])].join(" ");
}

/** Why a table is none of cards: the columns that it has, and the one that it lacks. */
export const lacksNames = (header) =>
  `This table has the columns ${quoted(header.filter((one) => one.trim()))}, and none that names a card: it needs Name, Card name, ` +
  "Product name or idProduct; or Set code and Collector number.";
