const {CARDS, KEY} = process.env;

async function get(path, params = {}) {
  const url = `${CARDS}/api/v1/${path}?${new URLSearchParams(params)}`;
  const answer = await fetch(url, {headers: {Authorization: `Bearer ${KEY}`}});
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}

const names = process.argv.slice(2);
const ids = [];
for (let start = 0; start < names.length; start += 100) {
  const named = await get("cards/named", {names: names.slice(start, start + 100).join("\n")});
  for (const {name, products, ids: listed} of named.data) {
    ids.push(...listed);
    const isCut = products > listed.length;
    if (isCut) console.log(`the cheapest ${listed.length} of ${products} with the name ${name}`);
  }
  for (const name of named.not_found) console.log(`there is no card ${name}`);
}
for (let start = 0; start < ids.length; start += 100) {
  const {data} = await get("cards", {ids: ids.slice(start, start + 100)});
  for (const card of data) console.log(card.name, card.set.name, card.price_guide?.trend ?? null);
}
