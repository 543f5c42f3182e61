"""Which products a search of /cards finds: filters and price ranges as masks over the columns of the search index.

Products are numbers here: ordinals of the catalogue. A mask says for each ordinal whether the product matches.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from edge_auth.builds.catalogue import Catalogue
from edge_auth.builds.sorts import PRICE_SORTS
from edge_auth.errors import NotFound
from edge_auth.text import MAX_DIGITS

_LARGEST_INTEGER = 2**63 - 1


class Filters(NamedTuple):
    """The filters of a search. `texts` has the name and the key of each text filter; None means no set."""

    words: tuple[str, ...] = ()
    set: str | None = None
    texts: tuple[tuple[str, str], ...] = ()
    kind: str = "all"


NO_FILTERS = Filters()


class PriceRange(NamedTuple):
    """Prices in cents, both bounds included; None for no bound."""

    lowest: int | None
    highest: int | None


class Search(NamedTuple):
    """A search without offset and limit.

    Attributes:
        reverse: Whether the order is the opposite of the sort's default order.
        best: The words of `q` in their order, joined by single spaces, if the best matches come first; the sort then
            orders matches that are equally good. Else None.
    """

    filters: Filters
    sort: str
    reverse: bool
    prices: PriceRange | None = None
    best: str | None = None

    @property
    def only_prices(self) -> bool:
        """Whether it has a price range and no filter."""
        return self.prices is not None and self.filters == NO_FILTERS

    @property
    def only_filter(self) -> tuple[str, str]:
        """The name and the key of its filter if it has but one: a word of `q`, a text filter or the kind.

        Without any filter that is ("kind", "all"), and ("", "") with others.
        """
        given = [*self.filters.texts, *(("q", word) for word in self.filters.words)]
        if self.filters.kind != "all" or not given:
            given.append(("kind", self.filters.kind))
        others = self.prices is not None or self.filters.set is not None or len(given) > 1
        return ("", "") if others else given[0]

    @property
    def price_sort(self) -> str:
        """The sort whose price the price range bounds."""
        return self.sort if self.sort in PRICE_SORTS else PRICE_SORTS[0]


def mask_of(catalogue: Catalogue, search: Search) -> np.ndarray:
    """Return which products match all filters and the price range: bool, by ordinal.

    Raises:
        NotFound: The search names an unknown set.
    """
    masks = _masks(catalogue, search)
    found = next(masks, None)
    if found is None:
        return np.ones(len(catalogue.ids), bool)
    for mask in masks:  # one at a time, since the allocation of many large arrays takes longer than comparing
        found &= mask
    return found


def _masks(catalogue: Catalogue, search: Search) -> Iterator[np.ndarray]:
    """Yield a new mask for each filter and the price range."""
    filters = search.filters
    if search.prices is not None:
        yield _between(catalogue, search.price_sort, ranks_of_prices(catalogue, search))
    if filters.kind != "all":
        yield catalogue.single == (filters.kind == "single")
    if filters.set is not None:
        yield np.logical_or.reduce([catalogue.set == row for row in _set_rows(catalogue, filters.set)])
    for name, key in filters.texts:
        yield catalogue.texts[name].mask(key)
    for word in filters.words:
        yield catalogue.vocabulary.mask(word)


def _between(catalogue: Catalogue, sort: str, ranks: slice) -> np.ndarray:
    """Return which products have a rank in a range. Steps of the ranking are compared: they take a byte each."""
    steps, size = catalogue.steps(sort)
    first, last = ranks.start // size, (ranks.stop - 1) // size
    if ranks.start >= ranks.stop:
        return np.zeros(len(steps), bool)
    found: np.ndarray = steps - np.uint8(first) <= np.uint8(last - first)
    order = catalogue.order[sort]
    found[order[first * size : ranks.start]] = False
    found[order[ranks.stop : (last + 1) * size]] = False
    return found


def _set_rows(catalogue: Catalogue, text: str) -> list[int]:
    """Return the rows of the sets that an id or an exact name means. A number that is not an id may be a name."""
    if text.isascii() and text.isdigit() and len(text.lstrip("0")) <= MAX_DIGITS:
        id_ = np.int64(text.lstrip("0") or 0)
        row = int(np.searchsorted(catalogue.set_ids, id_))
        if row < len(catalogue.set_ids) and catalogue.set_ids[row] == id_:
            return [row]
    rows = [row for row, name in enumerate(catalogue.set_names) if name == text]
    if not rows:
        raise NotFound("there is no set with this id or exact name")
    return rows


def ranks_of_prices(catalogue: Catalogue, search: Search) -> slice:
    """Return the ranks of the products in the price range: a range of the ranking, since it is sorted by price."""
    assert search.prices is not None
    ascending = catalogue.cents[search.price_sort][::-1]
    lowest, highest = search.prices
    below = 0 if lowest is None else int(np.searchsorted(ascending, _in_64_bits(lowest)))
    up_to = len(ascending) if highest is None else int(np.searchsorted(ascending, _in_64_bits(highest), "right"))
    return slice(len(ascending) - up_to, len(ascending) - below)


def _in_64_bits(cents: int) -> np.int64:
    """Return a bound that fits into the column. No price is as large as the largest 64-bit integer."""
    return np.int64(min(cents, _LARGEST_INTEGER))
