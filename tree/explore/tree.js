// The client of an exported tree: the answers of the API that its plain files hold. What needs a shim is an ApiError.
import {ApiError} from "./api.js";

const ROOT = "/api/v1/";
const MOVERS = ["window", "by", "direction", "kind", "min_price"];
const USUAL = {window: "7d", by: "percent", direction: "up", kind: "all", min_price: "1", sort: "trend", order: ""};
const ASCENDING = ["name", "number"]; // sorts whose default order this is
const DAY_MILLISECONDS = 86_400_000;

const needsShim = (what) => new ApiError(0, "needs_a_shim", `${what} needs the service itself: this is a copy of its data as plain files.`);

/** A slug as file names hold it. */
const fileOf = (slug) => [...new TextEncoder().encode(slug)].map((byte, at) => {
  const letter = String.fromCharCode(byte);
  return /[A-Za-z0-9_-]/.test(letter) || (letter === "." && at) ? letter : `~${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}).join("");

export class Tree {
  #files = new Map();

  /** @param status the status of its build. */
  constructor(status) {
    this.status = status;
  }

  /** As `Api.get`. */
  async get(path, params = {}) {
    const [kind, ...rest] = path.split("/").map(decodeURIComponent);
    const answers = {
      me: () => needsShim("A key"), status: () => this.status, names: () => this.#file("names.json"), bulk: () => this.#file("bulk.json"),
      cards: () => this.#cards(rest, params), sets: () => this.#page("sets", params), games: () => this.#page("games", params),
      watchlist: () => this.#watchlist(rest, params), movers: () => this.#movers(params), market: () => this.#market(rest, params),
    };
    const found = await (answers[kind] ?? (() => needsShim("This")))();
    if (found instanceof ApiError) throw found;
    return [found.body ?? found, this.status.build.id, found.total ?? null];
  }

  async file(name, signal) {
    const answer = await fetch(`${ROOT}bulk/${name}`, {signal});
    if (!answer.ok) throw new ApiError(answer.status, "not_found", "There is no such file.");
    return answer.blob();
  }

  async all(path, params) {
    return (await this.get(path, {...params, offset: 0, limit: Infinity}))[0].data;
  }

  /** A file, read once. */
  #file(name) {
    if (!this.#files.has(name)) this.#files.set(name, this.#read(name));
    return this.#files.get(name);
  }

  async #read(name) {
    const answer = await fetch(ROOT + name, {credentials: "omit", referrerPolicy: "no-referrer"})
      .catch(() => { throw new ApiError(0, "unreachable", "The files cannot be reached. Look at your connection, and try again."); });
    if (!answer.ok) throw new ApiError(404, "not_found", "there is no such document in this copy");
    return answer.json();
  }

  /** A window of a list of pages; those without the key of the sort stay last when the order is reversed. */
  async #page(folder, {offset = 0, limit = 100}, reversed = false) {
    const {rows, rows_per_page: size, with_key: keyed = 0} = (await this.#file("lists.json"))[folder] ?? {rows: 0, rows_per_page: 1};
    const end = Math.min(Number(offset) + Number(limit), rows);
    const places = Array.from({length: Math.max(0, end - offset)}, (_, at) => Number(offset) + at)
      .map((place) => (reversed && place < keyed ? keyed - 1 - place : place));
    const numbers = [...new Set(places.map((place) => Math.floor(place / size)))];
    const pages = new Map(await Promise.all(numbers.map(async (n) => [n, await this.#file(`${folder}/${n}.json`)])));
    const data = places.map((place) => pages.get(Math.floor(place / size)).data[place % size]);
    return listed(data, {offset: Number(offset), total: rows});
  }

  async #cards([id, part], {ids, days, limit, offset, sort = USUAL.sort, order = USUAL.order, kind = USUAL.kind, ...filters}) {
    if (part) return needsShim("This");
    if (id) return cut(await this.#file(`cards/${id}.json`), days, this.status.build.as_of);
    if (ids) {
      const asked = String(ids).split(",");
      const found = await Promise.all(asked.map((one) => this.#file(`cards/${one}.json`).catch(() => null)));
      return {body: {data: found.filter(Boolean), not_found: asked.filter((_, at) => !found[at]).map(Number)}};
    }
    if (Object.values(filters).some((value) => value !== "" && value != null)) return needsShim("Searching");
    const ranking = sort === "match" ? USUAL.sort : sort;
    const usual = ASCENDING.includes(ranking) ? "asc" : "desc";
    return this.#page(`cards/${kind}/${ranking}`, {offset, limit}, order !== "" && order !== usual);
  }

  async #watchlist([slug, part], {view = "daily", range = "all", ...page}) {
    if (!slug) return this.#page("watchlist/pages", page);
    const file = `watchlist/${fileOf(slug)}`;
    return this.#file(part === "history" ? `${file}/history/${view}-${range}.json` : part ? `${file}/${part}.json` : `${file}.json`);
  }

  async #movers({game, confirmed, offset, limit = 50, ...params}) {
    if (game) return needsShim("The moves of one game");
    const folder = confirmed === "true" ? "movers/confirmed" : "movers";
    return this.#page(`${folder}/${MOVERS.map((name) => params[name] || USUAL[name]).join("/")}`, {offset, limit});
  }

  async #market([history], {by = "set", sort = "value", order = "", game, set, days, ...page}) {
    if (!history && game) return needsShim("The sets of one game");
    if (!history) return this.#page(`market/${by}/${sort}`, page, order !== "" && order !== (sort === "name" ? "asc" : "desc"));
    const places = set ? null : (await this.all("games")).findIndex(({name}) => name === game);
    const found = await this.#file(set ? `market/sets/${set}.json` : `market/games/${places}.json`);
    const since = firstDay(days, this.status.build.as_of);
    return {body: {...found, points: found.points.filter((point) => point.day >= since)}};
  }
}

function listed(data, {offset, total}) {
  const end = offset + data.length;
  return {body: {data, pagination: {offset, returned: data.length, has_more: end < total, next_offset: end < total ? end : null}}, total};
}

const firstDay = (days, asOf) => (days ? new Date(Date.parse(asOf) - (days - 1) * DAY_MILLISECONDS).toISOString().slice(0, 10) : "");

/** A card with the last days of its history. */
function cut(card, days, asOf) {
  const since = firstDay(days, asOf);
  const recent = Object.entries(card.history).map(([name, rows]) => [name, rows.filter(({day}) => day >= since)]);
  return {body: {...card, history: Object.fromEntries(recent)}};
}
