"""Reads the Cards of a build out of its catalogue."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from edge_auth.builds.catalogue import Catalogue

CARDS_PER_BATCH = 3000

IdArray = np.ndarray[Any, np.dtype[Any]]


def card_hashes(catalogue: Catalogue) -> pa.Table:
    """Return the ids and hashes of the Cards of a catalogue, as `key` and `json_sha256`."""
    return pa.table({"key": catalogue.ids, "json_sha256": catalogue.digests})


def product_hashes(catalogue: Catalogue) -> pa.Table | None:
    """Return the ids and hashes of the Cards before their prices. None before format 3 of builds."""
    digests = catalogue.product_digests
    return None if digests is None else pa.table({"key": catalogue.ids, "json_sha256": digests})


def read_cards(catalogue: Catalogue, ids: IdArray) -> Iterator[pa.Table]:
    """Yield the Cards of products of a catalogue, in the order of `ids`, as tables of `json` of some megabytes each.

    Raises:
        StoreError: The Cards cannot be read.
    """
    order = catalogue.by_id
    ordinals = order[np.searchsorted(catalogue.ids, ids, sorter=order)]
    for start in range(0, len(ordinals), CARDS_PER_BATCH):
        lines = catalogue.card_lines.lines(ordinals[start : start + CARDS_PER_BATCH])
        yield pa.table({"json": pa.array(lines, pa.string())})
