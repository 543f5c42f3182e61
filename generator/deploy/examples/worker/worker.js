// Answers the API of a store from the objects of its tree, with keys. What is no object goes to the shim, if there is one.
import { DurableObject } from "cloudflare:workers";
import told from "./tables.json";
const FRESH = 2000, MAX_RECORDS = 10000, TWICE = "\n"; // milliseconds for which a small object is used; what no pattern allows
let small = new Map(), records = new Map(), changes; // small objects by name; the records of keys since a change of theirs
const trim = (header) => header.slice(0, 4096).replace(/^ +| +$/g, "");
const whole = (pattern) => new RegExp(`^(?:${pattern})$`, "s");
const [ENDPOINTS, RULES] = [told.endpoints, told.rules].map((rows) => rows.map((row) => ({ ...row, path: whole(row.path) })));
const KEY = whole(told.key), GZIP = /(^|,)\s*((x-)?gzip|(?<!gzip.*)\*(?!.*gzip))\s*(;\s*q=(1|0\.\d*[1-9])[^,]*)?(,|$)/i;
// Counts for one key or address, exactly. It is written down each second, and deleted when its minute is over.
export class Counter extends DurableObject {
  async hit(limit) {
    const { storage } = this.ctx, minute = Math.floor(Date.now() / 60000);
    this.use ??= (await storage.get("use")) ?? { window: 0, used: 0 };
    if (this.use.window < minute || this.use.window > minute + 2) this.use = { window: minute, used: 0 };
    const refused = this.use.used >= limit, used = refused ? limit : ++this.use.used;
    this.saving ??= scheduler.wait(1000).then(() => this.save(storage));
    return { limit, used, window: this.use.window, refused };
  }
  save(storage) { this.saving = null, storage.setAlarm((this.use.window + 3) * 60000); return storage.put("use", this.use); }
  alarm() { return this.ctx.storage.deleteAll(); }
}
// Returns an object of the store, or null. `packed`: its body is gzip, and the runtime does not know.
async function read(env, name) {
  const object = await env.BUCKET?.get(env.STORE_AT + name);
  if (env.BUCKET) return object && { body: object.body, packed: object.httpMetadata?.contentEncoding === "gzip", tag: object.etag };
  const found = await env.STORE.fetch(env.STORE_AT + name), tag = found.headers.get("ETag")?.replace(/^W\/|"/g, "");
  if (found.status === 404) return null;
  if (!found.ok) throw new Error(`the store answers ${found.status} to ${name}`);
  if (tag) return { body: found.body, tag };
  const body = await found.arrayBuffer(); // a file
  return { body, tag: (await sha256(body)).slice(0, 32) };
}
const plain = ({ body, packed }) => (packed ? body.pipeThrough(new DecompressionStream("gzip")) : body);
const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
// Returns a small object, parsed, or null. The value is the same one as long as the text is.
async function look(env, name) {
  const at = Date.now(), known = small.get(name);
  if (known && at - known.at < FRESH) return known.value;
  const found = await read(env, name), text = found && (await new Response(plain(found)).text());
  const value = text === known?.text ? known.value : JSON.parse(text);
  small.set(name, { at, text, value });
  return value;
}
// Returns the record of a key, or null. All are read anew when keys.json says that one changed.
async function recordOf(env, key) {
  const latest = await look(env, "private/keys.json"), hash = await sha256(new TextEncoder().encode(key));
  if (latest !== changes || records.size > MAX_RECORDS) [records, changes] = [new Map(), latest];
  const mine = records; // not those of a change that comes meanwhile
  if (!mine.has(hash)) {
    const found = await read(env, `private/keys/${hash.slice(0, 2)}/${hash}.json`);
    mine.set(hash, found && { id: `key_${hash.slice(0, 12)}`, ...(await new Response(plain(found)).json()) });
  }
  return mine.get(hash);
}
// Returns the record of the key that a request holds, or null for a guest.
async function authenticate(env, headers, mayBeGuest) {
  const [authorization, given] = ["Authorization", "X-API-Key"].map((name) => trim(headers.get(name) ?? ""));
  const [scheme, ...rest] = authorization.split(" "), isBearer = headers.has("Authorization") && /^(bearer)?$/i.test(scheme);
  const hasNone = !isBearer && !headers.has("X-API-Key"), key = isBearer ? trim(rest.join(" ")) : given;
  if (hasNone && mayBeGuest) return null;
  const record = KEY.test(key) ? await recordOf(env, key) : null, now = new Date().toISOString().replace(/\.\d+/, "");
  const refused = hasNone ? ["unauthorized", /(^| )cpm_live_[^ ]*$/.test(authorization) ? told.noBearer : told.noKey]
    : !record ? ["invalid_api_key", "the API key is wrong or malformed"]
    : record.revoked ? ["revoked_api_key", "the API key has been switched off"]
    : record.expires_at && now > record.expires_at ? ["expired_api_key", `the API key expired at ${record.expires_at}`] : null;
  if (refused) throw refusal(401, ...refused, { "WWW-Authenticate": "Bearer" });
  return record;
}
// Returns what is counted together: an IPv4 address, or the first half of an IPv6 one.
function network(address) {
  if (!address.includes(":") || address.includes(".")) return address.replace(/^.*:/, "");
  const [first, last = []] = address.split("::").map((part) => (part ? part.split(":") : []));
  return [...first, ...Array(8 - first.length - last.length).fill(0), ...last].slice(0, 4).map((word) => parseInt(word, 16)).join(":");
}
// Counts a request, and checks its scope. Returns the use of the limit, and notes it in the headers to send.
async function admit(env, request, endpoint, sent) {
  const mayBeGuest = env.GUEST_LIMIT > 0 && endpoint.guests && request.method === "GET";
  const record = endpoint.public ? null : await authenticate(env, request.headers, mayBeGuest), guest = !record && !endpoint.public;
  const [kind, limit] = guest ? ["guest", Number(env.GUEST_LIMIT)] : endpoint.public ? ["address", told.publicLimit]
    : endpoint.bulk ? ["bulk", 10 * record.rate_limit] : ["key", record.rate_limit];
  const name = `${kind} ${record?.id ?? network(request.headers.get(env.ADDRESS_HEADER) ?? "")}`;
  const use = await env.COUNTERS.get(env.COUNTERS.idFromName(name)).hit(limit), reset = 60 * (use.window + 1);
  Object.assign(sent, { "X-RateLimit-Limit": limit, "X-RateLimit-Remaining": limit - use.used, "X-RateLimit-Reset": reset });
  const wait = Math.max(1, reset - Math.floor(Date.now() / 1000)), over = `over the limit of ${limit} requests per minute`;
  if (use.refused) throw refusal(429, "rate_limited", `${over}: wait ${wait} seconds`, { ...sent, "Retry-After": wait });
  const lacks = endpoint.scope && !(record?.scopes ?? told.guestScopes).includes(endpoint.scope), why = record ? told.lacks : told.needs;
  if (lacks) throw refusal(403, "insufficient_scope", `${why} ${endpoint.scope}`, sent);
  return use;
}
// Returns the name of the object below tree/ that answers a request, or null, by the rules in tables.json.
function objectOf(path, search) {
  const given = {};
  for (const [, name, text] of search.matchAll(/([^&=]+|(?==))=?([^&]*)/g)) given[name] = name in given ? TWICE : text;
  for (const { path: pattern, query, key } of RULES) {
    const found = pattern.exec(path), values = { ...found?.groups };
    if (!found || (query && !Object.keys(given).every((name) => Object.hasOwn(query, name)))) continue;
    for (const name in query) values[name] = valueOf(query[name], given[name] ?? query[name].default ?? TWICE);
    if (!Object.values(values).includes(null))
      return key.replace(/{(\w+)}/g, (_, name) => (name === "slug" ? segment(values.slug) : values[name]));
  }
  return null;
}
const valueOf = ({ pattern, per_page: rows }, text) => (!whole(pattern).test(text) || (rows && text % rows) ? null : rows ? text / rows : text);
const escaped = (one) => `%${one.charCodeAt().toString(16).toUpperCase()}`;
const segment = (slug) => encodeURIComponent(slug).replace(/[!'()*~]|^\./g, escaped).replaceAll("%", "~");
// Returns the answer of the shim, which does not count what was counted here. Without a shim: there is nothing else.
async function elsewhere(env, request, target, endpoint, use, sent) {
  const headers = new Headers(request.headers), { method, body } = request, allowed = endpoint?.methods ?? ["GET"];
  if (env.SHIM_AT) {
    headers.set("X-Forwarded-For", headers.get(env.ADDRESS_HEADER) ?? "");
    headers.set("X-Edge-Usage", use ? `${use.limit} ${use.used} ${use.window} ${env.WORKER_SECRET}` : "");
    return (env.SHIM ?? globalThis).fetch(env.SHIM_AT + target, { method, headers, body, redirect: "manual" });
  }
  if (method === "OPTIONS" && !endpoint?.page && headers.has("Origin") && headers.has("Access-Control-Request-Method"))
    return new Response(null, { status: 204, headers: told.preflight });
  const why = allowed.length > 1 ? `this path answers ${allowed.join(" and ")}` : "every operation is GET";
  if (!allowed.includes(method)) throw refusal(405, "method_not_allowed", `'${method}' is not allowed: ${why}`, { Allow: allowed.join(", ") });
  throw refusal(404, "not_found", endpoint ? "there is no such document here" : told.noPath, sent);
}
const refusal = (status, code, message, headers) => new Response(JSON.stringify({ error: { code, message } }) + "\n", {
  status, headers: { ...told.common, "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
});
const decoded = (path) => { try { return path.replace(/(%[0-9a-f]{2})+/gi, decodeURIComponent); } catch { return ""; } }; // no path
async function answer(env, request, sent) {
  const [, target, sentPath, search] = /^\w+:\/\/[^/]*(([^?]*)\??(.*))$/.exec(request.url);
  const path = decoded(sentPath), endpoint = ENDPOINTS.find((one) => one.path.test(path));
  if (/(^|\/)\.\.?(\/|$)/.test(path)) throw refusal(404, "not_found", told.noPath); // on its way to the shim it would be another
  if (!endpoint?.methods.includes(request.method)) return elsewhere(env, request, target, endpoint);
  const use = endpoint.page ? null : await admit(env, request, endpoint, sent);
  const [pointer, status, lists] = await Promise.all(["current", "tree/api/v1/status", "tree/api/v1/lists"].map((name) => look(env, `${name}.json`)));
  const build = status?.build.id, pin = !endpoint.page && request.headers.get("X-Build");
  const may = build && (!pin || pin === build) && (!env.SHIM_AT || pointer.build === build); // else its tree is being written
  const file = may && !(path === "/" && /json/.test(request.headers.get("Accept"))) ? objectOf(path, search) : null, found = file && (await read(env, `tree/${file}`));
  if (!found) return elsewhere(env, request, target, endpoint, use, build ? { ...sent, "X-Build": build } : sent);
  const gzip = GZIP.test(request.headers.get("Accept-Encoding") ?? ""), tags = [found.tag, `${found.tag}-gzip`].map((tag) => `"${tag}"`);
  const rows = lists?.[file.replace(/^api\/v1\/|\/\d+\.json$/g, "")]?.rows, condition = request.headers.get("If-None-Match")?.slice(0, 8000) ?? "";
  const headers = { ...(endpoint.silent || sent), ...endpoint.headers, "X-Build": build, ETag: tags[Number(gzip)], "Content-Type": told.types[file.match(/\.\w+$/)],
    ...(rows !== undefined && { "X-Total-Count": rows }) };
  if (condition.trim() === "*" || tags.some((tag) => condition.includes(tag))) return new Response(null, { status: 304, headers });
  if (gzip) headers["Content-Encoding"] = "gzip"; // the runtime packs a body that is not
  return new Response(gzip ? found.body : plain(found), { headers, encodeBody: gzip && found.packed ? "manual" : "automatic" });
}
export default {
  fetch: (request, env, context, sent = {}) => answer(env, request, sent).catch((error) => {
    if (error instanceof Response) return error;
    console.error(error.message);
    return refusal(500, "internal_error", "something failed here; try again later", { ...sent, "Retry-After": 5 });
  }),
};
