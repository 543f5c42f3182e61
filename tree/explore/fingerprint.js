// Recognises cards on photos: the recipe cardpress-1, the search through an index, and the way from a photo to its card.
//
// Pure functions without a page: they run in browsers, workers and Node. docs/fingerprint.md of cardpress specifies the
// recipe and describes this module. A picture is {width, height, data}, like ImageData: RGBA by rows, 8 bits a channel.
// `onWhite` must have removed its transparency. A fingerprint is {hashes, colour}: art_p, art_d and card_p as six
// 32-bit words, and 48 bytes.
//
//     import {readIndex, recognise} from "./fingerprint.js";
//     const index = readIndex(await (await fetch("/api/v1/fingerprints", {headers})).json());
//     const {matches} = recognise(onWhite(imageData), index);
import {findOutlines, turns, warp} from "./outline.js";

export {findOutlines, turns, warp};
export const VERSION = "cardpress-1";
const ART_PERCENT = {left: 8, top: 11, right: 92, bottom: 50};
const SIDE = 32; // cells of the square of perceptual hashes, each way
const LOW = 8; // how many of its frequencies they use, each way
const COLOURS = 4; // cells of the colour grid, each way
const BYTES = 3 * COLOURS * COLOURS;
const WORDS = 6; // of the three hashes
const UNIT = 2 * 16 * BYTES; // distances are counted in whole units, this many to 1
const FARTHEST = 2 ** 30; // more units than any distance has
const VIEW_WIDTH = 378; // most pixels of all views but the first
const VIEW_HEIGHT = 528;
const MOVES = [[0.02, 0, 0], [-0.02, 0, 0], [0, 0.02, 0], [0, -0.02, 0], [0, 0, 2], [0, 0, -2]]; // right, down, degrees
const OUTLINE_SIDE = 400; // most pixels of the photo on which outlines are found
const WARP_SIDE = 1200; // and of that which is warped
const CARD_WIDTH = 252; // of a warped card
const CARD_HEIGHT = 352;
const FIRST_PART = 2; // the first comparison uses half the pixels each way
const FINALISTS = 2; // how many ways to hold a photo are compared with all views
const FIELDS = ["art_p", "art_d", "card_p"];
const COSINES = Array.from({length: LOW}, (_, order) =>
  Float64Array.from({length: SIDE}, (_, at) => 2 * Math.cos((Math.PI * order * (2 * at + 1)) / (2 * SIDE))));

