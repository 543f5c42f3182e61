"""The table `fingerprints` and its recipe: made-up hashes for about 40 % of the singles with an image.

Every 50th entry has the artwork of the entry before, some hashes begin with zeros, and about one picture in twelve
belongs to several products.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generator.demo.columns import join
from generator.demo.draw import Integers, Words, chance, draw_rows
from generator.demo.products import DemoCatalogue

RECIPE = {"version": "demo-1", "image_url": "https://cards.example/images/{key}.webp"}
_COLOUR_WORDS = 6


def make_fingerprints(seed: int, catalogue: DemoCatalogue) -> pa.Table:
    """Make the table: one row per picture, sorted by its first product."""
    known = catalogue.known
    words = draw_rows(seed, "fingerprints", 4 + _COLOUR_WORDS, known)
    single = ~catalogue.is_sealed[:known] & pc.is_valid(catalogue.table["image"]).to_numpy()
    rows = np.flatnonzero(single & chance(words[0], 0, 0.4))
    starts = np.flatnonzero(~chance(words[0][rows], 16, 0.08) | (np.arange(len(rows)) == 0))
    ids, owners = catalogue.ids[rows], rows[starts]
    art_p, art_d, card_p = words[1][owners], words[2][owners], words[3][owners]
    twins = np.flatnonzero(np.arange(len(owners)) % 50 == 49)
    art_p[twins], art_d[twins] = art_p[twins - 1], art_d[twins - 1]
    card_p[5::97] &= np.uint64(0x00FFFFFFFFFFFFFF)
    return pa.table(
        {
            "key": _keys(catalogue, owners),
            "art_p": _hex(art_p[:, None]),
            "art_d": _hex(art_d[:, None]),
            "card_p": _hex(card_p[:, None]),
            "colour": _hex(words[4:, owners].T),
            "products": _lists(starts, ids),
        }
    )


def _keys(catalogue: DemoCatalogue, rows: Integers) -> pa.Array:
    """Return the end of the image's URL, with a hyphen for the slash: `abc-10042`."""
    path = pc.split_pattern(catalogue.table["image"].combine_chunks().take(pa.array(rows)), "/")
    code, file = pc.list_element(path, 4), pc.list_element(path, 5)
    return pc.utf8_lower(join(code, "-", pc.replace_substring(file, ".jpg", "")))


def _hex(words: Words) -> pa.Array:
    """Return each row's words as lower-case hex, 16 digits a word, with leading zeros."""
    count, width = words.shape
    digits = np.ascontiguousarray(words).astype(">u8").tobytes().hex().encode()
    offsets = np.arange(count + 1, dtype=np.int32) * (16 * width)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets.tobytes()), pa.py_buffer(digits))


def _lists(starts: Integers, ids: Integers) -> pa.Array:
    offsets = pa.array(np.append(starts, len(ids)).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(ids))
