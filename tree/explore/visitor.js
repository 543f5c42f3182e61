// Who visits: someone with a key, a guest of a service that has guests, or a reader of an exported tree.
import {isFirst} from "../docs/key.js";
import {Api} from "./api.js";
import {h} from "./dom.js";
import {Tree} from "./tree.js";
import {count} from "./words.js";

/** What stands for the record of a key where there is none. */
export const GUEST = {name: "", scopes: ["cards:read", "watchlist:read"]};

/**
 * The client of a visitor, a promise of the record of the key, and a sentence that is shown once, or null.
 *
 * Throws an error with the status 401 and no message if only a key opens this service.
 */
export async function visitorOf(key, onWait) {
  if (key) {
    const api = new Api(key, onWait);
    return {api, me: api.get("me").then(([record]) => record), note: null};
  }
  const health = await json("/healthz");
  if (health?.guests) return {api: new Api("", onWait), me: Promise.resolve(GUEST), note: guestNote(Number(health.guests))};
  const status = health ? null : await json("/api/v1/status.json");
  if (status) return {api: new Tree(status), me: Promise.resolve(GUEST), note: treeNote()};
  throw Object.assign(new Error(""), {status: 401});
}

async function json(path) {
  try {
    const answer = await fetch(path, {credentials: "omit", referrerPolicy: "no-referrer"});
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

/** What a key adds, once in a tab. */
function guestNote(limit) {
  if (!isFirst("guest")) return null;
  return [`You look around as a guest, with ${count(limit)} requests a minute. A key of your own adds downloads, the scanner and a limit of its own. `,
    h("a", {href: "/#key-title"}, "How to get a key")];
}

const treeNote = () => ["This is a copy of the data as plain files. Lists, cards, sets and moves are here; searching, filters, My cards and the " +
  "scanner need the service itself."];
