// The explorer's client of the API. The key is never part of a URL.

/** An error of the API; `code` is for programs, `message` for people. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, {status, code});
  }
}

const pause = (seconds, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, seconds * 1000);
  signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, {once: true});
});

/** The answer that `early.js` asked for with these headers, once. */
function early(url, headers) {
  const found = globalThis.early;
  if (!found || headers["X-Build"] || headers.Authorization !== `Bearer ${found.key}`) return undefined;
  const answer = found.answers.get(url);
  found.answers.delete(url);
  return answer;
}

/** An answer. Throws ApiError with the status 0 if there is none. */
async function ask(url, {headers, signal}) {
  try {
    return await (early(url, headers) ?? fetch(url, {headers, signal, credentials: "omit", referrerPolicy: "no-referrer"}));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The service cannot be reached. Look at your connection, and try again.");
  }
}

export class Api {
  #key;

  /** @param key the API key, "" for a guest. @param onWait called with the seconds before a wait for the rate limit, and with null after it. */
  constructor(key, onWait) {
    this.#key = key;
    this.onWait = onWait;
  }

  /** The JSON of a path below /api/v1/; its build as the second value, the rows of the whole list as the third. Waits at the rate limit; throws ApiError. */
  async get(path, params = {}, {signal, build} = {}) {
    const present = Object.entries(params).filter(([, value]) => value !== "" && value != null);
    const query = new URLSearchParams(present);
    const url = `/api/v1/${path}${query.size ? `?${query}` : ""}`;
    const headers = {...this.#own(), ...(build && {"X-Build": build})};
    for (;;) {
      const answer = await ask(url, {headers, signal});
      if (answer.ok) return [await answer.json(), answer.headers.get("X-Build"), answer.headers.get("X-Total-Count")];
      if (answer.status !== 429) throw await this.#error(answer);
      await this.#wait(Number(answer.headers.get("Retry-After") ?? 5), signal);
    }
  }

  /** A bulk file, as a Blob. Throws ApiError. */
  async file(name, signal) {
    const headers = this.#own();
    const answer = await ask(`/api/v1/bulk/${name}`, {headers, signal});
    if (!answer.ok) throw await this.#error(answer);
    return answer.blob();
  }

  /** The statements by which DuckDB has all bulk tables, with the key in them. */
  attachment() {
    const folder = `${location.origin}/api/v1/bulk/`;
    return ["INSTALL ducklake; INSTALL httpfs; LOAD httpfs;", `CREATE SECRET (TYPE http, BEARER_TOKEN '${this.#key}');`,
      `ATTACH 'ducklake:${folder}catalog.ducklake' AS cards (READ_ONLY, DATA_PATH '${folder}');`].join("\n");
  }

  /** Every item of a list, all pages from one build. */
  async all(path, params) {
    const items = [];
    let build;
    for (let offset = 0; offset !== null;) {
      const [page, from] = await this.get(path, {...params, offset}, {build});
      items.push(...page.data);
      [build, offset] = [from, page.pagination.next_offset];
    }
    return items;
  }

  /** A guest has no key. */
  #own() {
    return this.#key ? {Authorization: `Bearer ${this.#key}`} : {};
  }

  async #error(answer) {
    const {error} = await answer.json().catch(() => ({error: {code: "no_json", message: answer.statusText}}));
    return new ApiError(answer.status, error.code, error.message);
  }

  async #wait(seconds, signal) {
    this.onWait(seconds);
    try { await pause(seconds, signal); } finally { this.onWait(null); }
  }
}
