"""The pages of /cards as documents: `cards/{kind}/{sort}/{n}.json`, 100 Cards each, n from 0.

No layer stores them. A page is a range of a ranking with the lines of its Cards, and the layer `catalogue` holds the
rankings and the lines. `cat` and `export` show the pages, `diff` compares them, and `verify` checks them.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from edge_auth.builds import object_keys
from edge_auth.builds.catalogue import Catalogue
from edge_auth.builds.pages import CARDS_PER_PAGE, join_page
from edge_auth.builds.sorts import KINDS


class ListPages:
    """The list pages of a build."""

    def __init__(self, catalogue: Catalogue):
        self._catalogue = catalogue
        self._orders: dict[tuple[str, str], np.ndarray] = {}

    def __len__(self) -> int:
        return sum(self._count(kind) for kind in KINDS) * len(self._catalogue.order)

    def all_keys(self) -> Iterator[str]:
        """Yield the keys of all pages, ranking by ranking. A ranking without Cards has one empty page."""
        for kind, sort in itertools.product(KINDS, self._catalogue.order):
            yield from (object_keys.list_page(kind, sort, number) for number in range(self._count(kind)))

    def get(self, key: str) -> bytes | None:
        """Return the JSON of a page, or None if there is no such page.

        Raises:
            StoreError: The lines cannot be read.
        """
        ordinals = self._ordinals(key)
        if ordinals is None:
            return None
        return join_page(bytes(line) for line in self._catalogue.card_lines.lines(ordinals))

    def digest(self, key: str) -> bytes | None:
        """Return a hash of a page's content without reading its lines, or None if there is no such page."""
        ordinals = self._ordinals(key)
        return None if ordinals is None else self._catalogue.card_lines.digest(ordinals)

    def _count(self, kind: str) -> int:
        return max(1, -(-self._catalogue.counts.products[kind] // CARDS_PER_PAGE))

    def _ordinals(self, key: str) -> np.ndarray | None:
        page = object_keys.parse_list_page(key)
        if page is None or page.sort not in self._catalogue.order or page.number >= self._count(page.kind):
            return None
        first = page.number * CARDS_PER_PAGE
        return self._order(page.kind, page.sort)[first : first + CARDS_PER_PAGE]

    def _order(self, kind: str, sort: str) -> np.ndarray:
        """Return the ordinals of the products of a kind in the sort's default order."""
        if (kind, sort) not in self._orders:
            order = self._catalogue.order[sort]
            if kind != "all":
                order = order[self._catalogue.single[order] == (kind == "single")]
            self._orders = {(kind, sort): order}  # readers go through the pages ranking by ranking
        return self._orders[kind, sort]
