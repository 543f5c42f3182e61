// The names of the catalogue, which complete what is typed: one file, read once, and searched here.
import {wordText} from "./fold.js";
import {nearest} from "./near-names.js";

const LETTERS = 2; // from here on, words are completed
const MOST = 8;
const MOST_NEAR = 3;

export class Names {
  #names = null;

  constructor(api) {
    this.api = api;
  }

  /** The names that contain all words of a text, as options of a combobox, in the order of `sort=match`. */
  async matching(text) {
    const typed = wordText(text);
    if (typed.length < LETTERS) return [];
    return best(await this.#known(), typed).map(({name, products}) => ({value: name, label: name, products}));
  }

  /** The names that are spelled nearly like a text, the nearest first. */
  async nearest(text) {
    const typed = wordText(text);
    return nearest(await this.#known(), typed, MOST_NEAR).map(({name}) => name).filter((name) => wordText(name) !== typed);
  }

  #known() {
    return this.#names ??= this.#read();
  }

  /** Without them nothing is completed. */
  async #read() {
    try {
      const [{names}] = await this.api.get("names");
      return names.map((entry) => ({...entry, words: wordText(entry.name)}));
    } catch {
      return [];
    }
  }
}

/** The first of the names that match: by class, then by their products, then as they stand in the file. */
function best(names, typed) {
  const asked = typed.split(" ");
  const classes = [[], [], [], [], [], []];
  for (const entry of names) {
    if (asked.every((word) => entry.words.includes(word))) keep(classes[classOf(entry.words, typed, asked)], entry);
  }
  return classes.flat().slice(0, MOST);
}

/** The class of a match: the name, its first words, other whole words, its beginning, beginnings of words, the rest. */
function classOf(words, typed, asked) {
  if (words === typed) return 0;
  if (words.startsWith(`${typed} `)) return 1;
  if (` ${words} `.includes(` ${typed} `)) return 2;
  if (words.startsWith(typed)) return 3;
  return asked.every((word) => ` ${words}`.includes(` ${word}`)) ? 4 : 5;
}

/** Put an entry into its place in a class, which stays short. */
function keep(found, entry) {
  if (found.length === MOST && found.at(-1).products >= entry.products) return;
  const place = found.findIndex(({products}) => products < entry.products);
  found.splice(place < 0 ? found.length : place, 0, entry);
  found.length = Math.min(found.length, MOST);
}
