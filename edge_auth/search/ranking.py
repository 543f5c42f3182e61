"""Which products a search of /cards finds, and in which order.

Products are numbers here: ordinals of the catalogue. A mask says for each ordinal whether the product matches a
filter or a price range. A ranking holds all ordinals in the order of a sort.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from edge_auth.search.query import Part, Search, price_sort
from generator.storage.catalogue import Catalogue
from generator.storage.vocabulary import Lists

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


def first_matches(catalogue: Catalogue, search: Search, count: int) -> ResultPage:
    """Return the first `count` products that a search finds."""
    mask = mask_of(catalogue, search)
    total = int(np.count_nonzero(mask))
    order = _in_order if search.best is None else _best_first
    return ResultPage(order(catalogue, search, mask, total, count), total)


def cheap_page(
    catalogue: Catalogue, search: Search, offset: int, limit: int, stored: ResultPage | None
) -> ResultPage | None:
    """Return a page of the stored first products, or of a part of a ranking, or the first page; else None."""
    if stored is not None and offset + limit <= len(stored.ordinals):
        return ResultPage(stored.ordinals[offset : offset + limit], stored.total)
    if not search.filters and (search.ranks is None or search.sort == price_sort(search.sort)):
        ranking = _ranking(catalogue, search)  # no product is looked at
        return ResultPage(ranking[offset : offset + limit], len(ranking))
    return None if offset else first_matches(catalogue, search, limit)


def _best_first(catalogue: Catalogue, search: Search, mask: np.ndarray, total: int, count: int) -> np.ndarray:
    found, missing = [np.zeros(0, np.uint32)], min(count, total)
    if not missing:
        return found[0]
    judged = _Judged(catalogue, search.best or (), mask)
    mask ^= judged.mask
    for good in judged.by_name():
        found.append(_sorted(catalogue, search, good)[:missing])
        missing -= len(found[-1])
        if not missing:
            return np.concatenate(found)
    for others in (judged.mask, mask):
        found.append(_in_order(catalogue, search, others, int(np.count_nonzero(others)), missing))
        missing -= len(found[-1])
    return np.concatenate(found)


class _Judged:
    """The matches of which each word that counts for them begins a word of their name.

    A part of `find` counts for a product if its name holds a word of it. So matches have different texts to compare
    with their names, one for each set of parts.

    Attributes:
        mask: Which products these are: bool, by ordinal. Those that `by_name` has found are taken out.
        texts, group: The different texts, and by ordinal the place of a product's own one, if there are several.
    """

    def __init__(self, catalogue: Catalogue, best: tuple[tuple[str, ...], ...], mask: np.ndarray):
        self._catalogue, self._best = catalogue, best
        self._parts = list(dict.fromkeys(best))
        self._holding = [_joined(np.ndarray.__ior__, catalogue.vocabulary.mask, part) for part in self._parts]
        self.mask = mask & self._all_parts(catalogue.vocabulary.start_mask)
        self.mask &= reduce(np.logical_or, self._holding)
        self.texts, self.group = [self._text(self._parts)], np.zeros(0, np.uint32)
        if len(self._parts) > 1:
            self._divide()

    def _all_parts(self, mask_of_word: Callable[[str], np.ndarray]) -> np.ndarray:
        """Return the products of which all parts that count for them have words with the mask: bool, by ordinal."""
        found = np.ones(len(self._catalogue.ids), bool)
        for part, holding in zip(self._parts, self._holding, strict=True):
            found &= holding == _joined(np.ndarray.__iand__, mask_of_word, part)
        return found

    def _text(self, counting: Collection[tuple[str, ...]]) -> str:
        return " ".join(word for part in self._best if part in counting for word in part)

    def _divide(self) -> None:
        products = np.flatnonzero(self.mask)
        sets = np.zeros(len(products), np.uint64)  # of parts, one bit each: a text has at most 50
        for place, holding in enumerate(self._holding):
            sets |= holding.take(products).astype(np.uint64) << np.uint64(place)
        different, groups = np.unique(sets, return_inverse=True)
        counting = (
            [part for place, part in enumerate(self._parts) if bits >> place & 1] for bits in different.tolist()
        )
        self.texts = list(map(self._text, counting))
        self.group = np.zeros(len(self.mask), np.uint32)
        self.group[products] = groups

    def by_name(self) -> Iterator[np.ndarray]:
        """Yield those whose name equals their text, begins with it, holds it, goes on after it, and take them out."""
        names = self._catalogue.names
        equal, begin, go_on = zip(*map(names.like, self.texts), strict=True) if self.texts else ((), (), ())
        yield np.concatenate([self._take(names.whole, equal), self._take(names.base, equal)])
        yield self._take(names.whole, begin)
        yield self._take_holding()
        yield self._take(names.whole, go_on)

    def _take(self, lists: Lists, rows: Sequence[range]) -> np.ndarray:
        """Take out those of the lists in the rows of their text."""
        taken = [np.zeros(0, np.uint32)]
        for group, of_text in enumerate(rows):
            products = lists.between(of_text)
            products = products.compress(self.mask.take(products))
            if len(rows) > 1:
                products = products.compress(self.group.take(products) == group)
            taken.append(products)
            self.mask[products] = False
        return np.concatenate(taken)

    def _take_holding(self) -> np.ndarray:
        """Take out those in whose names the words of their text stand side by side."""
        products = np.flatnonzero(self.mask & self._all_parts(self._catalogue.vocabulary.word_mask))
        if any(" " in text for text in self.texts):
            names, several = self._catalogue.names, len(self.texts)
            groups = self.group.take(products) if several > 1 else 0
            pairs = self._catalogue.full_name.take(products).astype(np.int64) * several + groups
            different, places = np.unique(pairs, return_inverse=True)
            held = (
                f" {self.texts[group]} " in f" {names.text(row)} "
                for row, group in (divmod(pair, several) for pair in different.tolist())
            )
            products = products.compress(np.fromiter(held, bool, len(different)).take(places))
        self.mask[products] = False
        return products


def _joined(
    join: Callable[[np.ndarray, np.ndarray], np.ndarray],
    mask_of_word: Callable[[str], np.ndarray],
    words: Sequence[str],
) -> np.ndarray:
    """Return the masks of some words joined into one."""
    return reduce(join, map(mask_of_word, dict.fromkeys(words)))


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
