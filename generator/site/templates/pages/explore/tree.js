// The client of a tree: the answers of the API that its objects hold, by the map of requests. What needs a shim is an ApiError.
import {ApiError} from "./api.js";
import {objectOf} from "./objects.js";

const FOLDER = "api/v1/";
const DAY_MILLISECONDS = 86_400_000;
const MISSING = {me: "A key", cards: "Searching", movers: "The moves of one game", market: "The sets of one game"}; // by path

const needsShim = (path) =>
  new ApiError(0, "needs_a_shim", `${MISSING[path] ?? "This"} needs the service itself: this is a copy of its data as plain files.`);

export class Tree {
  #files = new Map();

  /** @param status the status of its build. */
  constructor(status) {
    this.status = status;
  }

  /** As `Api.get`. */
  async get(path, params = {}) {
    const present = Object.entries(params).filter(([, value]) => value !== "" && value != null);
    const found = await this.#find(decodeURIComponent(path), Object.fromEntries(present.map(([name, value]) => [name, String(value)])));
    return [found.body ?? found, this.status.build.id, found.total ?? null];
  }

  async file(name, signal) {
    const answer = await fetch(`/${FOLDER}bulk/${name}`, {signal});
    if (!answer.ok) throw new ApiError(answer.status, "not_found", "There is no such file.");
    return answer.blob();
  }

  async all(path, params) {
    return (await this.get(path, {...params, offset: 0, limit: Infinity}))[0].data;
  }

  async #find(path, {ids, days, offset = "0", limit, ...asked}) {
    if (path === "status") return this.status;
    if (path === "cards" && ids) return this.#cards(ids.split(","));
    if (path === "market/history" && asked.game) return this.#cut(await this.#file(await this.#ofGame(asked.game)), days);
    if (asked.sort === "match") delete asked.sort; // without words it is the default
    const {order, ...forwards} = asked;
    const usual = objectOf(`/${FOLDER}${path}`, asked);
    const found = usual ?? objectOf(`/${FOLDER}${path}`, forwards);
    if (!found) throw needsShim(path);
    if (!found.perPage) return this.#cut(await this.#file(found.key), days);
    return this.#rows(path, usual ? asked : forwards, {first: Number(offset), limit: Number(limit ?? found.perPage), reversed: !usual});
  }

  /** A window of a list, out of its pages; those without the key of the sort stay last when the order is reversed. */
  async #rows(path, asked, {first, limit, reversed}) {
    const pageOf = (offset) => objectOf(`/${FOLDER}${path}`, {...asked, offset: String(offset)});
    const {key, perPage} = pageOf(0);
    const lists = await this.#file(`${FOLDER}lists.json`);
    const {rows, with_key: keyed} = lists[key.slice(FOLDER.length).replace("/0.json", "")] ?? {rows: 0};
    if (reversed && keyed === undefined) throw needsShim(path);
    const end = Math.min(first + limit, rows);
    const places = Array.from({length: Math.max(0, end - first)}, (_, at) => first + at)
      .map((place) => (reversed && place < keyed ? keyed - 1 - place : place));
    const numbers = [...new Set(places.map((place) => Math.floor(place / perPage)))];
    const pages = new Map(await Promise.all(numbers.map(async (n) => [n, await this.#file(pageOf(n * perPage).key)])));
    const data = places.map((place) => pages.get(Math.floor(place / perPage)).data[place % perPage]);
    return listed(data, {offset: first, total: rows});
  }

  async #cards(ids) {
    const found = await Promise.all(ids.map((id) => this.get(`cards/${id}`).then(([card]) => card, () => null)));
    return {body: {data: found.filter(Boolean), not_found: ids.filter((_, at) => !found[at]).map(Number)}};
  }

  /** The history of a game. It has its place in the list of games. */
  async #ofGame(game) {
    const place = (await this.all("games")).findIndex(({name}) => name === game);
    return `${FOLDER}market/games/${place}.json`;
  }

  /** A card or a history of the market, with the last days of its prices. */
  #cut(body, days) {
    if (!days) return {body};
    const since = new Date(Date.parse(this.status.build.as_of) - (days - 1) * DAY_MILLISECONDS).toISOString().slice(0, 10);
    const recent = (rows) => rows.filter(({day}) => day >= since);
    if (body.points) return {body: {...body, points: recent(body.points)}};
    const parts = Object.entries(body.history).map(([name, rows]) => [name, recent(rows)]);
    return {body: {...body, history: Object.fromEntries(parts)}};
  }

  /** A file, read once. */
  #file(key) {
    if (!this.#files.has(key)) this.#files.set(key, this.#read(key));
    return this.#files.get(key);
  }

  async #read(key) {
    const answer = await fetch(`/${key}`, {credentials: "omit", referrerPolicy: "no-referrer"})
      .catch(() => { throw new ApiError(0, "unreachable", "The files cannot be reached. Look at your connection, and try again."); });
    if (!answer.ok) throw new ApiError(404, "not_found", "there is no such document in this copy");
    return answer.json();
  }
}

function listed(data, {offset, total}) {
  const end = offset + data.length;
  return {body: {data, pagination: {offset, returned: data.length, has_more: end < total, next_offset: end < total ? end : null}}, total};
}
