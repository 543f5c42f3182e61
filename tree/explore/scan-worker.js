const $explore_api_js = (() => {
class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, {status, code});
  }
}

const pause = (seconds, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, seconds * 1000);
  signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, {once: true});
});
function early(url, headers) {
  const found = globalThis.early;
  if (!found || headers["X-Build"] || headers.Authorization !== `Bearer ${found.key}`) return undefined;
  const answer = found.answers.get(url);
  found.answers.delete(url);
  return answer;
}
async function ask(url, {headers, signal}) {
  try {
    return await (early(url, headers) ?? fetch(url, {headers, signal, credentials: "omit", referrerPolicy: "no-referrer"}));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The service cannot be reached. Look at your connection, and try again.");
  }
}

class Api {
  #key;
  constructor(key, onWait) {
    this.#key = key;
    this.onWait = onWait;
  }
  async get(path, params = {}, {signal, build} = {}) {
    const present = Object.entries(params).filter(([, value]) => value !== "" && value != null);
    const query = new URLSearchParams(present);
    const url = `/api/v1/${path}${query.size ? `?${query}` : ""}`;
    const headers = {...this.#own(), ...(build && {"X-Build": build})};
    for (;;) {
      const answer = await ask(url, {headers, signal});
      if (answer.ok) return [await answer.json(), answer.headers.get("X-Build"), answer.headers.get("X-Total-Count")];
      if (answer.status !== 429) throw await this.#error(answer);
      await this.#wait(Number(answer.headers.get("Retry-After") ?? 5), signal);
    }
  }
  async file(name, signal) {
    const headers = this.#own();
    const answer = await ask(`/api/v1/bulk/${name}`, {headers, signal});
    if (!answer.ok) throw await this.#error(answer);
    return answer.blob();
  }
  attachment() {
    const folder = `${location.origin}/api/v1/bulk/`;
    return ["INSTALL ducklake; INSTALL httpfs; LOAD httpfs;", `CREATE SECRET (TYPE http, BEARER_TOKEN '${this.#key}');`,
      `ATTACH 'ducklake:${folder}catalog.ducklake' AS cards (READ_ONLY, DATA_PATH '${folder}');`].join("\n");
  }
  async all(path, params) {
    const items = [];
    let build;
    for (let offset = 0; offset !== null;) {
      const [page, from] = await this.get(path, {...params, offset}, {build});
      items.push(...page.data);
      [build, offset] = [from, page.pagination.next_offset];
    }
    return items;
  }
  #own() {
    return this.#key ? {Authorization: `Bearer ${this.#key}`} : {};
  }

