"""Identifiers format: the ids that other catalogues have for the products, as a file of the layer `identifiers`.

    rows   an Arrow file, a row per product, scheme and value, sorted by scheme, key, value and id: key (the first 4
           bytes of the SHA-256 of the value), value, id_product, and by_id (the rows in the order of their ids)

The schema metadata holds `schemes`: for each scheme, in the order of the rows, the number of its rows and its entry of
/identifiers as JSON. So a scheme is a range of rows, and 100 values are found by one search for their keys in mapped
memory. A search for the values themselves takes five times as long.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from generator.storage.layers import Layer, only_chunk
from generator.storage.stores.codec import sha256

FILE = "rows"  # the stem of the file
_KEY_BYTES = 4


class Identifiers:
    """The ids of other catalogues, mapped into memory; `entries` are those of /identifiers as JSON."""

    def __init__(self, layer: Layer):
        table = layer.table(FILE)
        schemes: dict[str, tuple[int, str]] = json.loads((table.schema.metadata or {})[b"schemes"])
        self.entries = [entry.encode() for _, entry in schemes.values()]
        bounds = pairwise(accumulate((rows for rows, _ in schemes.values()), initial=0))
        self._rows_of = {scheme: range(*rows) for scheme, rows in zip(schemes, bounds, strict=True)}
        self._keys: np.ndarray = only_chunk(table, "key").to_numpy()
        _, ends, text = only_chunk(table, "value").buffers()
        # A single number of a memoryview is read in a fifth of numpy's time.
        self._ends = memoryview(ends or bytes(4)).cast("i")
        self._text = memoryview(text or b"").cast("B")
        self._ids, self._by_id = (memoryview(only_chunk(table, name).to_numpy()) for name in ("id_product", "by_id"))

    def __contains__(self, scheme: str) -> bool:
        return scheme in self._rows_of

    def products(self, scheme: str, values: Sequence[str]) -> list[list[int]]:
        """Return for each value of a known scheme the products that have it, by ascending id."""
        rows, encoded = self._rows_of[scheme], [value.encode() for value in values]
        keys = np.frombuffer(b"".join([sha256(value)[:_KEY_BYTES] for value in encoded]), ">u4").astype(np.uint32)
        found = self._keys[rows.start : rows.stop]
        firsts, ends = ((np.searchsorted(found, keys, side) + rows.start).tolist() for side in ("left", "right"))
        # Attributes of this object in the loop would take as long as the rest.
        ids, text, ends_of = self._ids, self._text, self._ends
        return [
            [ids[row] for row in range(first, end) if text[ends_of[row] : ends_of[row + 1]] == value]
            for value, first, end in zip(encoded, firsts, ends, strict=True)
        ]

    def of_product(self, id_: int) -> dict[str, list[str]]:
        """Return the values of a product by scheme, both by code point. The id may be any integer."""
        first, last = (find(self._by_id, id_, key=self._ids.__getitem__) for find in (bisect_left, bisect_right))
        rows, text, ends = self._by_id[first:last], self._text, self._ends
        found = {
            scheme: sorted(str(text[ends[row] : ends[row + 1]], "utf-8") for row in rows if row in rows_of)
            for scheme, rows_of in self._rows_of.items()
        }
        return {scheme: values for scheme, values in found.items() if values}
