const {CARDS, KEY} = process.env;
const fold = (text) => text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase();

const answer = await fetch(`${CARDS}/api/v1/names`, {headers: {Authorization: `Bearer ${KEY}`}});
if (!answer.ok) throw new Error(await answer.text());
const {names} = await answer.json();
const known = names.map(({name, products}) => ({name, products, words: ` ${fold(name)}`}));

/** The names that have a word with this beginning, those that begin with it first. */
function complete(typed, most = 10) {
  const words = fold(typed.trim());
  const found = known.filter((one) => one.words.includes(` ${words}`));
  return found.sort((a, b) => b.words.startsWith(` ${words}`) - a.words.startsWith(` ${words}`)).slice(0, most);
}

for (const {name, products} of complete(process.argv[2])) console.log(`${name} (${products})`);
