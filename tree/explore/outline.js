// Finds a card's outline on a photo, and warps it to an upright picture. `fingerprint.js` exports these functions too.
//
// A point is [x, y] in pixels of the photo, a quadrilateral four points in the order of a clock. The photo should be
// small (about 400 pixels): more pixels cost time and make the outline no better.

const RATIO = 63 / 88; // of a card's sides
const FLATTEST = 0.42; // the least ratio of the sides of a card in perspective
const LEAST_AREA = 0.04; // of the photo
const LEAST_FILLED = 0.8; // part of the convex hull that a quadrilateral covers if the shape is one
const FIRMNESS = [3, 6, 12]; // how many times farther from the ground than its median a pixel of the card is
const LEAST_DIFFERENCE = 10; // in colour, of 255
const EDGE = 22; // the least change of colour between neighbours that bounds a card
const MOST_EXTENDED = 1.3; // how much longer a card may be than its part on the photo
const TURNS = [0, 1, 2, 3];

/**
 * Return quadrilaterals that may be the card, without repeats, [] if nothing looks like a card. Several masks of the
 * card are made, since each fails on other photos: the search by fingerprint shows which quadrilateral is right.
 */
export function findOutlines(photo) {
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

/** Return the four ways to hold a quadrilateral: its points, beginning at each corner. */
export const turns = (outline) => TURNS.map((turn) => [...outline.slice(turn), ...outline.slice(0, turn)]);

/**
 * Warp a quadrilateral of a photo to an upright picture. Its first point becomes the top left corner. Pixels are
 * interpolated; beyond the photo they have the colour of its edge.
 */
export function warp({width, height, data}, outline, wide, tall) {
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

/** Return the function that writes the point of a quadrilateral for one of the unit square (Heckbert's mapping). */
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

/**
 * Return how far each pixel's colour is from the ground's. The ground is what the border of the photo shows. Its colour
 * may change evenly across the photo, as light does: each channel is a plane, fitted without the pixels that are far.
 */
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

/** Return the points of the two outermost rows and columns. */
function borderOf(width, height) {
  const border = [];
  for (let x = 0; x < width; x++) border.push([x, 0], [x, 1], [x, height - 2], [x, height - 1]);
  for (let y = 2; y < height - 2; y++) border.push([0, y], [1, y], [width - 2, y], [width - 1, y]);
  return border;
}

/** Return the function from a point to the distance of its colour from three planes. */
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

/** Return [a, b, c] of the plane a + b·x + c·y through values at points, by least squares. */
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

/** Return what edges separate from the border of the photo. It finds a card that has the ground's colour inside. */
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

/** Return the pixels without edges that can be reached from the border. */
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

/** Return the places of the largest connected part of a mask, after single pixels and thin lines were removed. */
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

/** Write the places that are connected with a place into `part`, clear them, and return their number. */
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

/** Whether at least six of a pixel and its eight neighbours are in a mask. */
function mostAround(mask, at, width) {
  let sum = 0;
  for (let line = at - width; line <= at + width; line += width) sum += mask[line - 1] + mask[line] + mask[line + 1];
  return sum > 5;
}

/** Return the quadrilateral around the pixels at some places, or null if they do not look like a card. */
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

/** Return the quadrilateral with its part beyond the photo, if the photo's border cuts one side: [] or one. */
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

/** Return the borders of the first and last pixel of each row and of each column. */
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

/** Return the mean lengths of both pairs of opposite sides. */
const sides = ([a, b, c, d]) => [(length(a, b) + length(c, d)) / 2, (length(b, c) + length(d, a)) / 2];

const near = (one, other, {width, height}) =>
  turns(other).some((turn) => turn.every((point, at) => length(point, one[at]) < 0.008 * (width + height)));

/** Return the convex hull in the order of a clock (Andrew's monotone chain). */
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

/** Return the largest quadrilateral with corners on a convex hull: for each diagonal, the farthest points on both sides. */
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

/** Return a quadrilateral whose sides are lines fitted to the rim near them. Rounded corners do not pull them in. */
function fitted(rough, rim) {
  const lines = rough.map((from, at) => sideLine(from, rough[(at + 1) % 4], rim));
  return lines.map((line, at) => crossing(lines[(at + 3) % 4], line));
}

/** Return the line along one side: a point, and its direction. */
function sideLine(from, to, rim) {
  const long = length(from, to);
  const [dx, dy] = [(to[0] - from[0]) / long, (to[1] - from[1]) / long];
  // along and beside the side, for each point of the rim near its middle
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

/** Return the point where two lines cross. */
function crossing(one, other) {
  const [[px, py], [dx, dy]] = [one.point, one.direction];
  const [[qx, qy], [ex, ey]] = [other.point, other.direction];
  const along = ((qx - px) * ey - (qy - py) * ex) / (dx * ey - dy * ex);
  return [px + along * dx, py + along * dy];
}
