// Rows and cells of CSV: cells between separators, in quotes if they hold separators, quotes or ends of lines.
import {LIMITS, ListError} from "./list-error.js";

/** Yield the cells of each row. Throws ListError at a row beyond the limits, and at a quote that is not closed. */
export function* rows(text, separator) {
  const reader = new Reader(text, separator);
  while (reader.at < text.length) yield reader.row();
}

class Reader {
  at = 0;
  #row = 0;

  constructor(text, separator) {
    Object.assign(this, {text, ends: new Set([separator, "\n", "\r"]), separator});
  }

  row() {
    this.#row++;
    const cells = [this.#cell()];
    while (this.text[this.at] === this.separator) {
      if (cells.length === LIMITS.columns) this.#refuse(`has more than ${LIMITS.columns} columns`);
      this.at++;
      cells.push(this.#cell());
    }
    if (this.text[this.at] === "\r") this.at++;
    if (this.text[this.at] === "\n") this.at++;
    return cells;
  }

  #cell() {
    return this.text[this.at] === '"' ? this.#quoted() : this.#plain();
  }

  #plain() {
    const start = this.at;
    while (this.at < this.text.length && !this.ends.has(this.text[this.at])) {
      if (++this.at - start > LIMITS.characters) this.#refuseLength();
    }
    return this.text.slice(start, this.at);
  }

  /** A cell in quotes. Two quotes stand for one. */
  #quoted() {
    let value = "";
    for (let start = this.at + 1; ; value += '"') {
      const end = this.text.indexOf('"', start);
      if (end < 0) this.#refuse("has a quote that is not closed");
      value += this.text.slice(start, end);
      if (value.length > LIMITS.characters) this.#refuseLength();
      this.at = end + 1;
      if (this.text[this.at] !== '"') return value + this.#plain();
      start = end + 2;
    }
  }

  #refuseLength() {
    this.#refuse(`has a cell of more than ${LIMITS.characters} characters`);
  }

  #refuse(what) {
    throw new ListError(`Row ${this.#row} ${what}. Nothing was read.`);
  }
}