  async #error(answer) {
    const {error} = await answer.json().catch(() => ({error: {code: "no_json", message: answer.statusText}}));
    return new ApiError(answer.status, error.code, error.message);
  }

  async #wait(seconds, signal) {
    this.onWait(seconds);
    try { await pause(seconds, signal); } finally { this.onWait(null); }
  }
}
return {ApiError, Api};
})();
const $explore_outline_js = (() => {

const RATIO = 63 / 88; // of a card's sides
const FLATTEST = 0.42; // the least ratio of the sides of a card in perspective
const LEAST_AREA = 0.04; // of the photo
const LEAST_FILLED = 0.8; // part of the convex hull that a quadrilateral covers if the shape is one
const FIRMNESS = [3, 6, 12]; // how many times farther from the ground than its median a pixel of the card is
const LEAST_DIFFERENCE = 10; // in colour, of 255
const EDGE = 22; // the least change of colour between neighbours that bounds a card
const MOST_EXTENDED = 1.3; // how much longer a card may be than its part on the photo
const TURNS = [0, 1, 2, 3];
function findOutlines(photo) {
  const far = distanceFromGround(photo);
  const masks = [...FIRMNESS.map((times) => farMask(far, times)), enclosedMask(photo)];
  const found = [];
  for (const mask of masks) {
    const outline = outlineOf(largestPart(mask, photo), photo);
    for (const one of outline ? [outline, ...extended(outline, photo)] : []) {
      if (!found.some((other) => near(other, one, photo))) found.push(one);
    }
  }
  return found;
}
const turns = (outline) => TURNS.map((turn) => [...outline.slice(turn), ...outline.slice(0, turn)]);
function warp({width, height, data}, outline, wide, tall) {
  const place = projection(outline);
  const found = new Uint8ClampedArray(4 * wide * tall).fill(255);
  const point = new Float64Array(2);
  for (let y = 0, to = 0; y < tall; y++) {
    for (let x = 0; x < wide; x++, to += 4) {
      place((x + 0.5) / wide, (y + 0.5) / tall, point);
      const across = Math.min(Math.max(point[0] - 0.5, 0), width - 1);
      const down = Math.min(Math.max(point[1] - 0.5, 0), height - 1);
      const left = Math.min(Math.floor(across), width - 2);
      const top = Math.min(Math.floor(down), height - 2);
      const right = across - left;
      const low = down - top;
      for (let channel = 0, from = 4 * (top * width + left); channel < 3; channel++, from++) {
        const upper = data[from] * (1 - right) + data[from + 4] * right;
        const lower = data[from + 4 * width] * (1 - right) + data[from + 4 * width + 4] * right;
        found[to + channel] = upper * (1 - low) + lower * low;
      }
    }
  }
  return {width: wide, height: tall, data: found};
}
function projection([[x0, y0], [x1, y1], [x2, y2], [x3, y3]]) {
  const [sumX, sumY] = [x0 - x1 + x2 - x3, y0 - y1 + y2 - y3];
  const [ax, ay, bx, by] = [x1 - x2, y1 - y2, x3 - x2, y3 - y2];
  const scale = ax * by - bx * ay;
  const [g, h] = [(sumX * by - bx * sumY) / scale, (ax * sumY - sumX * ay) / scale];
  const [a, b, d, e] = [x1 - x0 + g * x1, x3 - x0 + h * x3, y1 - y0 + g * y1, y3 - y0 + h * y3];
  return (u, v, to) => {
    const depth = g * u + h * v + 1;
    to[0] = (a * u + b * v + x0) / depth;
    to[1] = (d * u + e * v + y0) / depth;
  };
}
function distanceFromGround({width, height, data}) {
  const border = borderOf(width, height);
  let part = border;
  let far = null;
  for (let round = 0; round < 4; round++) {
    far = distanceFrom([0, 1, 2].map((channel) => plane(part, ([x, y]) => data[4 * (y * width + x) + channel])), data, width);
    const limit = 2 * median(border.map(([x, y]) => far(x, y))) + 2;
    part = border.filter(([x, y]) => far(x, y) <= limit);
  }
  const distances = new Float32Array(width * height);
  for (let y = 0, to = 0; y < height; y++) for (let x = 0; x < width; x++) distances[to++] = far(x, y);
  return {distances, usual: median(border.map(([x, y]) => far(x, y)))};
}
function borderOf(width, height) {
  const border = [];
  for (let x = 0; x < width; x++) border.push([x, 0], [x, 1], [x, height - 2], [x, height - 1]);
  for (let y = 2; y < height - 2; y++) border.push([0, y], [1, y], [width - 2, y], [width - 1, y]);
  return border;
}
function distanceFrom([[a, b, c], [d, e, f], [g, h, i]], data, width) {
  return (x, y) => {
    const at = 4 * (y * width + x);
    const red = data[at] - a - b * x - c * y;
    const green = data[at + 1] - d - e * x - f * y;
    const blue = data[at + 2] - g - h * x - i * y;
    return Math.sqrt(red * red + green * green + blue * blue);
  };
}

const median = (values) => Float64Array.from(values).sort()[values.length >> 1];
function plane(points, value) {
  let [midX, midY, midV] = [0, 0, 0];
  for (const point of points) {
    midX += point[0] / points.length;
    midY += point[1] / points.length;
    midV += value(point) / points.length;
  }
  let [xx, xy, yy, xv, yv] = [1, 0, 1, 0, 0]; // 1, so that points in a line give no infinite slope
  for (const point of points) {
    const x = point[0] - midX;
    const y = point[1] - midY;
    const v = value(point) - midV;
    xx += x * x; xy += x * y; yy += y * y; xv += x * v; yv += y * v;
  }
  const scale = xx * yy - xy * xy;
  const [b, c] = [(xv * yy - yv * xy) / scale, (yv * xx - xv * xy) / scale];
  return [midV - b * midX - c * midY, b, c];
}

function farMask({distances, usual}, times) {
  const limit = Math.max(LEAST_DIFFERENCE, times * usual);
  const found = new Uint8Array(distances.length);
  for (let at = 0; at < found.length; at++) if (distances[at] > limit) found[at] = 1;
  return found;
}
function enclosedMask({width, height, data}) {
  const edges = new Uint8Array(width * height);
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      const at = 4 * (y * width + x);
      let change = 0;
      for (let channel = at; channel < at + 3; channel++) {
        change += Math.abs(data[channel + 4] - data[channel - 4]) + Math.abs(data[channel + 4 * width] - data[channel - 4 * width]);
      }
      if (change > EDGE) edges[y * width + x] = 1;
    }
  }
  const outside = filled(edges, width, height);
  return outside.map((value) => 1 - value);
}
function filled(edges, width, height) {
  const found = new Uint8Array(edges.length);
  const stack = [];
  const visit = (at) => { if (!edges[at] && !found[at]) { found[at] = 1; stack.push(at); } };
  for (let x = 0; x < width; x++) { visit(x); visit((height - 1) * width + x); }
  for (let y = 0; y < height; y++) { visit(y * width); visit(y * width + width - 1); }
  while (stack.length) {
    const at = stack.pop();
    const x = at % width;
    if (x > 0) visit(at - 1);
    if (x < width - 1) visit(at + 1);
    if (at >= width) visit(at - width);
    if (at < edges.length - width) visit(at + width);
  }
  return found;
}
function largestPart(mask, {width}) {
  const left = new Uint8Array(mask.length); // 1: in the mask, and not visited yet. The outermost pixels stay 0
  for (let line = width; line < mask.length - width; line += width) {
    for (let at = line + 1; at < line + width - 1; at++) if (mostAround(mask, at, width)) left[at] = 1;
  }
  let best = new Int32Array(0);
  const part = new Int32Array(mask.length);
  for (let start = 0; start < left.length; start++) {
    if (left[start] === 0) continue;
    const size = spread(left, width, start, part);
    if (size > best.length) best = part.slice(0, size);
  }
  return best;
}
function spread(left, width, start, part) {
  let size = 1;
  part[0] = start;
  left[start] = 0;
  for (let next = 0; next < size; next++) {
    for (let step = 0; step < 4; step++) {
      const at = part[next] + (step === 0 ? -1 : step === 1 ? 1 : step === 2 ? -width : width);
      if (left[at] === 1) {
        left[at] = 0;
        part[size++] = at;
      }
    }
  }
  return size;
}
function mostAround(mask, at, width) {
  let sum = 0;
  for (let line = at - width; line <= at + width; line += width) sum += mask[line - 1] + mask[line] + mask[line + 1];
  return sum > 5;
}
function outlineOf(places, photo) {
  if (places.length < LEAST_AREA * photo.width * photo.height) return null;
  const rim = rimOf(places, photo);
  const hull = convexHull(rim);
  const rough = largestQuadrilateral(hull);
  if (!rough || area(rough) < LEAST_FILLED * area(hull)) return null;
  const outline = fitted(rough, rim).map(([x, y]) => [x + 0.5, y + 0.5]);
  const [one, other] = sides(outline);
  const ratio = Math.min(one, other) / Math.max(one, other);
  return ratio >= FLATTEST && outline.flat().every(Number.isFinite) ? outline : null;
}
function extended(outline, {width, height}) {
  const onBorder = ([[ax, ay], [bx, by]]) => Math.max(ax, bx) < 2 || Math.max(ay, by) < 2 ||
    Math.min(ax, bx) > width - 2 || Math.min(ay, by) > height - 2;
  const cutTurns = turns(outline).filter(([a, b]) => onBorder([a, b])); // their first side is on the border
  if (cutTurns.length !== 1) return [];
  const [[a, b, c, d]] = cutTurns;
  const [cut, other] = sides([a, b, c, d]);
  const factor = [RATIO, 1 / RATIO].map((ratio) => (cut * ratio) / other).find((value) => value > 1.01 && value < MOST_EXTENDED);
  const beyond = ([fromX, fromY], [toX, toY]) => [fromX + (toX - fromX) * factor, fromY + (toY - fromY) * factor];
  return factor ? [[beyond(d, a), beyond(c, b), c, d]] : [];
}
function rimOf(places, {width, height}) {
  const [left, right] = [new Int32Array(height).fill(width), new Int32Array(height).fill(-1)];
  const [top, bottom] = [new Int32Array(width).fill(height), new Int32Array(width).fill(-1)];
  for (const at of places) {
    const x = at % width;
    const y = (at - x) / width;
    if (x < left[y]) left[y] = x;
    if (x > right[y]) right[y] = x;
    if (y < top[x]) top[x] = y;
    if (y > bottom[x]) bottom[x] = y;
  }
  const found = [];
  left.forEach((first, y) => first < width && found.push([first - 0.5, y], [right[y] + 0.5, y]));
  top.forEach((first, x) => first < height && found.push([x, first - 0.5], [x, bottom[x] + 0.5]));
  return found;
}

