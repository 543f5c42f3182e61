// Which card of the catalogue a product of the watchlist is, and the reverse: both have the same product page.

/** Links between the two. Each asks only what the key's scopes allow. */
export class Tracked {
  #items = null;

  /** @param scopes a promise of the scopes of the key. */
  constructor(api, scopes) {
    Object.assign(this, {api, scopes});
  }

  /** The item of the watchlist that tracks a product of the catalogue, or undefined. */
  async itemOf({cardmarket_url: url}) {
    if (!url || !(await this.scopes).includes("watchlist:read")) return undefined;
    this.#items ??= this.api.all("watchlist", {limit: 500});
    return (await this.#items).find((item) => item.cardmarket_url === url);
  }

  /** The product of the catalogue that an item of the watchlist tracks, or undefined. It is searched by its name. */
  async of({name, cardmarket_url: url}) {
    if (!url || !(await this.scopes).includes("cards:read")) return undefined;
    const words = name.replace(/[([].*/, "").trim().slice(0, 100);
    const [{data}] = await this.api.get("cards", {q: words, limit: 100});
    return data.find((product) => product.cardmarket_url === url);
  }
}
