// The prices of a list of names: node prices.mjs "Emberfox ex" "Box 1"
// The names file tells which names there are. Ids of a name are searched once and kept. 100 prices cost one request.
import {existsSync, readFileSync, writeFileSync} from "node:fs";

const {CARDS, KEY} = process.env;

async function get(path, params = {}) {
  const url = `${CARDS}/api/v1/${path}?${new URLSearchParams(params)}`;
  const answer = await fetch(url, {headers: {Authorization: `Bearer ${KEY}`}});
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}

/** A text without accents, whatever its case: so the API compares names. */
const fold = (text) => text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase();

const file = "ids-js.json";
const ids = existsSync(file) ? JSON.parse(readFileSync(file)) : {};
const products = new Map((await get("names")).names.map((entry) => [fold(entry.name), entry.products]));
const wanted = process.argv.slice(2).map(fold);
for (const name of wanted) {
  if (!products.has(name)) {
    console.log(`there is no card ${name}`);
  } else if (!ids[name]) { // the best matches are the products of this name
    const found = await get("cards", {q: name, sort: "match", limit: Math.min(products.get(name), 100)});
    ids[name] = found.data.map((card) => card.id_product);
  }
}
writeFileSync(file, JSON.stringify(ids));

const asked = wanted.flatMap((name) => ids[name] ?? []);
for (let start = 0; start < asked.length; start += 100) {
  const {data} = await get("cards", {ids: asked.slice(start, start + 100)});
  for (const card of data) console.log(card.name, card.set.name, card.price_guide?.trend ?? null);
}
