// Products of the catalogue for a list: their Cards and a year of their prices, asked for by the hundred and kept.
// A request carries ids, or the words of a name. It never carries what a list says of a card.

const HUNDRED = 100;
const MOST_SETS = 1000; // of an answer

export class Catalogue {
  cards = new Map(); // by id
  series = new Map(); // by id: a price or null for each week
  weeks = []; // Mondays
  #unknown = new Set();
  #named = new Map();
  #kept = new Map(); // other answers, by what was asked
  #build;

  constructor(api) {
    this.api = api;
  }

  /** Load the Cards of these products. `done(number)` is called with the number of products of each answer. */
  async loadCards(ids, signal, done = () => {}) {
    const missing = ids.filter((id) => !this.cards.has(id) && !this.#unknown.has(id));
    for (const part of hundreds(missing)) {
      const [{data, not_found: unknown}] = await this.#get("cards", {ids: part.join()}, signal);
      this.#keep(data);
      for (const id of unknown) this.#unknown.add(id);
      done(part.length);
    }
  }

  /** Load the prices of a year, likewise. */
  async loadSeries(ids, signal, done = () => {}) {
    const missing = ids.filter((id) => !this.series.has(id) && !this.#unknown.has(id));
    for (const part of hundreds(missing)) {
      const [{weeks, data, not_found: unknown}] = await this.#get("series", {ids: part.join()}, signal);
      this.weeks = weeks;
      for (const {id_product: id, trend} of data) this.series.set(id, trend);
      for (const id of unknown) this.#unknown.add(id);
      done(part.length);
    }
  }

  /** The Cards that a search finds, a hundred at most. */
  search(filters, signal) {
    return this.#once(JSON.stringify(filters), async () => {
      const [{data}] = await this.#get("cards", {...filters, limit: HUNDRED}, signal);
      return this.#keep(data);
    });
  }

  /** The ids of sets by the codes that other catalogues give them. */
  codes(signal) {
    return this.#once("codes", async () => {
      const answer = await fetch("/explore/value/codes.json", {signal, credentials: "omit", referrerPolicy: "no-referrer"});
      return new Map(Object.entries(await answer.json()));
    });
  }

  /** All products of a set. */
  ofSet(set, signal) {
    return this.#once(`set ${set}`, async () => this.#keep(await this.#all("cards", {set, limit: HUNDRED}, signal)));
  }

  sets(signal) {
    return this.#once("sets", () => this.#all("sets", {limit: MOST_SETS}, signal));
  }

  /** The names of the catalogue, as in /names. */
  names(signal) {
    return this.#once("names", async () => (await this.#get("names", {}, signal))[0].names);
  }

  /** The products of names, as in /cards/named, by name. `done(number)` counts names. */
  async named(names, signal, done = () => {}) {
    for (const part of hundreds(names.filter((name) => !this.#named.has(name)))) {
      const [{data, not_found: unknown}] = await this.#get("cards/named", {names: part.join("\n")}, signal);
      for (const name of unknown) this.#named.set(name, undefined);
      for (const entry of data) this.#named.set(entry.name, entry);
      done(this.#named.size);
    }
    return this.#named;
  }

  /** The ids of products by their values in the scheme of another catalogue. A service without it knows none. */
  async identified(scheme, values, signal) {
    const found = new Map();
    try {
      for (const part of hundreds(values)) {
        const [{data}] = await this.#get(`identifiers/${scheme}`, {values: part.join()}, signal);
        for (const {value, products} of data) found.set(value, products);
      }
    } catch (error) {
      if (error.status !== 404) throw error;
    }
    return found;
  }

  async #once(name, ask) {
    if (!this.#kept.has(name)) this.#kept.set(name, await ask());
    return this.#kept.get(name);
  }

  #keep(cards) {
    for (const card of cards) this.cards.set(card.id_product, card);
    return cards;
  }

  async #all(path, params, signal) {
    const items = [];
    for (let offset = 0; offset !== null;) {
      const [{data, pagination}] = await this.#get(path, {...params, offset}, signal);
      items.push(...data);
      offset = pagination.next_offset;
    }
    return items;
  }

  /** An answer, and its build. All come from one build, unless that one is gone. */
  async #get(path, params, signal) {
    try {
      const found = await this.api.get(path, params, {signal, build: this.#build});
      [, this.#build] = found;
      return found;
    } catch (error) {
      if (!this.#build || error.code !== "invalid_parameter") throw error;
      this.#build = undefined;
      return this.#get(path, params, signal);
    }
  }
}

function* hundreds(ids) {
  const distinct = [...new Set(ids)];
  for (let at = 0; at < distinct.length; at += HUNDRED) yield distinct.slice(at, at + HUNDRED);
}
