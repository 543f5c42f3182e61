// Names that are spelled nearly as a text: those that the fewest mistakes turn into it.

const MOST_MISTAKES = 3;
const LETTERS_PER_MISTAKE = 3;
const BEGINNING = 0.5; // mistakes, where a text is nearly the first words of a name

/** The names nearest to a text, `most` at most: by mistakes, then by their products. `names` are `{words, products}`. */
export function nearest(names, text, most) {
  let allowed = Math.min(MOST_MISTAKES, Math.floor(text.length / LETTERS_PER_MISTAKE));
  const found = [];
  for (const entry of names) {
    const wrong = mistakes(entry.words, text, allowed);
    if (wrong > allowed) continue;
    found.push({entry, wrong});
    found.sort((a, b) => a.wrong - b.wrong || b.entry.products - a.entry.products);
    if (found.length > most) found.pop();
    if (found.length === most) allowed = found.at(-1).wrong;
  }
  return found.map(({entry}) => entry);
}

/**
 * How many letters must be put in, left out, replaced or swapped with their neighbour to turn a name, or its first words,
 * into a text; more than `most` if they are more than that.
 */
function mistakes(name, text, most) {
  if (text.length - name.length > most) return Infinity;
  let [before, last] = [[], Array.from({length: text.length + 1}, (_, at) => at)];
  let fewest = Infinity;
  for (let row = 1; row <= name.length && row <= text.length + most; row++) {
    const next = Array(text.length + 1).fill(Infinity);
    if (fill(next, name, text, row, last, before, most) > most) break;
    if (row === name.length) fewest = Math.min(fewest, next[text.length]);
    else if (name[row] === " ") fewest = Math.min(fewest, next[text.length] + BEGINNING);
    [before, last] = [last, next];
  }
  return fewest;
}

/** Fill a row of the table of distances between beginnings of the name and of the text, where these may be at most `most`. */
function fill(next, name, text, row, last, before, most) {
  let least = next[0] = row;
  const [letter, reach] = [name[row - 1], Math.floor(most)];
  for (let at = Math.max(1, row - reach); at <= text.length && at <= row + reach; at++) {
    let cost = last[at - 1] + (letter === text[at - 1] ? 0 : 1);
    if (last[at] + 1 < cost) cost = last[at] + 1;
    if (next[at - 1] + 1 < cost) cost = next[at - 1] + 1;
    if (row > 1 && at > 1 && letter === text[at - 2] && name[row - 2] === text[at - 1]) cost = Math.min(cost, before[at - 2] + 1);
    next[at] = cost;
    if (cost < least) least = cost;
  }
  return least;
}
