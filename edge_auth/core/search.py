"""The search of /cards: filters and sorts over the columns of the search index.

Products are numbers here: ordinals of the catalogue. A ranking is all ordinals in the order of a sort. A mask says for
each ordinal whether the product matches.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from edge_auth.contract.catalogue import Catalogue
from edge_auth.contract.sorts import DEFAULT_SORT, MATCH_SORT, PRICE_SORTS, SORTS
from edge_auth.contract.text import composed, word_text, words
from edge_auth.contract.text_filters import BLANK, TEXT_FILTERS
from edge_auth.core.goodness import by_goodness
from edge_auth.core.open_build import OpenBuild
from edge_auth.core.parameters import MAX_DIGITS
from edge_auth.errors import InvalidParameter, NotFound

# Matches are sorted by rank, or the ranking is scanned until enough are found. To sort a match takes as long as to scan
# this many products.
_SCANNED_PER_SORTED = 10
_LEAST_KEPT_MATCHES = 1024
_FIRST_BLOCK_PRODUCTS = 512
_OVERHEAD_BYTES = 500
_LARGEST_INTEGER = 2**63 - 1


class Filters(NamedTuple):
    """The filters of a search. `texts` has the name and the key of each text filter; None means no set."""

    words: tuple[str, ...] = ()
    set: str | None = None
    texts: tuple[tuple[str, str], ...] = ()
    kind: str = "all"


_NO_FILTERS = Filters()


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
        return self.prices is not None and self.filters == _NO_FILTERS

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


class ResultPage(NamedTuple):
    """One page of a search result: the ordinals of its products, and the number of products in the whole result."""

    ordinals: np.ndarray
    total: int


def read_search(build: OpenBuild, values: dict[str, Any]) -> Search:
    """Return the search that the parameters of /cards mean. Equivalent parameters give equal searches.

    Raises:
        InvalidParameter: The price range is empty, the sort needs other parameters, or the build is too old for the
            sort or a filter.
    """
    best = _best(build, values) if values["sort"] == MATCH_SORT else None
    sort = DEFAULT_SORT if best else values["sort"]
    if sort not in build.catalogue.order:
        raise too_old(build, f"sorted by {sort}")
    filters = Filters(
        words=tuple(sorted(set(words(values["q"] or "")))),
        set=values["set"] and composed(values["set"]),
        texts=tuple((name, filter_key(build, name, values[name])) for name in TEXT_FILTERS if values[name]),
        kind=values["kind"],
    )
    reverse = values["order"] not in (None, SORTS[sort].default_order)
    search = Search(filters, sort, reverse, _price_range(values), best)
    if search.prices is not None and search.price_sort not in build.catalogue.cents:
        raise too_old(build, "filtered by min_price and max_price")
    return search


def filter_key(build: OpenBuild, name: str, text: str) -> str:
    """Return the key of a client's text for a text filter.

    Raises:
        InvalidParameter: The build is older than the filter.
    """
    if name not in build.catalogue.texts:
        raise too_old(build, f"filtered by {name}")
    return TEXT_FILTERS[name].key(text) or BLANK


def _best(build: OpenBuild, values: dict[str, Any]) -> str:
    best = word_text(values["q"] or "")
    if not best or values["order"]:
        what = "allows no order" if best else "needs a q with at least one word"
        raise InvalidParameter(f"sort={MATCH_SORT} {what}")
    if build.catalogue.full_name is None:
        raise too_old(build, f"sorted by {MATCH_SORT}")
    return best


def _price_range(values: dict[str, Any]) -> PriceRange | None:
    prices = PriceRange(values["min_price"], values["max_price"])
    if prices.lowest is not None and prices.highest is not None and prices.lowest > prices.highest:
        raise InvalidParameter("min_price may not be above max_price")
    return None if prices == (None, None) else prices


def too_old(build: OpenBuild, what: str) -> InvalidParameter:
    """Return the error for a parameter that a build of an older version lacks the data for."""
    return InvalidParameter(f"build {build.id} cannot be {what}: an older version made it, the next build can")


def find_page(build: OpenBuild, search: Search, offset: int, limit: int) -> ResultPage:
    """Return one page of the result of a search.

    Raises:
        NotFound: The search names an unknown set.
    """
    catalogue = build.catalogue
    ranking = _ranking(catalogue, search)
    if search.filters == _NO_FILTERS and (search.prices is None or search.sort == search.price_sort):
        return ResultPage(_slice(ranking, offset, limit), sum(map(len, ranking)))
    if not offset:
        return _first_matches(catalogue, search, ranking, limit)
    # A client that is at a later page will probably want the next one too, so find up to twice as many.
    count = min(max(_LEAST_KEPT_MATCHES, 1 << (offset + limit).bit_length()), len(catalogue.ids))
    ordinals, total = build.cached(
        ("search", search, count),
        lambda: _first_matches(catalogue, search, ranking, count),
        lambda found: found.ordinals.nbytes + _OVERHEAD_BYTES,
    )
    return ResultPage(ordinals[offset : offset + limit], total)


def _first_matches(catalogue: Catalogue, search: Search, ranking: list[np.ndarray], count: int) -> ResultPage:
    mask = mask_of(catalogue, search)
    total = int(np.count_nonzero(mask))
    order = _in_order if search.best is None else _best_first
    return ResultPage(order(catalogue, search, ranking, mask, total, count), total)


def _best_first(
    catalogue: Catalogue, search: Search, ranking: list[np.ndarray], mask: np.ndarray, total: int, count: int
) -> np.ndarray:
    """Return the first `count` products of a mask of `total` products, the best matches first."""
    assert search.best is not None
    if _are_few(mask, total, count):
        ordinals = _sorted(catalogue, search, np.flatnonzero(mask))
        parts = by_goodness(catalogue, search.best, ordinals, np.ones(total, bool))
        return np.concatenate([ordinals[:0], *(ordinals[part] for part in parts)])[:count]
    found, missing = [ranking[0][:0]], min(count, total)
    parts = by_goodness(catalogue, search.best, slice(None), mask)
    while missing:
        part = next(parts)
        found.append(_in_order(catalogue, search, ranking, part, int(np.count_nonzero(part)), missing))
        missing -= len(found[-1])
    return np.concatenate(found)


def _in_order(
    catalogue: Catalogue, search: Search, ranking: list[np.ndarray], mask: np.ndarray, total: int, count: int
) -> np.ndarray:
    """Return the first `count` products of a mask of `total` products."""
    if _are_few(mask, total, count):
        return _sorted(catalogue, search, np.flatnonzero(mask))[:count]
    return _scan(ranking, mask, min(count, total))[:count]


def _are_few(mask: np.ndarray, total: int, count: int) -> bool:
    """Return whether to sort all `total` products of a mask takes less time than to scan for the first `count`."""
    scanned = len(mask) * min(1.0, count / max(1, total))
    return total * _SCANNED_PER_SORTED <= scanned


def _ranking(catalogue: Catalogue, search: Search) -> list[np.ndarray]:
    """Return all ordinals in the order of a search, in one or two sections.

    In the reverse order, the products without a sort key are a section of their own, since they still come last. In a
    sort by a price, only the products in the price range are in the ranking.
    """
    order = catalogue.order[search.sort]
    if search.prices is not None and search.sort == search.price_sort:
        order = order[ranks_of_prices(catalogue, search)]
        return [order[::-1] if search.reverse else order]
    keyed = catalogue.counts.keyed["all"][search.sort]
    return [order[:keyed][::-1], order[keyed:]] if search.reverse else [order]


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


def _slice(ranking: list[np.ndarray], offset: int, limit: int) -> np.ndarray:
    slices = []
    for section in ranking:
        slices.append(section[offset : offset + limit])
        limit -= len(slices[-1])
        offset = max(0, offset - len(section))
    return np.concatenate(slices)


def _sorted(catalogue: Catalogue, search: Search, ordinals: np.ndarray) -> np.ndarray:
    ranks = np.sort(catalogue.rank[search.sort].take(ordinals))
    if search.reverse:
        keyed = int(np.searchsorted(ranks, np.uint32(catalogue.counts.keyed["all"][search.sort])))
        ranks = np.concatenate((ranks[:keyed][::-1], ranks[keyed:]))
    return catalogue.order[search.sort].take(ranks)


def _scan(ranking: list[np.ndarray], mask: np.ndarray, count: int) -> np.ndarray:
    """Return the first `count` or more matches of a ranking."""
    matches: list[np.ndarray] = []
    for block in _growing_blocks(ranking, max(_FIRST_BLOCK_PRODUCTS, count)):
        matches.append(_matching(block, mask))
        count -= len(matches[-1])
        if count <= 0:
            break
    return np.concatenate(matches)


def _matching(ordinals: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return the ordinals that match, in their order. This is three times as fast as `ordinals[mask[ordinals]]`."""
    return ordinals.compress(mask.take(ordinals.astype(np.intp)))


def _growing_blocks(ranking: list[np.ndarray], first: int) -> Iterator[np.ndarray]:
    """Yield a ranking in blocks: the first one of so many products, each other one twice as long as the one before."""
    for section in ranking:
        start, size = 0, first
        while start < len(section):
            yield section[start : start + size]
            start, size = start + size, size * 2


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
