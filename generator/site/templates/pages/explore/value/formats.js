// The tables that apps and the marketplace export: which column holds what. The order of the columns does not count.

/** Each format, with a column that no other format has. A later format is tried after the ones before it. */
const FORMATS = [
  {
    name: "Cardmarket stock", sign: "idArticle",
    columns: {
      id: "idProduct", quantity: "Amount", name: "English Name", set: "Exp. Name", number: "Collector Number",
      foil: "Foil?", condition: "Condition", language: "Language", playset: "Playset?",
    },
  },
  {
    name: "ManaBox", sign: "ManaBox ID",
    columns: {
      quantity: "Quantity", name: "Name", set: "Set name", code: "Set code", number: "Collector number", foil: "Foil",
      condition: "Condition", language: "Language", scryfall: "Scryfall ID",
    },
  },
  {
    name: "Dragon Shield", sign: "Trade Quantity",
    columns: {
      quantity: "Quantity", name: "Card Name", set: "Set Name", code: "Set Code", number: "Card Number", foil: "Printing",
      condition: "Condition", language: "Language",
    },
  },
  {
    name: "Deckbox", sign: "Artist Proof",
    columns: {
      quantity: "Count", name: "Name", set: "Edition", number: "Card Number", foil: "Foil", condition: "Condition",
      language: "Language",
    },
  },
  {
    name: "Moxfield", sign: "Tradelist Count",
    columns: {
      quantity: "Count", name: "Name", set: "Edition", number: "Collector Number", foil: "Foil", condition: "Condition",
      language: "Language",
    },
  },
  {
    name: "TCGplayer", sign: "Simple Name",
    columns: {
      quantity: "Quantity", name: "Simple Name", set: "Set", number: "Card Number", foil: "Printing",
      condition: "Condition", language: "Language",
    },
  },
  {
    name: "Archidekt", sign: "Edition Name",
    columns: {
      quantity: "Quantity", name: "Name", set: "Edition Name", code: "Edition Code", number: "Collector Number",
      foil: "Finish", condition: "Condition", language: "Language", scryfall: "Scryfall ID",
    },
  },
];

/** Names of columns in other tables. The first one that a table has counts. */
const OTHER = {
  id: ["idProduct", "Product id (Cardmarket)", "Cardmarket id", "mcmId"],
  quantity: ["Quantity", "Qty", "Amount", "Count", "Copies", "Owned"],
  name: ["Name", "English Name", "Card name", "Card", "Product"],
  set: ["Set name", "Set", "Expansion", "Exp. Name", "Edition name", "Edition", "Set code"],
  code: ["Set code", "Edition code"],
  scryfall: ["Scryfall ID"],
  number: ["Collector number", "Card number", "Number", "No."],
  foil: ["Foil", "Foil?", "Printing", "Finish", "Reverse holo"],
  condition: ["Condition"],
  language: ["Language"],
};

/** A column's name without case, spaces and marks. */
const plain = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/**
 * The format of a table by its first row: `{name, at}` with the place of each field's column; null if no column is known.
 * A table needs an id or a name.
 */
export function formatOf(header) {
  const places = new Map(header.map((name, at) => [plain(name), at]).reverse()); // of two equal names, the first
  const format = FORMATS.find(({sign}) => places.has(plain(sign)));
  const found = format ? fields(places, format.columns) : {};
  if (isEnough(found)) return {name: format.name, at: found};
  const other = fields(places, OTHER);
  return isEnough(other) ? {name: "a table", at: other} : null;
}

const isEnough = ({id, name}) => id !== undefined || name !== undefined;

function fields(places, columns) {
  const place = (names) => [names].flat().map((name) => places.get(plain(name))).find((at) => at !== undefined);
  return Object.fromEntries(Object.entries(columns).map(([field, names]) => [field, place(names)]));
}
