// The values that a filter can have, as options `{value, label, products}`, and how many cards each would find.

const LISTS = {kind: "kinds", rarity: "rarities", game: "games", set: "sets"}; // of /facets, by filter
const LONGEST = 100; // such a list ends here

export class Facets {
  #whole = {};

  constructor(api) {
    this.api = api;
  }

  /**
   * The options of each filter that has a list. Each filter is counted with all others, so that it shows what another
   * choice would find; `whole` has the numbers of all filters. Without filters, or from a build that is older than /facets, sets and games come without counts.
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
    const options = Object.entries(LISTS).map(async ([name, list]) => {
      const {[name]: own, ...others} = filters;
      const [answer] = await (answers[JSON.stringify(others)] ??= this.api.get("facets", others, asked));
      return [name, await this.#complete(name, answer[list])];
    });
    const whole = answers[JSON.stringify(filters)] ??= this.api.get("facets", filters, asked);
    const [[all], ...counted] = await Promise.all([whole, ...options]);
    return {...Object.fromEntries(counted), whole: all};
  }

  /** The options of a list. After one that ended early, the other sets follow without a count. */
  async #complete(name, list) {
    const options = new Map();
    for (const {id, name: text, value = text ?? id, products} of list) {
      if (value === null) continue; // products without a value: no filter finds them
      const before = options.get(value)?.products ?? 0; // sets may share a name
      const label = text === null ? `Set ${id}` : value;
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
