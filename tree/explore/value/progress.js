// The bar that shows how far the page is, with a button that cancels.
import {count} from "../words.js";

const WORDS = {lines: "Looking up lines", cards: "Loading prices"};
const byId = (id) => document.getElementById(id);

export class Progress {
  #asking = null;

  constructor() {
    byId("cancel").addEventListener("click", () => this.#asking?.abort());
  }

  /** Do work that can be cancelled, with the bar shown: `work(signal)`. What was under way before is cancelled. */
  async during(work) {
    this.#asking?.abort();
    const asking = this.#asking = new AbortController();
    byId("progress").hidden = false;
    this.show("cards", 0, 0);
    try {
      return await work(asking.signal);
    } finally {
      if (this.#asking === asking) byId("progress").hidden = true;
    }
  }

  stop() {
    this.#asking?.abort();
  }

  show(what, done, all) {
    const bar = byId("bar-done");
    if (all) Object.assign(bar, {value: done, max: all});
    else bar.removeAttribute("value");
    byId("progress-text").textContent = all ? `${WORDS[what]}: ${count(done)} of ${count(all)}` : "One moment …";
  }

  /** Say that the limit of the key is reached; null when it is over. */
  wait(seconds) {
    byId("wait-text").textContent = seconds === null ? "" : `The limit of your key is reached: it goes on in ${seconds} s.`;
  }
}
