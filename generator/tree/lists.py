"""The lists of a tree: each list of the API in its default order, as pages of the API's default limit.

A page is the body that the API answers: `cards/single/low/3.json` is that of `/cards?kind=single&sort=low&offset=150`.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import NamedTuple

from edge_auth.builds import bodies, layout, market
from edge_auth.builds.builds import Build
from edge_auth.builds.catalogue import KINDS
from edge_auth.builds.layers import Layer

# The default limits of the API. A test compares each page with the API's answer.
CARDS_PER_PAGE, MOVERS_PER_PAGE, ROWS_PER_PAGE = 50, 50, 100
_STORED_LISTS = {  # by folder: the layer that stores the rows
    "sets": layout.SETS,
    "games": layout.GAMES,
    "watchlist/pages": layout.WATCHLIST,
}

Lines = Sequence[bytes | memoryview]


class TreeList(NamedTuple):
    """A list. With a sort, the rows that have its key come first, and the other order is their reverse."""

    per_page: int
    rows: int
    lines: Callable[[int, int], Lines]  # the rows from one place to another as JSON
    source: Callable[[int, int], bytes]  # a hash of what these are made from, without reading them
    with_key: int | None = None  # of a list with a sort, the rows with its key

    @property
    def pages(self) -> int:
        """How many pages it has. A list without rows has an empty one."""
        return max(1, -(-self.rows // self.per_page))

    def page(self, number: int) -> bytes:
        """Return a page by its number, which counts from 0."""
        first, end = self._span(number)
        return bodies.list_body(self.lines(first, end), first, self.per_page, self.rows).plain

    def tag(self, number: int) -> str:
        """Return a hash of what a page is made from."""
        first, end = self._span(number)
        text = b"%b %d %d %d" % (self.source(first, end), self.per_page, end, end < self.rows)
        return hashlib.sha256(text).hexdigest()

    def summary(self) -> dict[str, int]:
        """Return what `lists.json` says of the list."""
        found = {"rows": self.rows, "rows_per_page": self.per_page, "pages": self.pages}
        return found if self.with_key is None else found | {"with_key": self.with_key}

    def _span(self, number: int) -> tuple[int, int]:
        first = number * self.per_page
        return first, min(first + self.per_page, self.rows)


def lists_of(build: Build) -> dict[str, TreeList]:
    """Return the lists of a build by folder."""
    lists = card_lists(build)
    for folder, layer in _STORED_LISTS.items():
        lists[folder] = _stored_list(build.layers[layer], folder)
    return dict(sorted((lists | dict(_movers(build)) | dict(_market(build))).items()))


def card_lists(build: Build) -> dict[str, TreeList]:
    """Return the lists of /cards by folder: the Cards of each kind in the default order of each sort."""
    catalogue = build.catalogue
    return {f"cards/{kind}/{sort}": _card_list(build, kind, sort) for kind, sort in product(KINDS, catalogue.order)}


def _card_list(build: Build, kind: str, sort: str) -> TreeList:
    catalogue, counts = build.catalogue, build.catalogue.counts
    order = catalogue.order[sort]
    if kind != "all":
        order = order[catalogue.single[order] == (kind == "single")]
    return TreeList(
        CARDS_PER_PAGE,
        counts["products"][kind],
        lambda first, end: catalogue.card_lines.lines(order[first:end]),
        lambda first, end: catalogue.card_lines.digest(order[first:end]),
        counts["keyed"][kind][sort],
    )


def _stored_list(layer: Layer, folder: str) -> TreeList:
    rows: list[bytes] = []
    size = layout.ROWS_PER_PAGE[layer.name]
    while entry := layer.index.find(f"{folder}/{len(rows) // size}.json"):
        page = bodies.split_page(layer.read(entry))
        rows += page
        if len(page) < size:
            break
    return _list_of_layer(layer, ROWS_PER_PAGE, len(rows), lambda: rows)


def _list_of_layer(
    layer: Layer, per_page: int, rows: int, lines: Callable[[], Lines], with_key: int | None = None
) -> TreeList:
    """Return a list whose rows change only when the layer does."""
    return TreeList(
        per_page, rows, lambda first, end: lines()[first:end], lambda first, end: layer.folder.encode(), with_key
    )


def _movers(build: Build) -> Iterator[tuple[str, TreeList]]:
    """Yield the lists of price moves in all games, of all moves and of the confirmed ones."""
    layer, movers = build.layers[layout.MOVERS], build.movers
    read = lru_cache(1)(movers.list)  # the pages of a list are asked for one after the other
    choices = (market.WINDOWS, market.MEASURES, market.DIRECTIONS, KINDS, market.FLOORS)
    for confirmed, *options in product((False, True), *choices):
        key = market.list_key(options)
        rows, lines = movers.count(key, confirmed), partial(read, key, confirmed)
        yield f"movers/{'confirmed/' if confirmed else ''}{key}", _list_of_layer(layer, MOVERS_PER_PAGE, rows, lines)


def _market(build: Build) -> Iterator[tuple[str, TreeList]]:
    """Yield the lists of the market's sets and games."""
    layer = build.layers[layout.MARKET]
    for (by, sort), (with_key, _) in build.market.lists.items():
        rows = build.market.rows(by, sort)
        folder = f"{layout.MARKET}/{by}/{sort}"
        yield folder, _list_of_layer(layer, ROWS_PER_PAGE, len(rows), partial(list, rows), len(with_key))
