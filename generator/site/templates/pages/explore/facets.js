// The values that a filter can have, as options `{value, label, products}`, and how many cards each would find.
import {setName} from "./words.js";

const LISTS = {kind: "kinds", rarity: "rarities", game: "games", set: "sets"}; // of /facets, by filter
const LONGEST = 100; // such a list ends here

export class Facets {
  #whole = {};

  constructor(api) {
    this.api = api;
  }

  /**
   * The options of each filter that has a list. Each filter is counted with all others, so that it shows what another
   * choice would find; `whole` has the numbers of all filters. Without filters, from a copy as plain files, and
   * where /facets does not know all prices, sets and games come without counts.
   */
  async of(filters, asked) {
    try {
      if (filters) return await this.#counted(filters, asked);
    } catch (error) {
      if (asked.signal.aborted) throw error;
    }
    return {set: await this.#all("set"), game: await this.#all("game")};
  }

  async #counted(filters, asked) {
    const answers = {}; // filters that are not in use share one
    const numbers = (some) => (answers[JSON.stringify(some)] ??= this.#numbers(some, asked));
    const options = Object.entries(LISTS).map(async ([name, list]) => {
      const {[name]: own, ...others} = filters;
      const found = await numbers(others);
      if (!found.missed) return [[name, await this.#complete(name, found[list])]];
      return name === "set" || name === "game" ? [[name, await this.#all(name)]] : [];
    });
    const [whole, ...counted] = await Promise.all([numbers(filters), ...options]);
    return {...Object.fromEntries(counted.flat()), whole};
  }

  /**
   * The answer of /facets. It bounds the trend. Under a sort by another price, `missed` is how many more cards the list has:
   * /facets counts from a cent, so that what it counts is in the list.
   */
  async #numbers({sort, ...filters}, asked) {
    if (!sort) return (await this.api.get("facets", filters, asked))[0];
    const from = {...filters, min_price: filters.min_price > 0 ? filters.min_price : "0.01"};
    const list = this.api.get("cards", {...filters, sort, limit: 1}, asked);
    const [[found], [, , total]] = await Promise.all([this.api.get("facets", from, asked), list]);
    return {...found, missed: total - found.products};
  }

  /** The options of a list. After one that ended early, the other sets follow without a count. */
  async #complete(name, list) {
    const options = new Map();
    for (const {id, name: text, value = text ?? id, products} of list) {
      if (value === null) continue; // products without a value: no filter finds them
      const before = options.get(value)?.products ?? 0; // sets may share a name
      const label = text === null ? setName({id, name: null}) : value;
      options.set(value, {value: String(value), label, products: before + products});
    }
    const others = name === "set" && list.length === LONGEST ? await this.#all(name) : [];
    return [...options.values(), ...others.filter(({value}) => !options.has(value))];
  }

  /** The options of a filter in the whole catalogue. */
  #all(name) {
    this.#whole[name] ??= this.api.all(`${name}s`, {limit: 500}).then((rows) =>
      [...new Set(rows.map((row) => row.name))].filter(Boolean).map((value) => ({value, label: value})));
    return this.#whole[name];
  }
}
