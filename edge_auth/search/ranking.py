"""In which order a search of /cards lists the products that it finds.

A ranking is all ordinals of the catalogue in the order of a sort. With sort=match, one class comes after the other:
names equal to `q`, names that begin with it, names in which each word of it begins a word, and all others.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from edge_auth.builds.catalogue import Catalogue
from edge_auth.search.masks import NO_FILTERS, Search, mask_of, ranks_of_prices

# Matches are sorted by rank, or the ranking is scanned until enough are found. To sort a match takes as long as to scan
# this many products.
_SCANNED_PER_SORTED = 10
_FIRST_BLOCK_PRODUCTS = 512
_EQUAL, _BEGINS, _WORDS_BEGIN, _OTHERS = range(4)  # the classes of sort=match


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
