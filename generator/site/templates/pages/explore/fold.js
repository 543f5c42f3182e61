// Text as the API compares it.

/** A text without combining marks, whatever its case. */
export function fold(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(/\p{Mn}/gu, "").toUpperCase().toLowerCase();
}
