"""The table `fingerprints` and its recipe: the fingerprints of the pictures that a build of the lake draws.

There is one entry for each picture of a single, in a large lake for some of them. Products with the same name, set,
rarity and game share a picture.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from edge_auth.builds.object_keys import DRAWING_PREFIX, DRAWING_SUFFIX
from generator.demo.products import DemoCatalogue
from generator.drawings.design import Texts, drawing_keys, numbers
from generator.drawings.pixels import fingerprints
from generator.fingerprints.recipe import VERSION

_MAX_ENTRIES = 150_000  # computing them takes a minute for every 60,000
RECIPE = {"version": VERSION, "image_url": f"/{DRAWING_PREFIX}{{key}}{DRAWING_SUFFIX}"}


def make_fingerprints(catalogue: DemoCatalogue) -> pa.Table:
    """Make the table: one row per picture, sorted by its key, at most _MAX_ENTRIES rows."""
    single = ~catalogue.is_sealed[: catalogue.known] & pc.is_valid(catalogue.table["image"]).to_numpy()
    rows = pa.array(np.flatnonzero(single))
    texts = Texts(*(column.take(rows) for column in catalogue.texts))
    keys, first, places = _distinct(drawing_keys(texts))
    ids = catalogue.ids[rows.to_numpy()]
    keys, first, grouped = keys[:_MAX_ENTRIES], first[:_MAX_ENTRIES], _grouped(ids, places, len(keys))[:_MAX_ENTRIES]
    hashes = fingerprints({name: column[first] for name, column in numbers(texts).items()})
    return pa.table(
        {
            "key": keys,
            "art_p": _hex(hashes.art_p[:, None].astype(">u8").view(np.uint8)),
            "art_d": _hex(hashes.art_d[:, None].astype(">u8").view(np.uint8)),
            "card_p": _hex(hashes.card_p[:, None].astype(">u8").view(np.uint8)),
            "colour": _hex(hashes.colour),
            "products": grouped,
        }
    )


def _distinct(keys: pa.Array) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct keys in order, the first row of each, and for each row the place of its key."""
    texts = np.array(keys.to_numpy(zero_copy_only=False), dtype="S16")
    distinct, first, places = np.unique(texts, return_index=True, return_inverse=True)
    return pa.array(distinct.astype("U16"), pa.string()), first, places


def _hex(values: NDArray[np.uint8]) -> pa.Array:
    """Return the bytes of each row as lower-case hex."""
    count, width = values.shape
    digits = np.ascontiguousarray(values).tobytes().hex().encode()
    offsets = np.arange(count + 1, dtype=np.int32) * (2 * width)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets.tobytes()), pa.py_buffer(digits))


def _grouped(ids: NDArray[np.int64], places: NDArray[np.int64], count: int) -> pa.Array:
    """Return the ids at each place as lists, in ascending order."""
    order = np.lexsort((ids, places))
    offsets = np.searchsorted(places[order], np.arange(count + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(ids[order]))