/** Return a picture whose transparent parts are laid on white. The given one stays as it is. */
export function onWhite({width, height, data}) {
  const found = new Uint8ClampedArray(data);
  for (let at = 0; at < found.length; at += 4) {
    const alpha = found[at + 3];
    if (alpha === 255) continue;
    for (let channel = at; channel < at + 3; channel++) {
      found[channel] = Math.floor((found[channel] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
    found[at + 3] = 255;
  }
  return {width, height, data: found};
}

/** Return which pixels each cell touches: triples of pixel, cell, and the overlap in units of 1/cells of the pixel. */
function overlaps(first, length, cells) {
  const found = new Int32Array(3 * (length + cells));
  let end = 0;
  for (let from = 0, pixel = 0, cell = 0; pixel < length;) {
    const to = Math.min((pixel + 1) * cells, (cell + 1) * length);
    found[end++] = first + pixel;
    found[end++] = cell;
    found[end++] = to - from;
    if (to === (pixel + 1) * cells) pixel++;
    if (to === (cell + 1) * length) cell++;
    from = to;
  }
  return found.subarray(0, end);
}

/**
 * Divide a part of a picture into equal cells and return their means, R, G, B by rows, rounded half up.
 * Sums are whole numbers below 2 ** 53 for every picture that the recipe allows.
 */
export function average({width, height, data}, columns, rows, box = {left: 0, top: 0, right: width, bottom: height}) {
  const [wide, tall] = [box.right - box.left, box.bottom - box.top];
  const [across, down] = [overlaps(box.left, wide, columns), overlaps(box.top, tall, rows)];
  const sums = new Float64Array(3 * columns * rows);
  for (let y = 0; y < down.length; y += 3) {
    const line = down[y] * width;
    const row = columns * down[y + 1];
    for (let x = 0; x < across.length;) {
      const cell = across[x + 1];
      let [red, green, blue] = [0, 0, 0];
      for (; x < across.length && across[x + 1] === cell; x += 3) {
        const at = 4 * (line + across[x]);
        const weight = across[x + 2];
        red += data[at] * weight;
        green += data[at + 1] * weight;
        blue += data[at + 2] * weight;
      }
      sums[3 * (row + cell)] += red * down[y + 2];
      sums[3 * (row + cell) + 1] += green * down[y + 2];
      sums[3 * (row + cell) + 2] += blue * down[y + 2];
    }
  }
  const area = wide * tall;
  const found = new Uint8Array(sums.length);
  for (let at = 0; at < sums.length; at++) found[at] = Math.floor((2 * sums[at] + area) / (2 * area));
  return found;
}

/** Return a smaller copy of a picture, each pixel the mean of an area. A side that is small enough stays. */
export function reduced(picture, mostWide, mostTall) {
  const [width, height] = [Math.min(picture.width, mostWide), Math.min(picture.height, mostTall)];
  if (width === picture.width && height === picture.height) return picture;
  const cells = average(picture, width, height);
  const data = new Uint8ClampedArray(4 * width * height).fill(255);
  for (let at = 0; at < cells.length; at++) data[at + Math.floor(at / 3)] = cells[at];
  return {width, height, data};
}

/** Return the brightness of averaged cells by ITU-R 601, in whole numbers. */
export function grey(cells) {
  return Uint8Array.from({length: cells.length / 3}, (_, at) =>
    (19595 * cells[3 * at] + 38470 * cells[3 * at + 1] + 7471 * cells[3 * at + 2] + 32768) >> 16);
}

/** Return 64 bits as two words, the first bit the most significant. */
function words(bit) {
  const found = [0, 0];
  for (let at = 0; at < 64; at++) if (bit(at)) found[at >> 5] |= 1 << (31 - (at & 31));
  return found;
}

/** Return the perceptual hash of 32 × 32 grey cells as two words. */
export function perceptualHash(square) {
  const frequencies = new Float64Array(LOW * LOW);
  for (let i = 0; i < LOW; i++) {
    const column = new Float64Array(SIDE); // the sums over rows
    for (let at = 0; at < square.length; at++) column[at % SIDE] += square[at] * COSINES[i][Math.floor(at / SIDE)];
    for (let j = 0; j < LOW; j++) {
      const sum = column.reduce((total, value, x) => total + value * COSINES[j][x], 0);
      frequencies[i * LOW + j] = Math.floor(sum * 1024 + 0.5);
    }
  }
  const sorted = frequencies.slice().sort();
  const median = (sorted[31] + sorted[32]) / 2;
  return words((at) => frequencies[at] > median);
}

/** Return the difference hash of 9 × 8 grey cells as two words. */
export function differenceHash(cells) {
  return words((at) => {
    const place = (at >> 3) * (LOW + 1) + (at & 7);
    return cells[place + 1] > cells[place];
  });
}

/** Return the artwork's place on a card, in pixels. */
export function artBox({width, height}) {
  const edge = (length, percent) => Math.floor((length * percent + 50) / 100);
  const {left, top, right, bottom} = ART_PERCENT;
  return {left: edge(width, left), top: edge(height, top), right: edge(width, right), bottom: edge(height, bottom)};
}

/** Return the fingerprint of a picture that is cut to the card and upright. Sides have at least 32 pixels. */
export function fingerprint(card) {
  const box = artBox(card);
  return {
    hashes: Uint32Array.from([
      ...perceptualHash(grey(average(card, SIDE, SIDE, box))),
      ...differenceHash(grey(average(card, LOW + 1, LOW, box))),
      ...perceptualHash(grey(average(card, SIDE, SIDE))),
    ]),
    colour: average(card, COLOURS, COLOURS, box),
  };
}

/** Return a fingerprint as the API writes it: hex texts by field. */
export function texts({hashes, colour}) {
  const hex = (values, digits) => Array.from(values, (value) => value.toString(16).padStart(digits, "0")).join("");
  const fields = FIELDS.map((name, at) => [name, hex(hashes.subarray(2 * at, 2 * at + 2), 8)]);
  return {...Object.fromEntries(fields), colour: hex(colour, 2)};
}

/** Return the seven views of a photo of a card: itself, shifted by 2 % in four directions, turned by 2° both ways. */
export function views(photo) {
  const small = reduced(photo, VIEW_WIDTH, VIEW_HEIGHT);
  return [photo, ...MOVES.map((move) => moved(small, ...move))];
}

/** Return a shifted or turned copy. Pixels beyond the edge have the colour of the edge. */
function moved({width, height, data}, right, down, degrees) {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const [midX, midY] = [(width - 1) / 2, (height - 1) / 2];
  const [from, to] = [new Uint32Array(data.buffer, data.byteOffset), new Uint32Array(width * height)];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const across = nearest(cos * (x - midX) - sin * (y - midY) + midX + right * width, width);
      to[at++] = from[nearest(sin * (x - midX) + cos * (y - midY) + midY + down * height, height) * width + across];
    }
  }
  return {width, height, data: new Uint8ClampedArray(to.buffer)};
}

/** Return the place nearest to a value, 0 to length - 1. Halves are rounded to even, as in the Python package. */
function nearest(value, length) {
  const low = Math.floor(value);
  const part = value - low;
  const near = part > 0.5 || (part === 0.5 && low % 2) ? low + 1 : low;
  return near < 0 ? 0 : near >= length ? length - 1 : near;
}

/** Write a colour grid minus the mean of each channel, × 16 to stay whole, into `to`. */
function centre(colour, to) {
  for (let channel = 0; channel < 3; channel++) {
    let sum = 0;
    for (let at = channel; at < BYTES; at += 3) sum += colour[at];
    for (let at = channel; at < BYTES; at += 3) to[at] = 16 * colour[at] - sum;
  }
}

/**
 * Read the API's index for searches: entries sorted by key, as typed arrays.
 * Throws an Error if the index has another recipe or no entries.
 */
export function readIndex({version, image_url: imageUrl, entries}) {
  if (entries.length === 0) throw new Error("There are no pictures to compare with: the index of fingerprints has no entries.");
  if (version !== VERSION) throw new Error(`The index has the recipe ${version}. This page knows ${VERSION} only.`);
  const sorted = entries.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const hashes = new Uint32Array(WORDS * sorted.length);
  const colours = new Int16Array(BYTES * sorted.length);
  const bytes = new Uint8Array(BYTES);
  sorted.forEach((entry, row) => {
    FIELDS.forEach((name, at) => {
      hashes[WORDS * row + 2 * at] = parseInt(entry[name].slice(0, 8), 16);
      hashes[WORDS * row + 2 * at + 1] = parseInt(entry[name].slice(8), 16);
    });
    for (let at = 0; at < BYTES; at++) bytes[at] = parseInt(entry.colour.slice(2 * at, 2 * at + 2), 16);
    centre(bytes, colours.subarray(BYTES * row, BYTES * row + BYTES));
  });
  return {imageUrl, keys: sorted.map(({key}) => key), products: sorted.map(({products}) => products), hashes, colours};
}

function ones(word) {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0F0F0F0F, 0x01010101) >>> 24;
}

