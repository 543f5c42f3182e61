"""Which products a search of /cards finds, and in which order.

Products are numbers here: ordinals of the catalogue. A mask says for each ordinal whether the product matches a
filter or a price range. A ranking holds all ordinals in the order of a sort.
"""

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from typing import NamedTuple

import numpy as np

from edge_auth.builds.card_lists import PRICE_SORTS, number_key
from edge_auth.builds.catalogue import Catalogue
from edge_auth.errors import NotFound
from edge_auth.text import MAX_DIGITS, fold, fold_without_apostrophes, words

# Matches are sorted by rank, or the ranking is scanned until enough are found. To sort a match takes as long as to scan
# this many products.
_SCANNED_PER_SORTED = 10
_FIRST_BLOCK_PRODUCTS = 512
_EQUAL, _BEGINS, _HOLDS, _GOES_ON, _WORDS_BEGIN, _OTHERS = range(6)  # the classes of sort=match
_MAX_MEANT_CHARACTERS = 60  # of a name that is compared with those of sets
_MIN_NEARNESS = 0.7
_PIECE_CHARACTERS, _MOST_COMPARED = 2, 100
_LARGEST_INTEGER = 2**63 - 1


class Part(NamedTuple):
    """A part of `find`: a product has this number, or all these words in its name and the name of its set.

    Attributes:
        number: The key of the number; "" if no product has it.
    """

    number: str
    words: tuple[str, ...]


class Filters(NamedTuple):
    """The filters of a search. `texts` has the name and the key of each text filter; None means no set."""

    words: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
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
        best: The words of `q` or `find` in their order, joined by single spaces, if the best matches come first; the
            sort then orders matches that are equally good. Else None.
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
    def only_filter(self) -> tuple[str, str | Part]:
        """The name and the key of its only filter: a word of `q`, a part of `find`, a text filter or the kind.

        Without any filter that is ("kind", "all"), and ("", "") with others.
        """
        given: list[tuple[str, str | Part]] = [*self.filters.texts]
        given += [*(("q", word) for word in self.filters.words), *(("find", part) for part in self.filters.parts)]
        if self.filters.kind != "all" or not given:
            given.append(("kind", self.filters.kind))
        others = self.prices is not None or self.filters.set is not None or len(given) > 1
        return ("", "") if others else given[0]

    @property
    def price_sort(self) -> str:
        """The sort whose price the price range bounds."""
        return self.sort if self.sort in PRICE_SORTS else PRICE_SORTS[0]


def read_find(catalogue: Catalogue, text: str) -> tuple[list[str], tuple[Part, ...]]:
    """Return what `find` means: texts that the name must contain, and parts. Equivalent texts give equal parts."""
    of_name: list[str] = []
    parts: set[Part] = set()
    numbers = catalogue.texts["number"].code_of
    for part in text.split():
        key, found = number_key(numbers, part), tuple(sorted(set(words(part))))
        if not found:
            of_name.append(fold(part))
        elif key in numbers:
            parts.add(Part(key, found))
        else:
            parts.update(Part("", (word,)) for word in found)
    return list(filter(None, of_name)), tuple(sorted(parts))


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
        if not found.any():
            break
    return found


def _masks(catalogue: Catalogue, search: Search) -> Iterator[np.ndarray]:
    """Yield a new mask for each filter, and for the price range."""
    filters = search.filters
    if filters.set is not None:  # the first one, since the caller may not ask for all, and an unknown set is an error
        yield np.logical_or.reduce([catalogue.set == row for row in _set_rows(catalogue, filters.set)])
    yield from map(catalogue.vocabulary.mask, filters.words)
    if search.prices is not None:
        yield _between(catalogue, search.price_sort, ranks_of_prices(catalogue, search))
    if filters.kind != "all":
        yield catalogue.single == (filters.kind == "single")
    for name, key in filters.texts:
        yield catalogue.texts[name].mask(key)
    for part in filters.parts:
        yield mask_of_part(catalogue, part)


def mask_of_part(catalogue: Catalogue, part: Part) -> np.ndarray:
    """Return which products a part of `find` means: bool, by ordinal."""
    first, *others = part.words
    found = catalogue.vocabulary.mask_with_sets(first)
    for word in others:
        found &= catalogue.vocabulary.mask_with_sets(word)
    if part.number:
        found[catalogue.numbered(part.number)] = True
    return found


def few_matches(catalogue: Catalogue, search: Search) -> np.ndarray | None:
    """Return the products that a search for one word finds, as ordinals in any order. None if they may be many."""
    name, key = search.only_filter
    if name == "q" and isinstance(key, str):
        return catalogue.vocabulary.few_products(key)
    if isinstance(key, Part) and len(key.words) == 1:
        others = catalogue.numbered(key.number) if key.number else None
        return catalogue.vocabulary.few_products_with_sets(key.words[0], others)
    return None


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
        near = _nearest_set(catalogue, text[:_MAX_MEANT_CHARACTERS])
        raise NotFound("there is no set with this id or exact name" + (f": did you mean {near}?" if near else ""))
    return rows


