// The scanner: it takes a picture, lets a worker find the nearest cards, and shows them with their prices.
import {Api} from "./api.js";
import {h, picture} from "./dom.js";
import {keyForm} from "./key-form.js";
import {samplePhoto} from "./sample.js";
import {count, euros, setName} from "./words.js";

const WORKER = "/explore/scan-worker.js";
const SCOPE = "fingerprints:read";
const CLOSE = 10; // a second that is less farther than the first may be the right card: the same artwork, as a rule
const SURE = 20; // nearer, and without a close second, it is hardly ever another card
const FAR = 45; // a card that is farther is probably another one
const SURENESS = [[30, "Likely"], [FAR, "Maybe"], [Infinity, "Probably another card"]];
const MOST_PRODUCTS = 4; // of an entry
const PREVIEW_PIXELS = 640;

const byId = (id) => document.getElementById(id);
const [scanner, status, drop, answer, sample] = ["scanner", "status", "drop", "answer", "sample"].map(byId);
let api = null;
let scopes = [];
let worker = null;
let latest = 0; // the number of the newest photo: results of older ones are not shown

function announce(text, wrong = false) {
  status.textContent = text;
  status.className = wrong ? "status error" : "status";
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
  index({entries, pictures}) {
    byId("index-size").textContent = `It knows ${count(entries)} pictures of cards.`;
    sample.hidden = pictures.length === 0;
    sample.pictures = pictures;
  },
  waiting({seconds}) {
    announce(seconds === null ? "One moment …" : `The rate limit is reached: waiting ${seconds} s.`);
  },
  wrong({number, message}) {
    if (number === 0) drop.replaceChildren(status, h("p", {}, h("a", {href: "/explore"}, "Look the card up by its name"))); // no index, no pictures
    if (number === 0 || number === latest) announce(message, true);
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
  const close = matches.map(({distance}) => distance - first.distance < CLOSE);
  const seconds = close.filter(Boolean).length - 1;
  byId("matches").replaceChildren(...matches.map((match, at) => matchItem(match, seconds === 0, at > 0 && close[at], products)));
  answer.hidden = false;
  byId("caption").append(` It took ${count(Math.round(milliseconds))} ms.`);
  if (first.distance > FAR) return announce("No card looks like this one. The index probably does not have it.");
  const others = seconds === 1 ? "Another card looks" : `${seconds} other cards look`;
  announce(`${sureness(first.distance, seconds === 0)}: ${nameAndPrice(first, products)}.${seconds ? ` ${others} nearly the same: compare the pictures.` : ""}`);
  status.classList.add("found");
}

/** What the status line says of a match. */
function nameAndPrice({key, products: ids}, products) {
  const product = ids.map((id) => products.get(id)).find(Boolean);
  return product ? `${product.name}, ${priceOf(product)}` : key;
}

/** How sure a match is, in words. `alone`: no other card is nearly as near. */
const sureness = (distance, alone) => (alone && distance <= SURE ? "Very sure" : SURENESS.find(([most]) => distance <= most)[1]);

function matchItem({key, distance, products: ids, image}, alone, second, products) {
  const known = ids.map((id) => products.get(id)).filter(Boolean);
  const more = ids.length - known.length;
  return h("li", {class: "match"},
    picture(known[0]?.image ?? image, known[0] ?? {name: key}),
    h("div", {},
      known.map((product) => h("div", {class: "card-line"},
        h("p", {class: "name"}, h("a", {href: `/explore#/cards/${product.id_product}`}, product.name)),
        h("p", {class: "where"}, [setName(product.set), product.number && `No. ${product.number}`, product.rarity].filter(Boolean).join(", ")),
        h("p", {class: "price"}, priceOf(product)))),
      known.length === 0 && h("p", {class: "name"}, key),
      more > 0 && h("p", {class: "where"}, known.length ? `and ${count(more)} more` : `Products ${ids.slice(0, MOST_PRODUCTS).join(", ")}`),
      h("p", {class: "sureness"}, h("b", {}, sureness(distance, alone)), " ",
        h("span", {class: "where", title: "How much the pictures differ. 0: not at all. More than 45: it is probably another card."},
          `difference ${distance.toFixed(1)}`)),
      second && h("p", {class: "second"}, "It looks nearly the same: compare the pictures")));
}

function priceOf({price_guide: guide, filtered_price: filtered}) {
  const price = guide?.trend ?? filtered?.lowest ?? null;
  return price === null ? "No price yet" : euros(price);
}

/** Enter with a key, start the worker, and return the name of the key. */
async function enter(key) {
  if (!key) throw Object.assign(new Error(""), {status: 401}); // guests may not read the index
  const client = new Api(key, (seconds) => received.waiting({seconds}));
  const [me] = await client.get("me");
  if (!me.scopes.includes(SCOPE)) throw new Error(`The key “${me.name}” may not read the index: it lacks the scope ${SCOPE}.`);
  [api, scopes] = [client, me.scopes];
  scanner.hidden = drop.hidden = false;
  startWorker(key);
  byId("file").focus();
  return me.name;
}

function leave() {
  worker?.terminate();
  [api, worker, latest] = [null, null, latest + 1];
  announce("");
  [answer.hidden, scanner.hidden, sample.hidden] = [true, true, true];
}

for (const id of ["file", "camera"]) {
  byId(id).addEventListener("change", ({target}) => {
    recognise(target.files[0]);
    target.value = ""; // the same file may be chosen again
  });
}

sample.addEventListener("click", async () => {
  sample.disabled = true;
  try {
    recognise(await samplePhoto(sample.pictures));
  } catch (error) {
    announce(error.message, true);
  }
  sample.disabled = false;
});

const imageOf = (transfer) => [...(transfer?.files ?? [])].find(({type}) => type.startsWith("image/"));
addEventListener("paste", (event) => recognise(imageOf(event.clipboardData)));
addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
addEventListener("dragleave", () => drop.classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  recognise(imageOf(event.dataTransfer));
});

keyForm(enter, leave);
