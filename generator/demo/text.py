"""Names as they stand in the demo marketplace's urls: `Dr. Völk's Old Rope` is `Dr-Volks-Old-Rope`."""

import pyarrow as pa
import pyarrow.compute as pc


def url_words(names: pa.Array) -> pa.Array:
    """Accents, brackets and punctuation vanish, spaces become hyphens; what leaves nothing is `Unnamed`."""
    text = pc.fill_null(names, "")
    text = pc.replace_substring_regex(text, r" *\[.*\]$", "")
    text = pc.utf8_normalize(text, "NFKD")
    text = pc.replace_substring_regex(text, "[^0-9A-Za-z -]", "")
    text = pc.replace_substring_regex(pc.ascii_trim_whitespace(text), " +", "-")
    return pc.if_else(pc.equal(text, ""), "Unnamed", text)


def joined(*parts: pa.Array | str) -> pa.Array:
    """The parts of each row, one after the other; null where a part is null."""
    return pc.binary_join_element_wise(*parts, "")