/** Return the hash bits in which an entry differs from a fingerprint; both are places in arrays of words. */
function differentBits(hashes, row, words, one) {
  let sum = 0;
  for (let word = 0; word < WORDS; word++) sum += ones(hashes[WORDS * row + word] ^ words[WORDS * one + word]);
  return sum;
}

/**
 * Return the smallest distance of an entry to several fingerprints, in units, or `limit` if none is smaller. Colours
 * only add to the distance of the hashes, so most entries need no look at their colours.
 */
function smallest({hashes, colours}, row, words, grids, limit) {
  let found = limit;
  for (let one = 0; WORDS * one < words.length; one++) {
    let distance = UNIT * differentBits(hashes, row, words, one);
    if (distance >= found) continue;
    for (let at = BYTES * row, grid = BYTES * one; at < BYTES * (row + 1); at++, grid++) distance += Math.abs(colours[at] - grids[grid]);
    if (distance < found) found = distance;
  }
  return found;
}

/**
 * Return the entries nearest to any of several fingerprints, nearest first and by key at equal distances:
 * [{key, distance, products, image}].
 */
export function search(fingerprints, index, top = 5) {
  const words = Uint32Array.from(fingerprints.flatMap(({hashes}) => [...hashes]));
  const grids = new Int16Array(BYTES * fingerprints.length);
  fingerprints.forEach(({colour}, at) => centre(colour, grids.subarray(BYTES * at, BYTES * (at + 1))));
  const best = []; // [row, distance], nearest first
  for (let row = 0; row < index.keys.length; row++) {
    const limit = best.length < top ? FARTHEST : best[top - 1][1];
    const distance = smallest(index, row, words, grids, limit);
    if (distance >= limit) continue;
    let place = best.length;
    while (place > 0 && distance < best[place - 1][1]) place--;
    best.splice(place, 0, [row, distance]);
    best.length = Math.min(best.length, top);
  }
  return best.map(([row, distance]) => ({
    key: index.keys[row], distance: distance / UNIT, products: index.products[row],
    image: index.imageUrl.replace("{key}", () => index.keys[row]),
  }));
}