def _nearest_set(catalogue: Catalogue, text: str) -> str | None:
    """Return the shortest name of a set that holds a text, else the one nearest to it, None if none is near."""
    wanted, names = fold_without_apostrophes(text).strip(), catalogue.folded_sets
    holding = sorted((folded for folded in names if wanted in folded), key=len) if wanted else []
    # To compare all names would take longer than any other request.
    pieces = {wanted[at : at + _PIECE_CHARACTERS] for at in range(len(wanted) - _PIECE_CHARACTERS + 1)}
    alike = islice((folded for folded in names if any(piece in folded for piece in pieces)), _MOST_COMPARED)
    near = holding or get_close_matches(wanted, alike, 1, _MIN_NEARNESS)
    return names[near[0]] if near else None


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
    if _are_few(mask, total, count):
        ordinals = _sorted(catalogue, search, np.flatnonzero(mask))
        return ordinals[_classes(catalogue, search, ordinals).argsort(kind="stable")[:count]]
    found, missing = [ranking[0][:0]], min(count, total)
    for good in _by_class(catalogue, search, mask):
        if size := int(np.count_nonzero(good)):
            found.append(_in_order(catalogue, search, ranking, good, size, missing))
            missing -= len(found[-1])
        if not missing:
            break
    return np.concatenate(found)


def _classes(catalogue: Catalogue, search: Search, ordinals: np.ndarray) -> np.ndarray:
    """Return how well the names of some matches of a search fit its text: uint8, 0 for the best."""
    text = search.best or ""
    found, names = np.full(len(ordinals), _OTHERS, np.uint8), catalogue.full_name.take(ordinals)
    equal, begin, go_on = catalogue.names.like(text)
    found[_begin_words(catalogue, search).take(ordinals)] = _WORDS_BEGIN
    found[_are_in(names, go_on)] = _GOES_ON
    found[_are_among(ordinals, _holding(catalogue, text))] = _HOLDS
    found[_are_in(names, begin)] = _BEGINS
    found[_are_in(names, equal) | _are_in(catalogue.base_name.take(ordinals), equal)] = _EQUAL
    return found


def _are_in(rows: np.ndarray, wanted: range) -> np.ndarray:
    found: np.ndarray = (rows >= wanted.start) & (rows < wanted.stop)
    return found


def _by_class(catalogue: Catalogue, search: Search, mask: np.ndarray) -> Iterator[np.ndarray]:
    """Yield masks of the matches of a search, those of the best class first. Each takes its products out of `mask`."""
    names, text = catalogue.names, search.best or ""
    equal, begin, go_on = names.like(text)
    yield _taken(mask, names.whole.between(equal), names.base.between(equal))
    yield _taken(mask, names.whole.between(begin))
    yield _taken(mask, _holding(catalogue, text))
    yield _taken(mask, names.whole.between(go_on))
    good = mask & _begin_words(catalogue, search)
    yield good
    yield mask ^ good


def _taken(mask: np.ndarray, *products: np.ndarray) -> np.ndarray:
    """Return a mask of those of some products that a mask has, and take them out of it."""
    wanted = np.zeros(len(mask), bool)
    for ordinals in products:
        wanted[ordinals] = True
    wanted &= mask
    mask ^= wanted
    return wanted


def _holding(catalogue: Catalogue, text: str) -> np.ndarray:
    """Return the products in whose names the words of a text stand side by side: ordinals."""
    first, *others = sorted((catalogue.vocabulary.having(word) for word in set(text.split())), key=len)
    for products in others:
        first = first.compress(_are_among(first, products))
    if " " not in text:
        return first
    rows = catalogue.full_name.take(first)
    held = [row for row in np.unique(rows).tolist() if f" {text} " in f" {catalogue.names.text(row)} "]
    return first[np.isin(rows, held)]


def _are_among(ordinals: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return which ordinals are among some others, which are ascending."""
    if not len(wanted):
        return np.zeros(len(ordinals), bool)
    found: np.ndarray = wanted.take(wanted.searchsorted(ordinals), mode="clip") == ordinals
    return found


def _begin_words(catalogue: Catalogue, search: Search) -> np.ndarray:
    """Return in which names each word of a search's text begins a word: bool, by ordinal."""
    first, *others = dict.fromkeys((search.best or "").split())
    found = catalogue.vocabulary.start_mask(first)
    for word in others:
        if not found.any():
            break
        found &= catalogue.vocabulary.start_mask(word)
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
