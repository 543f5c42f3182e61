// Products of the catalogue for a list: their Cards and a year of their prices, asked for by the hundred and kept.
// A request carries ids, or the words of a name. It never carries what a list says of a card.

const HUNDRED = 100;
const MOST_SETS = 1000; // of an answer

export class Catalogue {
  products = new Map(); // by id: {id_product, name, set, number, price, low}, and its `card` once that is loaded
  series = new Map(); // by id: a price or null for each week
  weeks = []; // Mondays
  #unknown = new Set();
  #named = new Map();
  #kept = new Map(); // other answers, by what was asked
  #build;

  constructor(api) {
    this.api = api;
  }

  /** The day that the prices speak for. */
  get asOf() {
    return this.#build.slice(0, 10);
  }

  /** Load what a list needs of these products. `done(number)` is called with the number of products of each answer. */
  loadProducts(ids, signal, done) {
    return this.#load(ids.filter((id) => !this.products.has(id)), signal, done);
  }

  /** Load their Cards, which have more: the whole name, prices of foils, and offers by condition. */
  loadCards(ids, signal, done) {
    return this.#load(ids.filter((id) => !this.products.get(id)?.card), signal, done);
  }

  async #load(ids, signal, done = () => {}) {
    for (const part of hundreds(ids.filter((id) => !this.#unknown.has(id)))) {
      const [{data, not_found: unknown}] = await this.#get("cards", {ids: part.join()}, signal);
      this.#keep(data);
      for (const id of unknown) this.#unknown.add(id);
      done(part.length);
    }
  }

  /** Load the prices of a year. */
  async loadSeries(ids, signal) {
    for (const part of hundreds(ids.filter((id) => !this.series.has(id) && !this.#unknown.has(id)))) {
      const [{weeks, data, not_found: unknown}] = await this.#get("series", {ids: part.join()}, signal);
      this.weeks = weeks;
      for (const {id_product: id, trend} of data) this.series.set(id, trend);
      for (const id of unknown) this.#unknown.add(id);
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

  /** Whether the build has been asked for codes, and has none. */
  get lacksCodes() {
    return this.#kept.get("codes")?.size === 0;
  }

  /** All singles of a set. */
  ofSet(set, signal) {
    const asked = {set, kind: "single", limit: HUNDRED};
    return this.#once(`set ${set}`, async () => this.#keep(await this.#all("cards", asked, signal)).map(productOf));
  }

  sets(signal) {
    return this.#once("sets", () => this.#all("sets", {limit: MOST_SETS}, signal));
  }

  /**
   * What names mean, by name: an entry of /cards/named whose `printings` are products of that name; undefined for none.
   * `done(entries)` is called after each answer.
   */
  async named(names, signal, done = () => {}) {
    for (const part of hundreds(names.filter((name) => !this.#named.has(name)))) {
      const [{data, not_found: unknown}] = await this.#get("cards/named", {names: part.join("\n"), printings: true}, signal);
      for (const name of unknown) this.#named.set(name, undefined);
      for (const entry of data) this.#named.set(entry.name, {...entry, printings: this.#keepPrintings(entry)});
      done(this.#named);
    }
    return this.#named;
  }

  #keepPrintings({name, printings}) {
    const products = printings.map((one) => ({...one, name}));
    for (const one of products) if (!this.products.has(one.id_product)) this.products.set(one.id_product, one);
    return products;
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

  /** Keep Cards. A product that is known already stays the same object. */
  #keep(cards) {
    for (const card of cards) this.products.set(card.id_product, Object.assign(this.products.get(card.id_product) ?? {}, productOf(card)));
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

/** What a list needs of a Card. */
export function productOf(card) {
  const {id_product, name, set, number, price_guide: guide, filtered_price: filtered} = card;
  const price = [guide?.trend, guide?.holo.trend].find((one) => one > 0) ?? null; // the market price
  return {id_product, name, set, number, price, low: filtered?.lowest ?? null, card};
}

function* hundreds(ids) {
  const distinct = [...new Set(ids)];
  for (let at = 0; at < distinct.length; at += HUNDRED) yield distinct.slice(at, at + HUNDRED);
}
