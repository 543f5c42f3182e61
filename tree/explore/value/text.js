// The text of a file.
import {LIMITS, ListError} from "./list-error.js";

const MARKS = [[[0xff, 0xfe], "utf-16le"], [[0xfe, 0xff], "utf-16be"]]; // bytes at the beginning of a file
const WORKBOOK = "PK\x03\x04";

/** The text of a File. Throws ListError if it is too large, or no text. */
export async function textOf(file) {
  const {megabytes} = LIMITS;
  if (file.size > megabytes * 1e6) throw new ListError(`The file is too large: a list may have ${megabytes} MB.`);
  const text = decode(new Uint8Array(await file.arrayBuffer()));
  if (text.startsWith(WORKBOOK)) throw new ListError("This is a workbook of a spreadsheet: save it as CSV there, and choose that file.");
  if (text.includes("\0")) throw new ListError("This file is no text: choose a CSV file or a plain list.");
  return text;
}

/** The text of bytes: UTF-8, or UTF-16 if a mark says so. Bytes that are no UTF-8 are Windows-1252. */
export function decode(bytes) {
  const marked = MARKS.find(([mark]) => mark.every((byte, at) => bytes[at] === byte));
  if (marked) return new TextDecoder(marked[1]).decode(bytes);
  try {
    return new TextDecoder("utf-8", {fatal: true}).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
