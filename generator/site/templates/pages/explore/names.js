// The names of the catalogue, which complete what is typed: one file, read once, and searched here.
import {fold} from "./fold.js";

const LETTERS = 2; // from here on, words are completed
const MOST = 8;
const SYNTAX = /[\\^$.*+?()[\]{}|/]/g; // of a regular expression

export class Names {
  #names = null;

  constructor(api) {
    this.api = api;
  }

  /** The names that contain all words of a text, as options of a combobox, in the order of `sort=match`. */
  async matching(text) {
    const typed = fold(text).trim().split(/\s+/).join(" ");
    if (typed.length < LETTERS) return [];
    this.#names ??= this.#read();
    return best(await this.#names, typed).map(({name, products}) => ({value: name, label: name, products}));
  }

  /** A build that is older than the names has none. */
  async #read() {
    try {
      const [{names}] = await this.api.get("names");
      return names.map((entry) => ({...entry, folded: fold(entry.name)}));
    } catch {
      return [];
    }
  }
}

/** The first of the names that match: by class, then by their products, then as they stand in the file. */
function best(names, typed) {
  const words = typed.split(" ");
  const starts = words.map((word) => new RegExp(`(?:^|[^\\p{L}\\p{N}])${word.replace(SYNTAX, "\\$&")}`, "u"));
  const classes = [[], [], [], []];
  for (const entry of names) {
    if (words.every((word) => entry.folded.includes(word))) keep(classes[classOf(entry.folded, typed, starts)], entry);
  }
  return classes.flat().slice(0, MOST);
}

/** The class of a match: 0 the name, 1 its beginning, 2 beginnings of words, 3 the rest. */
function classOf(folded, typed, starts) {
  if (folded.startsWith(typed)) return folded.length === typed.length ? 0 : 1;
  return starts.every((start) => start.test(folded)) ? 2 : 3;
}

/** Put an entry into its place in a class, which stays short. */
function keep(found, entry) {
  if (found.length === MOST && found.at(-1).products >= entry.products) return;
  const place = found.findIndex(({products}) => products < entry.products);
  found.splice(place < 0 ? found.length : place, 0, entry);
  found.length = Math.min(found.length, MOST);
}
