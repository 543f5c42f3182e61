"""In which order a search of /cards lists the products that it finds.

A ranking is all ordinals of the catalogue in the order of a sort.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from edge_auth.builds.catalogue import Catalogue
from edge_auth.search.goodness import classes, with_names_like, with_words_like
from edge_auth.search.masks import NO_FILTERS, Search, mask_of, ranks_of_prices

# Matches are sorted by rank, or the ranking is scanned until enough are found. To sort a match takes as long as to scan
# this many products.
_SCANNED_PER_SORTED = 10
_FIRST_BLOCK_PRODUCTS = 512


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


def is_ranking(search: Search) -> bool:
    """Return whether a search finds a part of a ranking, so that no product is looked at."""
    return search.filters == NO_FILTERS and (search.prices is None or search.sort == search.price_sort)


def page_of_ranking(catalogue: Catalogue, search: Search, offset: int, limit: int) -> ResultPage:
    """Return a page of a search that finds a part of a ranking."""
    ranking = _ranking(catalogue, search)
    return ResultPage(_slice(ranking, offset, limit), sum(map(len, ranking)))


def _best_first(
    catalogue: Catalogue, search: Search, ranking: list[np.ndarray], mask: np.ndarray, total: int, count: int
) -> np.ndarray:
    """Return the first `count` products of a mask of `total` products, the best matches first."""
    assert search.best is not None
    if _are_few(mask, total, count):
        ordinals = _sorted(catalogue, search, np.flatnonzero(mask))
        return ordinals[classes(catalogue, search.best, ordinals).argsort(kind="stable")[:count]]
    found, missing = [ranking[0][:0]], min(count, total)
    for ordinals in with_names_like(catalogue, search.best):
        good = ordinals.compress(mask.take(ordinals))
        mask[good] = False
        found.append(_sorted(catalogue, search, good)[:missing])
        missing -= len(found[-1])
    for good in _words_first(catalogue, search.best, mask) if missing else ():
        if size := int(np.count_nonzero(good)):
            found.append(_in_order(catalogue, search, ranking, good, size, missing))
            missing -= len(found[-1])
        if not missing:
            break
    return np.concatenate(found)


def _words_first(catalogue: Catalogue, text: str, mask: np.ndarray) -> Iterator[np.ndarray]:
    good = with_words_like(catalogue, text, mask)
    yield good
    yield mask ^ good


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
