// The page that values a list of cards. The list stays in this browser: requests carry ids and names of cards, no more.
import {h} from "../dom.js";
import {saveTable} from "../files.js";
import {keyForm} from "../key-form.js";
import {count} from "../words.js";
import {visitorOf} from "../visitor.js";
import {appraise, loadPrices, productsOf} from "./appraisal.js";
import {Catalogue} from "./catalogue.js";
import {isAssumed, tableOf} from "./export.js";
import {dearestView, listView, movesView} from "./holdings.js";
import {listInput} from "./input.js";
import {forgetList, keepList, readList} from "./kept-list.js";
import {lacksView} from "./lacks.js";
import {linesOf} from "./lines.js";
import {openView} from "./open-lines.js";
import {Progress} from "./progress.js";
import {dropSent, linkOf, sentList} from "./sent-list.js";
import {valued} from "./valuation.js";
import {worthView} from "./worth.js";
import {hasYear} from "./year.js";

const SCOPE = "cards:read";

const byId = (id) => document.getElementById(id);
const [page, status, worth, unsettled, result] = ["value", "status", "worth", "unsettled", "result"].map(byId);
const progress = new Progress();
let catalogue = null;
let lines = readList();

function announce(text, wrong = false) {
  status.textContent = text;
  status.classList.toggle("error", wrong);
}

/** Read a list, keep it, and value it. */
async function take(text, added) {
  try {
    const {format, columns, lines: found, headings} = await linesOf(text);
    byId("columns").textContent = columns;
    lines = added ? [...lines, ...found] : found;
    const said = `Read as ${format}: ${found.length === 1 ? "1 line" : `${count(found.length)} lines`}${headings ? `, and ${count(headings)} headings` : ""}.`;
    await appraiseList(said);
  } catch (error) {
    announce(error.message, true);
  }
}

async function appraiseList(said = "") {
  const [mine, asked] = [lines, catalogue];
  const kept = keepList(lines) ? "" : "The list is too large to be kept in this browser: it is gone when you leave.";
  let outcome = "";
  try {
    await progress.during((signal) => appraise(mine, asked, signal, (...how) => progress.show(...how)));
  } catch (error) {
    outcome = error.name === "AbortError" ? "Cancelled: some cards have no price yet." : error.message;
  }
  if (mine !== lines || asked !== catalogue) return; // another list took its place, or the key was forgotten
  draw();
  keepList(lines);
  announce([said, summary(), kept, outcome].filter(Boolean).join(" "), outcome !== "");
  byId("again").hidden = outcome === "";
}

function summary() {
  const matched = lines.filter(({product}) => product).length;
  const several = lines.filter(({product, choices}) => !product && choices).length;
  const assumed = lines.filter(isAssumed).length;
  return `${count(matched)} matched${assumed ? ` (${count(assumed)} as the cheapest of several)` : ""}, ${count(several)} to choose, ${count(lines.length - matched - several)} not found.${codesText()}`;
}

/** Said once, and not at each line, where the service lacks what the lines speak of. */
function codesText() {
  const coded = lines.filter(({code, product}) => code && !product).length;
  return coded && catalogue.lacksCodes
    ? ` This service knows no codes of sets, so ${coded === 1 ? "1 line has" : `${count(coded)} lines have`} a name and a number alone: its operator adds the codes with “cardpress ingest identifiers”.`
    : "";
}

function draw() {
  unsettled.replaceChildren(...openView(lines, catalogue.products, choose));
  drawResult();
}

function drawResult() {
  const asked = catalogue;
  const rows = valued(lines, asked.products);
  const link = h("input", {readonly: true, hidden: true, "aria-label": "Link to this list"});
  const actions = [h("button", {type: "button", onclick: () => saveTable(tableOf(lines, rows), "my-cards.csv")}, "Download as CSV"),
    h("button", {type: "button", onclick: () => showLink(link)}, "Make a link to this list"), link];
  const year = () => load(() => asked.loadSeries(productsOf(lines)));
  for (const id of ["add", "delete"]) byId(id).hidden = lines.length === 0;
  worth.replaceChildren(rows.length ? worthView(rows, lines, asked, year) : "");
  result.replaceChildren(...(rows.length ? [dearestView(rows), hasYear(rows, asked) ? movesView(rows, asked) : "", lacksView(rows, asked, announce)] : []),
    lines.length ? listView(lines, rows, actions, (ids) => asked.loadCards(ids).catch(({message}) => announce(message, true))) : "");
}

/** Do what loads more of the products, and show it. */
async function load(work) {
  const asked = catalogue;
  try {
    await work();
  } catch (error) {
    announce(error.message, true);
  }
  if (asked === catalogue) drawResult(); // else the key was forgotten
}

/** Give lines the products that were chosen for them, null for none. */
async function choose(pairs) {
  for (const [line, id] of pairs) Object.assign(line, {product: id ?? undefined, why: id ? undefined : line.why});
  keepList(lines);
  announce(summary());
  await load(() => loadPrices(lines, catalogue));
}

/** Show an address that holds the list, ready to be copied. */
async function showLink(field) {
  field.value = await linkOf(lines);
  field.hidden = false;
  field.select();
  announce("Copy this link: a browser that opens it has your list. It holds what the list says, and no server sees it.");
}

/** Offer the list that came with the address. */
async function offerSent() {
  const place = byId("sent");
  const choice = (name, work) => h("button", {type: "button", onclick: () => {
    dropSent();
    place.replaceChildren();
    work();
  }}, name);
  try {
    const text = await sentList();
    if (!text) return;
    const {lines: sent} = await linesOf(text);
    place.replaceChildren(h("p", {}, `This link holds a list of ${sent.length === 1 ? "1 line" : `${count(sent.length)} lines`}. `,
      lines.length > 0 && `You have one of ${count(lines.length)}. `), h("p", {class: "buttons"},
      choice(lines.length ? "Take it in place of mine" : "Take it as my list", () => take(text, false)),
      lines.length > 0 && choice("Add it to mine", () => take(text, true)), choice("Leave it", () => {})));
  } catch (error) {
    dropSent();
    announce(error.message, true);
  }
}

function forget() {
  progress.stop();
  forgetList();
  lines = [];
  byId("list").value = "";
  byId("again").hidden = true;
  byId("columns").textContent = "";
  draw();
  announce("Your list is deleted from this browser.");
}

/** Enter with a key, value the list that was kept, and return the name of the key. */
async function enter(key) {
  const visitor = await visitorOf(key, (seconds) => progress.wait(seconds));
  const [api, me] = [visitor.api, await visitor.me];
  if (!me.scopes.includes(SCOPE)) throw new Error(`The key “${me.name}” may not read cards: it lacks the scope ${SCOPE}.`);
  catalogue = new Catalogue(api);
  page.hidden = false;
  byId("list").focus();
  if (lines.length) appraiseList();
  offerSent();
  return me.name;
}

function leave() {
  progress.stop();
  catalogue = null;
  page.hidden = true;
  for (const place of [worth, unsettled, result]) place.replaceChildren();
  announce("");
}

listInput((text, added) => catalogue && take(text, added), (error) => announce(error.message, true));
byId("delete").addEventListener("click", forget);
byId("again").addEventListener("click", () => appraiseList());
keyForm(enter, leave);
