"""Which products the names of a list mean: /cards/named.

A name means the products that have it as their whole name, else those that have it as their base name, else as their
short name (`edge_auth.text`). A build stores what the answer says of each name. It is made here only where filters
leave out some of the products of a name.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from edge_auth.builds.bodies import dumps
from edge_auth.builds.catalogue import Catalogue
from edge_auth.builds.sorts import MARKET_SORT
from edge_auth.text import name_keys

MATCHES = ("name", "base", "short")  # the values of `matched`
_MOST_IDS = 100  # of a name


def find_named(catalogue: Catalogue, names: Sequence[str], narrowed: np.ndarray | None) -> list[bytes]:
    """Return what the answer says of each name after it, as JSON without the opening brace; b"" if no product has it.

    Args:
        narrowed: Which products count, by ordinal: bool. None means all.
    """
    index = catalogue.names
    rows = index.rows(name_keys(names))
    if narrowed is None:
        return [b"" if row is None else index.entry(row) for row in rows]
    known = list(dict.fromkeys(row for row in rows if row is not None))
    entries = dict(zip(known, _narrowed(catalogue, known, narrowed), strict=True))
    return [b"" if row is None else entries[row] for row in rows]


def _narrowed(catalogue: Catalogue, rows: Sequence[int], mask: np.ndarray) -> Iterator[bytes]:
    """Yield what the answer says of some rows of the index. Most of them keep all of their products, or none."""
    index = catalogue.names
    found, kept = np.zeros((2, len(rows)), np.int64)
    for lists in (index.whole, index.base, index.short):
        place, ordinals = lists.values_of(np.array(rows, np.int64))
        found += np.bincount(place, minlength=len(rows))
        kept += np.bincount(place.compress(mask.take(ordinals)), minlength=len(rows))
    for row, all_kept, any_kept in zip(rows, (kept == found).tolist(), (kept > 0).tolist(), strict=True):
        yield index.entry(row) if all_kept else _entry(catalogue, row, mask) if any_kept else b""


def _entry(catalogue: Catalogue, row: int, mask: np.ndarray) -> bytes:
    """Return what the answer says of a row of the index of which a mask leaves some products."""
    index = catalogue.names
    ways = (lists.between(range(row, row + 1)) for lists in (index.whole, index.base, index.short))
    left = (ordinals.compress(mask.take(ordinals)) for ordinals in ways)
    matched, ordinals = next((way, found) for way, found in zip(MATCHES, left, strict=True) if len(found))
    ids = catalogue.ids.take(ordinals[:_MOST_IDS]).tolist()
    cents = catalogue.cents_of(int(ordinals[0]), MARKET_SORT)
    cheapest = None if cents is None else {"id_product": ids[0], "price": cents / 100}
    return dumps({"matched": matched, "products": len(ordinals), "ids": ids, "cheapest": cheapest})[1:]
