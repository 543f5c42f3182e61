"""Which products a search of /cards finds, and in which order.

Products are numbers here: ordinals of the catalogue. A mask says for each ordinal whether the product matches a
filter or a price range. A ranking holds all ordinals in the order of a sort.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from edge_auth.builds.card_lists import PRICE_SORTS
from edge_auth.builds.catalogue import Catalogue
from edge_auth.errors import NotFound
from edge_auth.text import MAX_DIGITS

# Matches are sorted by rank, or the ranking is scanned until enough are found. To sort a match takes as long as to scan
# this many products.
_SCANNED_PER_SORTED = 10
_FIRST_BLOCK_PRODUCTS = 512
_EQUAL, _BEGINS, _WORDS_BEGIN, _OTHERS = range(4)  # the classes of sort=match
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


class ResultPage(NamedTuple):
    """One page of a search result: the ordinals of its products, and the number of products in the whole result."""

    ordinals: np.ndarray
    total: int


def first_matches(catalogue: Catalogue, search: Search, count: int) -> ResultPage:
    """Return the first `count` products that a search finds.

    Raises:
        NotFound: The search names an unknown set.
    """
    mask = mask_of(catalogue, search)
    total = int(np.count_nonzero(mask))
    order = _in_order if search.best is None else _best_first
    return ResultPage(order(catalogue, search, _ranking(catalogue, search), mask, total, count), total)


def cheap_page(catalogue: Catalogue, search: Search, offset: int, limit: int) -> ResultPage | None:
    """Return a page of a search that finds a part of a ranking, or the first page of another one, else None.

    Raises:
        NotFound: The search names an unknown set.
    """
    if search.filters == NO_FILTERS and (search.prices is None or search.sort == search.price_sort):
        ranking = _ranking(catalogue, search)  # no product is looked at
        return ResultPage(_slice(ranking, offset, limit), sum(map(len, ranking)))
    return None if offset else first_matches(catalogue, search, limit)


def _best_first(
    catalogue: Catalogue, search: Search, ranking: list[np.ndarray], mask: np.ndarray, total: int, count: int
) -> np.ndarray:
    """Return the first `count` products of a mask of `total` products, the best matches first."""
    assert search.best is not None
    if _are_few(mask, total, count):
        ordinals = _sorted(catalogue, search, np.flatnonzero(mask))
        return ordinals[_classes(catalogue, search.best, ordinals).argsort(kind="stable")[:count]]
    found, missing = [ranking[0][:0]], min(count, total)
    for ordinals in _with_names_like(catalogue, search.best):
        good = ordinals.compress(mask.take(ordinals))
        mask[good] = False
        found.append(_sorted(catalogue, search, good)[:missing])
        missing -= len(found[-1])
        if not missing:
            break
    for good in _words_first(catalogue, search.best, mask) if missing else ():
        if size := int(np.count_nonzero(good)):
            found.append(_in_order(catalogue, search, ranking, good, size, missing))
            missing -= len(found[-1])
        if not missing:
            break
    return np.concatenate(found)


def _classes(catalogue: Catalogue, text: str, ordinals: np.ndarray) -> np.ndarray:
    """Return how well the names of some products match: uint8, 0 for the best.

    Args:
        text: The words of `q` in their order, joined by single spaces.
        ordinals: Products that match.
    """
    assert catalogue.full_name is not None and catalogue.base_name is not None
    found, names = np.full(len(ordinals), _OTHERS, np.uint8), catalogue.full_name.take(ordinals)
    found[_begin_words(catalogue, text, ordinals)] = _WORDS_BEGIN
    equal, longer = catalogue.names.beginning_with(text)
    if longer:
        found[(names >= longer.start) & (names < longer.stop)] = _BEGINS
    if equal:
        found[(names == equal.start) | (catalogue.base_name.take(ordinals) == equal.start)] = _EQUAL
    return found


def _with_names_like(catalogue: Catalogue, text: str) -> Iterator[np.ndarray]:
    """Yield the products whose name or base name is a text, each once, then those of longer names that begin with it.

    Some of the first are among the second, too.
    """
    assert catalogue.base_name is not None
    names, (equal, longer) = catalogue.names, catalogue.names.beginning_with(text)
    if equal:
        whole = names.whole.between(equal)
        others = whole.compress(catalogue.base_name.take(whole) != equal.start) if catalogue.of_words else whole
        yield np.concatenate((others, names.base.between(equal)))
    if longer:
        yield names.whole.between(longer)


def _words_first(catalogue: Catalogue, text: str, mask: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a mask of those products of a mask in whose names each word of a text begins a word; one of the others."""
    good = mask.copy()
    for word in set(text.split()):
        good &= catalogue.vocabulary.start_mask(word)
    yield good
    yield mask ^ good


def _begin_words(catalogue: Catalogue, text: str, ordinals: np.ndarray) -> np.ndarray:
    found = np.ones(len(ordinals), bool)
    for word in set(text.split()):
        starts = catalogue.vocabulary.start_mask(word)
        found &= starts if isinstance(starts, bool) else starts.take(ordinals)
    return found


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
