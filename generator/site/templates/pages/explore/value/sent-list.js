// A list as a link. All of it stands after the #, which browsers send to no server.
import {plainCell} from "../files.js";
import {LIMITS, ListError} from "./list-error.js";

const MARK = "#list=";
const COLUMNS = ["Quantity", "idProduct", "Name", "Set name", "Set code", "Collector number", "Foil", "Condition", "Language", "Grade"];

/** The address that opens this page with a list. */
export async function linkOf(lines) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(tableOf(lines)));
  const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  const text = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return location.origin + location.pathname + MARK + text;
}

/** The list of the address as the text of a table, "" for none. Throws ListError for what is none. */
export async function sentList() {
  if (!location.hash.startsWith(MARK)) return "";
  try {
    const letters = atob(location.hash.slice(MARK.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed));
  } catch (error) {
    throw error instanceof ListError ? error : new ListError("The list of this link cannot be read: it is cut off, or of another kind.");
  }
}

/** Leave the list out of the address. */
export const dropSent = () => history.replaceState(history.state, "", location.pathname);

/** The lines that can be read again, as a table of the columns that this page knows. Products need no name. */
function tableOf(lines) {
  const rows = lines.filter(({wrong}) => !wrong).map((line) => {
    const named = line.product ? ["", "", "", ""] : [line.name, line.set, line.code, line.number];
    return [line.quantity, line.product ?? line.id, ...named, line.foil ? "foil" : "", line.condition, line.language, line.grade];
  });
  return [COLUMNS, ...rows].map((cells) => cells.map(plainCell).join(",")).join("\n");
}

/** What a stream makes of bytes. A few bytes can stand for very many, so it ends where no list is so long. */
async function through(stream, bytes) {
  const parts = [];
  let size = 0;
  for await (const part of new Blob([bytes]).stream().pipeThrough(stream)) {
    size += part.length;
    if (size > LIMITS.megabytes * 1e6) throw new ListError("The list of this link is too long.");
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
