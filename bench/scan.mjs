// Runs the recognition module of the site for bench/scan.py: an index, then photos on standard input, results as lines.
//
//     node bench/scan.mjs FOLDER_WITH_THE_MODULE
//
// Each message is a line of JSON with its size in bytes, and so many bytes: the index as JSON, or RGBA of a photo.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const {fingerprint, onWhite, readIndex, recognise, search, views} = await import(pathToFileURL(`${process.argv[2]}/fingerprint.js`));
const input = readFileSync(0);
let at = 0;

function next() {
  const end = input.indexOf(10, at);
  if (end < 0) return null;
  const header = JSON.parse(input.subarray(at, end).toString());
  at = end + 1 + header.size;
  return {...header, data: input.subarray(end + 1, at)};
}

const timed = (work) => {
  const start = process.cpuUsage().user / 1000;
  return [work(), process.cpuUsage().user / 1000 - start];
};

const [index, read] = timed(() => readIndex(JSON.parse(next().data.toString())));
console.log(JSON.stringify({read}));
for (let photo = next(); photo; photo = next()) {
  const pixels = onWhite({...photo, data: new Uint8ClampedArray(photo.data)});
  const [{outline, matches}, all] = timed(() => recognise(pixels, index));
  const seven = views(pixels).map(fingerprint);
  const [, searching] = timed(() => search(seven, index));
  console.log(JSON.stringify({keys: matches.map(({key}) => key), distance: matches[0].distance, outline, all, searching}));
}
