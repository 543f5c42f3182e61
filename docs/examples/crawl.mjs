const {CARDS, KEY} = process.env;

/** Send a GET request. Wait and try again after 429 and 500; throw for every other error. */
async function get(url, headers) {
  for (let tries = 5; ; tries--) {
    const answer = await fetch(url, {headers: {Authorization: `Bearer ${KEY}`, ...headers}});
    if (answer.ok) return answer;
    if (![429, 500].includes(answer.status) || tries === 1) {
      const {error} = await answer.json();
      throw new Error(`${error.code}: ${error.message}`);
    }
    const seconds = Number(answer.headers.get("Retry-After") ?? 5);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

/** Yield every item of a list. */
async function* crawl(path, params) {
  const headers = {};
  for (let offset = 0; offset !== null; ) {
    const answer = await get(`${CARDS}${path}?${new URLSearchParams({...params, offset})}`, headers);
    headers["X-Build"] = answer.headers.get("X-Build");
    const page = await answer.json();
    yield* page.data;
    offset = page.pagination.next_offset;
  }
}

for await (const card of crawl("/api/v1/cards", {kind: "sealed", limit: 100})) {
  console.log(card.id_product, card.name);
}