/**
 * Find the card on a photo, at any angle, and the entries nearest to it.
 *
 * Returns {outline, matches}: the four corners in pixels of the photo, beginning at the card's top left, or null if the
 * whole photo is nearest; and what `search` returns. Every outline, and the whole photo, is tried in four directions.
 */
export function recognise(photo, index, top = 5) {
  const {width, height} = photo;
  const middle = fitting(photo, WARP_SIDE);
  const card = (corners, part) =>
    warp(middle, scaled(corners, middle.width / width, middle.height / height), CARD_WIDTH / part, CARD_HEIGHT / part);
  const distance = (fingerprints) => search(fingerprints, index, 1)[0].distance;
  const ways = waysToHold(photo, middle).map((way) => ({...way, distance: distance([fingerprint(card(way.corners, FIRST_PART))])}));
  const finalists = ways.sort((one, other) => one.distance - other.distance).slice(0, FINALISTS);
  const results = finalists.map(({outline, corners, upright}) =>
    ({outline, matches: search(views(upright ? photo : card(corners, 1)).map(fingerprint), index, top)}));
  return results.reduce((best, one) => (one.matches[0].distance < best.matches[0].distance ? one : best));
}

/** Return what may be the card, each in four directions: the corners of the outlines, and those of the whole photo. */
function waysToHold({width, height}, middle) {
  const small = fitting(middle, OUTLINE_SIDE);
  const outlines = findOutlines(small).map((outline) => scaled(outline, width / small.width, height / small.height));
  const whole = turns([[0, 0], [width, 0], [width, height], [0, height]]);
  return [
    ...whole.map((corners, turn) => ({outline: null, corners, upright: turn === 0})),
    ...outlines.flatMap(turns).map((corners) => ({outline: corners, corners})),
  ];
}

/** Return a copy whose sides are at most so many pixels long, in the same ratio. */
function fitting(picture, side) {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height));
  return reduced(picture, Math.max(2, Math.round(picture.width * scale)), Math.max(2, Math.round(picture.height * scale)));
}

const scaled = (points, across, down) => points.map(([x, y]) => [x * across, y * down]);
