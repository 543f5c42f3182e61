"""Which products a search of /cards finds, and in which order.

Products are numbers here: ordinals of the catalogue. A mask says for each ordinal whether the product matches a
filter or a price range. A ranking holds all ordinals in the order of a sort.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np

from edge_auth.search.query import Part, Search, price_sort
from generator.storage.catalogue import Catalogue
from generator.storage.matching import JudgedByName

# Matches are sorted by rank, or the ranking is scanned until enough are found. To sort a match takes as long as to scan
# this many products.
_SCANNED_PER_SORTED = 10
_FIRST_BLOCK_PRODUCTS = 512


def mask_of(catalogue: Catalogue, search: Search) -> np.ndarray:
    """Return which products match all filters and the price range, as a new array: bool, by ordinal."""
    found = None
    if search.ranks is not None:
        start, stop = search.ranks
        found = catalogue.rank[price_sort(search.sort)] - np.uint32(start) < np.uint32(stop - start)
    for name, wanted in search.filters:
        if isinstance(wanted, Part):
            mask = _mask_of_part(catalogue, wanted)
        elif isinstance(wanted, frozenset):
            mask = _mask_of_sets(catalogue, wanted)
        elif name == "q":
            mask = catalogue.vocabulary.mask(wanted)
        elif name == "kind":
            mask = catalogue.single == (wanted == "single")
        else:
            mask = catalogue.texts[name].mask(wanted)
        if found is None:
            found = mask
            continue
        found &= mask  # one at a time, since the allocation of many large arrays takes longer than comparing
        if not found.any():
            break
    return np.ones(len(catalogue.ids), bool) if found is None else found


def _mask_of_sets(catalogue: Catalogue, rows: frozenset[int]) -> np.ndarray:
    found, starts = np.zeros(len(catalogue.ids), bool), catalogue.set_starts
    for row in rows:
        found[starts[row] : starts[row + 1]] = True
    return found


def _mask_of_part(catalogue: Catalogue, part: Part) -> np.ndarray:
    masks = (catalogue.vocabulary.mask(word, with_sets=True) for word in part.words)
    found = reduce(np.ndarray.__iand__, masks)
    if part.number:
        found |= catalogue.texts["number"].mask(part.number)
    return found


class ResultPage(NamedTuple):
    """One page of a search result: the ordinals of its products, and the number of products in the whole result."""

    ordinals: np.ndarray
    total: int


def find_page(catalogue: Catalogue, search: Search, offset: int, limit: int) -> ResultPage:
    """Return a page of a search."""
    end = min(offset + limit, len(catalogue.ids))
    if not search.filters and (search.ranks is None or search.sort == price_sort(search.sort)):
        ranking = _ranking(catalogue, search)  # no product is looked at
        return ResultPage(ranking[offset:end], len(ranking))
    mask = mask_of(catalogue, search)
    total = int(np.count_nonzero(mask))
    order = _in_order if search.best is None else _best_first
    return ResultPage(order(catalogue, search, mask, total, end)[offset:end], total)


def _best_first(catalogue: Catalogue, search: Search, mask: np.ndarray, total: int, count: int) -> np.ndarray:
    found, missing = [np.zeros(0, np.uint32)], min(count, total)
    if not missing:
        return found[0]
    judged = JudgedByName(catalogue, search.best or (), mask)
    mask ^= judged.mask
    for good in judged.best_first():
        found.append(_sorted(catalogue, search, good)[:missing])
        missing -= len(found[-1])
        if not missing:
            return np.concatenate(found)
    for others in (judged.mask, mask):
        found.append(_in_order(catalogue, search, others, int(np.count_nonzero(others)), missing))
        missing -= len(found[-1])
    return np.concatenate(found)


def _in_order(catalogue: Catalogue, search: Search, mask: np.ndarray, total: int, count: int) -> np.ndarray:
    scanned = len(mask) * min(1.0, count / max(1, total))
    if total * _SCANNED_PER_SORTED <= scanned:
        return _sorted(catalogue, search, np.flatnonzero(mask))[:count]
    return _scan(_ranking(catalogue, search), mask, min(count, total))[:count]


def _ranking(catalogue: Catalogue, search: Search) -> np.ndarray:
    """Return all ordinals in the order of a search.

    In the reverse order, too, the products without a sort key come last. In a sort by a price, only the products in the
    price range are in the ranking.
    """
    order = catalogue.order[search.sort]
    if search.ranks is not None and search.sort == price_sort(search.sort):
        order = order[slice(*search.ranks)]
        return order[::-1] if search.reverse else order
    keyed = catalogue.keyed[search.sort]
    return np.concatenate((order[:keyed][::-1], order[keyed:])) if search.reverse else order


def _sorted(catalogue: Catalogue, search: Search, ordinals: np.ndarray) -> np.ndarray:
    ranks = np.sort(catalogue.rank[search.sort].take(ordinals))
    if search.reverse:
        keyed = int(np.searchsorted(ranks, np.uint32(catalogue.keyed[search.sort])))
        ranks = np.concatenate((ranks[:keyed][::-1], ranks[keyed:]))
    return catalogue.order[search.sort].take(ranks)


def _scan(ranking: np.ndarray, mask: np.ndarray, count: int) -> np.ndarray:
    """Return the first matches of a ranking, at least `count`: from blocks, each twice as long as the one before."""
    matches, start, size = [ranking[:0]], 0, max(_FIRST_BLOCK_PRODUCTS, count)
    while start < len(ranking) and count > 0:
        block = ranking[start : start + size]
        matches.append(block.compress(mask.take(block.astype(np.intp))))  # a third of the time of `mask[block]`
        count -= len(matches[-1])
        start, size = start + size, size * 2
    return np.concatenate(matches)
