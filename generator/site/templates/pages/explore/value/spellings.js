// How the catalogue spells the names of a list, from its file of names. So a name that no product has costs no request.
import {KEYS, nameKey} from "./same-card.js";
import {inSlices} from "./slices.js";

const ADDED = /(?<=\S)\s*([[(]| (\/\/?|-) ).*$/s; // what a name can have after the one that people write

export class Spellings {
  #words = KEYS.map(() => new Map()); // for each way of comparing, the words that find a name

  constructor(known) {
    this.known = known;
  }

  /** `names` as in /names; null for a build without them: then each name stands for itself. */
  static async of(names) {
    const spellings = new Spellings(names !== null);
    await inSlices(names ?? [], ({name}) => spellings.#add(name));
    return spellings;
  }

  #add(name) {
    KEYS.forEach((key, way) => this.#words[way].set(key(name), way ? name.replace(ADDED, "") : name));
  }

  /** The line, or the line as a name alone if that is a name of the catalogue: names can hold brackets and numbers. */
  reading({whole, ...line}) {
    return whole && this.#words[0].has(nameKey(whole)) ? {...line, name: whole, set: "", number: ""} : line;
  }

  /** The words that find a name in the catalogue; undefined if no product has it. */
  wordsOf(name) {
    if (!this.known) return name;
    return KEYS.map((key, way) => this.#words[way].get(key(name))).find(Boolean);
  }
}
