// The singles of a set, by number: read once for each set while the page is open.

const CARDS_PER_REQUEST = 100;
const MOST_CARDS = 600; // of a set: each hundred costs one request

export class SetCards {
  #known = new Map();

  constructor(api) {
    this.api = api;
  }

  /** A promise of {cards, total}: the first cards of a set, and how many it has. */
  of(id) {
    if (!this.#known.has(id)) this.#known.set(id, this.#read(id).catch((error) => { this.#known.delete(id); throw error; }));
    return this.#known.get(id);
  }

  /** A promise of the cards before and after one in its set; null where there is none. */
  async neighbours(product) {
    const {cards} = await this.of(product.set.id);
    const at = cards.findIndex(({id_product: id}) => id === product.id_product);
    return at < 0 ? [null, null] : [cards[at - 1] ?? null, cards[at + 1] ?? null];
  }

  async #read(id) {
    const cards = [];
    let build, total;
    for (let offset = 0; offset !== null && cards.length < MOST_CARDS;) {
      const asked = {set: id, kind: "single", sort: "number", limit: CARDS_PER_REQUEST, offset};
      const [page, from, rows] = await this.api.get("cards", asked, {build});
      cards.push(...page.data);
      [build, total, offset] = [from, Number(rows), page.pagination.next_offset];
    }
    return {cards, total};
  }
}