const cross = ([ax, ay], [bx, by], [cx, cy]) => (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
const area = (points) => Math.abs(points.reduce((sum, [x, y], at) => {
  const [nextX, nextY] = points[(at + 1) % points.length];
  return sum + x * nextY - y * nextX;
}, 0)) / 2;
const length = ([ax, ay], [bx, by]) => Math.hypot(bx - ax, by - ay);
const sides = ([a, b, c, d]) => [(length(a, b) + length(c, d)) / 2, (length(b, c) + length(d, a)) / 2];

const near = (one, other, {width, height}) =>
  turns(other).some((turn) => turn.every((point, at) => length(point, one[at]) < 0.008 * (width + height)));
function convexHull(points) {
  const sorted = points.toSorted((one, other) => one[0] - other[0] || one[1] - other[1]);
  const half = (some) => {
    const found = [];
    for (const point of some) {
      while (found.length > 1 && cross(found.at(-2), found.at(-1), point) <= 0) found.pop();
      found.push(point);
    }
    return found.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}
function largestQuadrilateral(hull) {
  const count = hull.length;
  let [best, most] = [null, 0];
  for (let one = 0; one < count - 2; one++) {
    let [left, right] = [one + 1, one + 3];
    for (let other = one + 2; other < count; other++) {
      const height = (at) => Math.abs(cross(hull[one], hull[other], hull[at % count]));
      while (left + 1 < other && height(left + 1) >= height(left)) left++;
      right = Math.max(right, other + 1);
      while (right + 1 < one + count && height(right + 1) >= height(right)) right++;
      if (height(left) + height(right) > most) {
        most = height(left) + height(right);
        best = [hull[one], hull[left], hull[other], hull[right % count]];
      }
    }
  }
  return best;
}
function fitted(rough, rim) {
  const lines = rough.map((from, at) => sideLine(from, rough[(at + 1) % 4], rim));
  return lines.map((line, at) => crossing(lines[(at + 3) % 4], line));
}
function sideLine(from, to, rim) {
  const long = length(from, to);
  const [dx, dy] = [(to[0] - from[0]) / long, (to[1] - from[1]) / long];
  let some = rim.map(([x, y]) => [(x - from[0]) * dx + (y - from[1]) * dy, (y - from[1]) * dx - (x - from[0]) * dy])
    .filter(([along, beside]) => along > 0.12 * long && along < 0.88 * long && Math.abs(beside) < 0.05 * long);
  let [offset, slope] = [0, 0];
  for (let round = 0; round < 4 && some.length > 3; round++) {
    [offset, slope] = plane(some.map(([along, beside]) => [along, 0, beside]), (point) => point[2]);
    const off = ([along, beside]) => Math.abs(beside - offset - slope * along);
    const limit = 1.5 * median(some.map(off)) + 0.25;
    some = some.filter((point) => off(point) <= limit);
  }
  return {point: [from[0] - dy * offset, from[1] + dx * offset], direction: [dx - dy * slope, dy + dx * slope]};
}
function crossing(one, other) {
  const [[px, py], [dx, dy]] = [one.point, one.direction];
  const [[qx, qy], [ex, ey]] = [other.point, other.direction];
  const along = ((qx - px) * ey - (qy - py) * ex) / (dx * ey - dy * ex);
  return [px + along * dx, py + along * dy];
}
return {findOutlines, turns, warp};
})();
const $explore_fingerprint_js = (() => {
const {findOutlines, turns, warp} = $explore_outline_js;

const VERSION = "cardpress-1";
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
function onWhite({width, height, data}) {
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
function average({width, height, data}, columns, rows, box = {left: 0, top: 0, right: width, bottom: height}) {
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
function reduced(picture, mostWide, mostTall) {
  const [width, height] = [Math.min(picture.width, mostWide), Math.min(picture.height, mostTall)];
  if (width === picture.width && height === picture.height) return picture;
  const cells = average(picture, width, height);
  const data = new Uint8ClampedArray(4 * width * height).fill(255);
  for (let at = 0; at < cells.length; at++) data[at + Math.floor(at / 3)] = cells[at];
  return {width, height, data};
}
function grey(cells) {
  return Uint8Array.from({length: cells.length / 3}, (_, at) =>
    (19595 * cells[3 * at] + 38470 * cells[3 * at + 1] + 7471 * cells[3 * at + 2] + 32768) >> 16);
}
function words(bit) {
  const found = [0, 0];
  for (let at = 0; at < 64; at++) if (bit(at)) found[at >> 5] |= 1 << (31 - (at & 31));
  return found;
}
function perceptualHash(square) {
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
function differenceHash(cells) {
  return words((at) => {
    const place = (at >> 3) * (LOW + 1) + (at & 7);
    return cells[place + 1] > cells[place];
  });
}
function artBox({width, height}) {
  const edge = (length, percent) => Math.floor((length * percent + 50) / 100);
  const {left, top, right, bottom} = ART_PERCENT;
  return {left: edge(width, left), top: edge(height, top), right: edge(width, right), bottom: edge(height, bottom)};
}
function fingerprint(card) {
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
function texts({hashes, colour}) {
  const hex = (values, digits) => Array.from(values, (value) => value.toString(16).padStart(digits, "0")).join("");
  const fields = FIELDS.map((name, at) => [name, hex(hashes.subarray(2 * at, 2 * at + 2), 8)]);
  return {...Object.fromEntries(fields), colour: hex(colour, 2)};
}
function views(photo) {
  const small = reduced(photo, VIEW_WIDTH, VIEW_HEIGHT);
  return [photo, ...MOVES.map((move) => moved(small, ...move))];
}
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
function nearest(value, length) {
  const low = Math.floor(value);
  const part = value - low;
  const near = part > 0.5 || (part === 0.5 && low % 2) ? low + 1 : low;
  return near < 0 ? 0 : near >= length ? length - 1 : near;
}
function centre(colour, to) {
  for (let channel = 0; channel < 3; channel++) {
    let sum = 0;
    for (let at = channel; at < BYTES; at += 3) sum += colour[at];
    for (let at = channel; at < BYTES; at += 3) to[at] = 16 * colour[at] - sum;
  }
}
function readIndex({version, image_url: imageUrl, entries}) {
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
function differentBits(hashes, row, words, one) {
  let sum = 0;
  for (let word = 0; word < WORDS; word++) sum += ones(hashes[WORDS * row + word] ^ words[WORDS * one + word]);
  return sum;
}
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
function search(fingerprints, index, top = 5) {
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
function recognise(photo, index, top = 5) {
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
function waysToHold({width, height}, middle) {
  const small = fitting(middle, OUTLINE_SIDE);
  const outlines = findOutlines(small).map((outline) => scaled(outline, width / small.width, height / small.height));
  const whole = turns([[0, 0], [width, 0], [width, height], [0, height]]);
  return [
    ...whole.map((corners, turn) => ({outline: null, corners, upright: turn === 0})),
    ...outlines.flatMap(turns).map((corners) => ({outline: corners, corners})),
  ];
}
function fitting(picture, side) {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height));
  return reduced(picture, Math.max(2, Math.round(picture.width * scale)), Math.max(2, Math.round(picture.height * scale)));
}

const scaled = (points, across, down) => points.map(([x, y]) => [x * across, y * down]);
return {VERSION, onWhite, average, reduced, grey, perceptualHash, differenceHash, artBox, fingerprint, texts, views, readIndex, search, recognise, findOutlines, turns, warp};
})();
const $explore_scan_worker_js = (() => {
const {Api} = $explore_api_js;
const {onWhite, readIndex, recognise} = $explore_fingerprint_js;

const MOST_PIXELS = 25_000_000; // larger pictures are scaled down
const LEAST_SIDE = 32;
const MOST_MATCHES = 5;
const SAMPLES = 100;
let index = null; // a promise

async function load(key) {
  const api = new Api(key, (seconds) => postMessage({type: "waiting", seconds}));
  const [body] = await api.get("fingerprints");
  return readIndex(body);
}
async function decode(file) {
  const photo = await createImageBitmap(file, {colorSpaceConversion: "none", premultiplyAlpha: "none"}).catch(() => {
    throw new Error("This is no picture that your browser can read.");
  });
  if (Math.min(photo.width, photo.height) < LEAST_SIDE) throw new Error(`The picture is too small: a side has less than ${LEAST_SIDE} pixels.`);
  const scale = Math.min(1, Math.sqrt(MOST_PIXELS / (photo.width * photo.height)));
  const [width, height] = [Math.floor(photo.width * scale), Math.floor(photo.height * scale)];
  const pen = new OffscreenCanvas(width, height).getContext("2d", {colorSpace: "srgb", willReadFrequently: true});
  pen.drawImage(photo, 0, 0, width, height);
  return {photo, pixels: onWhite(pen.getImageData(0, 0, width, height))};
}

async function find(number, file) {
  try {
    const {photo, pixels} = await decode(file);
    const references = await index;
    const start = performance.now();
    const {outline, matches} = recognise(pixels, references, MOST_MATCHES);
    const milliseconds = performance.now() - start;
    const scale = photo.width / pixels.width;
    const corners = outline?.map(([x, y]) => [x * scale, y * scale]) ?? null;
    postMessage({type: "result", number, outline: corners, matches, milliseconds, photo}, [photo]);
  } catch (error) {
    postMessage({type: "wrong", number, message: error.message});
  }
}
function samples({imageUrl, keys}) {
  if (!/^\/(?!\/)/.test(imageUrl)) return [];
  const step = Math.ceil(keys.length / SAMPLES);
  return keys.filter((_, row) => row % step === 0).map((key) => imageUrl.replace("{key}", () => key));
}

addEventListener("message", ({data: {key, number, file}}) => {
  if (file) return find(number, file);
  index = load(key);
  index.then((found) => postMessage({type: "index", entries: found.keys.length, pictures: samples(found)}),
    (error) => postMessage({type: "wrong", number: 0, message: error.message}));
});
return {};
})();
