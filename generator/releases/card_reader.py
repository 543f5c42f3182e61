"""Reads the Cards of a build out of its catalogue."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from edge_auth.contract.catalogue import Catalogue
from edge_auth.contract.layers import Layer

CARDS_PER_BATCH = 3000

IdArray = np.ndarray[Any, np.dtype[Any]]


def card_hashes(layer: Layer) -> pa.Table:
    """Return the ids and hashes of the Cards of a catalogue, as `key` and `json_sha256`.

    Raises:
        StoreError: The layer cannot be read.
    """
    catalogue = Catalogue(layer)
    return pa.table({"key": catalogue.ids, "json_sha256": catalogue.digests})


def read_cards(layer: Layer, ids: IdArray) -> Iterator[pa.Table]:
    """Yield the Cards of products of a catalogue, in the order of `ids`, as tables of `json` of some megabytes each.

    Raises:
        StoreError: The Cards cannot be read.
    """
    catalogue = Catalogue(layer)
    order = np.argsort(catalogue.ids)
    ordinals = order[np.searchsorted(catalogue.ids, ids, sorter=order)]
    for start in range(0, len(ordinals), CARDS_PER_BATCH):
        lines = catalogue.card_lines.lines(ordinals[start : start + CARDS_PER_BATCH])
        yield pa.table({"json": pa.array(lines, pa.string())})
