// The scanner: it takes a picture, lets a worker find the nearest cards, and shows them with their prices.
import {keepKey, readKey} from "../docs/key.js";
import {Api} from "./api.js";
import {h, picture} from "./dom.js";
import {count, euros} from "./words.js";

const WORKER = "/explore/scan-worker.js";
const SCOPE = "fingerprints:read";
const CLOSE = 10; // a second that is less farther than the first may be the right card: the same artwork, as a rule
const FAR = 45; // a card that is farther is probably another one
const NEARNESS = [[12, "very near"], [30, "near"], [FAR, "perhaps"], [Infinity, "probably another card"]];
const MOST_PRODUCTS = 4; // of an entry
const PREVIEW_PIXELS = 640;

const byId = (id) => document.getElementById(id);
const [form, scanner, status, drop, answer] = ["key-form", "scanner", "status", "drop", "answer"].map(byId);
let api = null;
let scopes = [];
let worker = null;
let latest = 0; // the number of the newest photo: results of older ones are not shown

function announce(text, wrong = false) {
  status.textContent = text;
  status.classList.toggle("error", wrong);
}

/** Start the worker. Pages of this site allow one policy for addresses of scripts, and it knows one address. */
function startWorker(key) {
  const policy = startWorker.policy ??= globalThis.trustedTypes?.createPolicy("cardpress-worker", {createScriptURL: () => WORKER});
  worker?.terminate();
  worker = new Worker(policy ? policy.createScriptURL(WORKER) : WORKER, {type: "module"});
  worker.addEventListener("message", ({data}) => received[data.type](data));
  worker.addEventListener("error", (event) => { event.preventDefault(); announce("The scanner could not start: load the page again.", true); });
  worker.postMessage({key});
}

const received = {
  index({entries}) {
    byId("index-size").textContent = `${count(entries)} pictures in the index.`;
  },
  waiting({seconds}) {
    announce(seconds === null ? "One moment …" : `The rate limit is reached: waiting ${seconds} s.`);
  },
  wrong({number, message}) {
    if (number === latest) announce(message, true);
  },
  async result(result) {
    if (result.number !== latest) return result.photo.close();
    showPhoto(result);
    const products = await productsOf(result.matches);
    if (result.number === latest) showMatches(result, products);
  },
};

function recognise(file) {
  if (!file || !worker) return;
  latest++;
  answer.hidden = true;
  announce("One moment …");
  worker.postMessage({number: latest, file});
}

/** Return the products of all matches by id, from one request. Without prices, the matches are still worth showing. */
async function productsOf(matches) {
  const ids = matches.flatMap(({products}) => products.slice(0, MOST_PRODUCTS));
  if (ids.length === 0 || !scopes.includes("cards:read")) return new Map();
  try {
    const [{data}] = await api.get("cards", {ids: [...new Set(ids)].join(",")});
    return new Map(data.map((product) => [product.id_product, product]));
  } catch (error) {
    byId("caption").append(` No prices: ${error.message}`);
    return new Map();
  }
}

/** Draw the photo and the outline of the card. */
function showPhoto({photo, outline}) {
  const canvas = byId("photo");
  const scale = Math.min(1, PREVIEW_PIXELS / Math.max(photo.width, photo.height));
  [canvas.width, canvas.height] = [Math.round(photo.width * scale), Math.round(photo.height * scale)];
  const pen = canvas.getContext("2d");
  pen.drawImage(photo, 0, 0, canvas.width, canvas.height);
  photo.close();
  if (outline) {
    pen.beginPath();
    for (const [x, y] of outline) pen.lineTo(x * scale, y * scale);
    pen.closePath();
    for (const [colour, width] of [["#000", 6], ["#ff0", 3]]) {
      Object.assign(pen, {strokeStyle: colour, lineWidth: width, lineJoin: "round"}).stroke();
    }
  }
  byId("caption").textContent = outline ? "The outline of the card." : "No outline: the whole photo was compared.";
}

