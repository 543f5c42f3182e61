"""Which products the names of a list mean: /cards/named.

A name means the products that have it as their whole name, else those that have it as their base name, else as their
short name (`edge_auth.text`). A build stores what the answer says of each name. It is made here only where filters
leave out some of the products of a name.
"""

from collections.abc import Sequence

import numpy as np

from edge_auth.builds.bodies import dumps
from edge_auth.builds.catalogue import Catalogue
from edge_auth.builds.sorts import MARKET_SORT
from edge_auth.builds.vocabulary import Names
from edge_auth.text import name_keys

MATCHES = ("name", "base", "short")  # the values of `matched`
_MOST_IDS = 100  # of a name


class Narrowing:
    """Which products filters leave, and what they leave of each row of the index of names.

    Args:
        mask: The products that are left, by ordinal: bool.
    """

    def __init__(self, index: Names, mask: np.ndarray):
        ways = (index.whole, index.base, index.short)
        kept = sum(lists.kept(mask) for lists in ways)
        found = sum(lists.kept(np.ones(len(mask), bool)) for lists in ways)
        self.mask = mask
        # A row may have no products, of which filters leave none.
        self.left = np.asarray((kept > 0) * (1 + (kept == found)), np.uint8).data  # 0 nothing, 1 a part, 2 all

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return self.mask.nbytes + self.left.nbytes


def find_named(catalogue: Catalogue, names: Sequence[str], narrowing: Narrowing | None) -> list[bytes]:
    """Return what the answer says of each name after it, as JSON without the opening brace; b"" if no product has it.

    Args:
        narrowing: Which products count. None means all.
    """
    index = catalogue.names
    rows = index.rows(name_keys(names))
    if narrowing is None:
        return [b"" if row is None else index.entry(row) for row in rows]
    left = narrowing.left
    return [
        b""
        if row is None or not left[row]
        else index.entry(row)
        if left[row] == 2
        else _entry(catalogue, row, narrowing.mask)
        for row in rows
    ]


def _entry(catalogue: Catalogue, row: int, mask: np.ndarray) -> bytes:
    """Return what the answer says of a row of the index of which a mask leaves some products."""
    index = catalogue.names
    ways = (lists.between(range(row, row + 1)) for lists in (index.whole, index.base, index.short))
    left = (ordinals.compress(mask.take(ordinals)) for ordinals in ways)
    matched, ordinals = next((way, found) for way, found in zip(MATCHES, left, strict=True) if len(found))
    ids = catalogue.ids.take(ordinals[:_MOST_IDS]).tolist()
    cents = catalogue.cents_of(int(ordinals[0]), MARKET_SORT)
    cheapest = b"null" if cents is None else b'{"id_product":%d,"price":%b}' % (ids[0], dumps(cents / 100))
    listed = ",".join(map(str, ids)).encode()  # a list by `dumps` takes as long as all of the rest
    said = (matched.encode(), len(ordinals), listed, cheapest)
    return b'"matched":"%b","products":%d,"ids":[%b],"cheapest":%b}' % said
