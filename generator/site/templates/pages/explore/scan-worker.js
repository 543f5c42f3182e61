// The scanner's worker: it reads the index once, then finds the cards nearest to each picture. Pictures stay here.
import {Api} from "./api.js";
import {onWhite, readIndex, recognise} from "./fingerprint.js";

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

/** Decode a picture: its pixels as they are stored, upright, and a bitmap to show. */
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

/** Return addresses of some pictures of the index, if they are on this host: others may not be read by a page. */
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