function showMatches({matches, milliseconds}, products) {
  const [first] = matches;
  byId("matches").replaceChildren(...matches.map((match, at) => matchItem(match, at > 0 && match.distance - first.distance < CLOSE, products)));
  answer.hidden = false;
  byId("caption").append(` It took ${count(Math.round(milliseconds))} ms.`);
  const seconds = matches.filter(({distance}, at) => at > 0 && distance - first.distance < CLOSE).length;
  if (first.distance > FAR) return announce("No card is near. The index probably does not have this one.");
  const others = seconds === 1 ? "Another one is" : `${seconds} others are`;
  announce(`Nearest: ${nameAndPrice(first, products)}, ${nearness(first.distance)}.${seconds ? ` ${others} nearly as near: compare the pictures.` : ""}`);
}

/** What the status line says of a match. */
function nameAndPrice({key, products: ids}, products) {
  const product = ids.map((id) => products.get(id)).find(Boolean);
  return product ? `${product.name}, ${priceOf(product)}` : key;
}

const nearness = (distance) => NEARNESS.find(([most]) => distance <= most)[1];

function matchItem({key, distance, products: ids, image}, second, products) {
  const known = ids.map((id) => products.get(id)).filter(Boolean);
  const more = ids.length - known.length;
  return h("li", {class: "match"},
    picture(known[0]?.image ?? image, known[0] ?? {name: key}),
    h("div", {},
      known.map((product) => h("div", {class: "card-line"},
        h("p", {class: "name"}, h("a", {href: `/explore#/cards/${product.id_product}`}, product.name)),
        h("p", {class: "where"}, [product.set.name, product.number && `No. ${product.number}`, product.rarity].filter(Boolean).join(", ")),
        h("p", {class: "price"}, priceOf(product)))),
      known.length === 0 && h("p", {class: "name"}, key),
      more > 0 && h("p", {class: "where"}, known.length ? `and ${count(more)} more` : `Products ${ids.slice(0, MOST_PRODUCTS).join(", ")}`),
      h("p", {class: "distance"}, `Distance ${distance.toFixed(1)}, ${nearness(distance)}`),
      second && h("p", {class: "second"}, "A close second")));
}

function priceOf({price_guide: guide, filtered_price: filtered}) {
  const price = guide?.trend ?? filtered?.lowest ?? null;
  return price === null ? "No price yet" : euros(price);
}

/** Enter with a key and start the worker, or show the form and what is wrong with the key. */
async function begin(key) {
  const button = form.querySelector("button");
  button.disabled = true;
  byId("key-error").textContent = "";
  try {
    const client = new Api(key, (seconds) => received.waiting({seconds}));
    const [me] = await client.get("me");
    if (!me.scopes.includes(SCOPE)) throw new Error(`The key “${me.name}” may not read the index: it lacks the scope ${SCOPE}.`);
    [api, scopes] = [client, me.scopes];
    keepKey(key);
    byId("key").value = "";
    byId("key-name").textContent = `Key: ${me.name}.`;
    [form.hidden, scanner.hidden] = [true, false];
    startWorker(key);
    byId("file").focus();
  } catch (error) {
    if (error.status === 401) keepKey("");
    form.hidden = false;
    byId("key-error").textContent = error.message;
  }
  button.disabled = false;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  begin(byId("key").value.trim());
});

byId("forget").addEventListener("click", () => {
  worker?.terminate();
  keepKey("");
  [api, worker, latest] = [null, null, latest + 1];
  announce("");
  [answer.hidden, scanner.hidden, form.hidden] = [true, true, false];
  byId("key").focus();
});

for (const id of ["file", "camera"]) {
  byId(id).addEventListener("change", ({target}) => {
    recognise(target.files[0]);
    target.value = ""; // the same file may be chosen again
  });
}

const imageOf = (transfer) => [...(transfer?.files ?? [])].find(({type}) => type.startsWith("image/"));
addEventListener("paste", (event) => recognise(imageOf(event.clipboardData)));
addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
addEventListener("dragleave", () => drop.classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  recognise(imageOf(event.dataTransfer));
});

if (readKey()) {
  begin(readKey());
} else {
  form.hidden = false;
  byId("key").focus();
}
