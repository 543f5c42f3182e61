"""The search of /cards: filters and sorts over the columns of the search index.

Products are numbers here: ordinals of the catalogue. A ranking is all ordinals in the order of a sort. A mask tells for
each ordinal whether the product matches.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from edge_auth.contract import names
from edge_auth.contract.catalogue import Catalogue
from edge_auth.contract.text import composed, fold, number_filter_key, words
from edge_auth.core.open_build import OpenBuild
from edge_auth.core.parameters import MAX_DIGITS
from edge_auth.errors import NotFound

# Up to this many matches are sorted by rank. For more, the ranking is scanned until the page is full.
_MAX_SORTED_MATCHES = 1000
_FIRST_BLOCK_PRODUCTS = 512
_OVERHEAD_BYTES = 500


class Filters(NamedTuple):
    """The filters of a search; None means that a filter is absent."""

    words: tuple[str, ...] = ()
    set: str | None = None
    number: str | None = None
    rarity: str | None = None
    kind: str = "all"


_NO_FILTERS = Filters()


class Search(NamedTuple):
    """A search without offset and limit. `reverse` means the opposite of the sort's default order."""

    filters: Filters
    sort: str
    reverse: bool


class ResultPage(NamedTuple):
    """One page of a search result: the ordinals of its products, and the number of products in the whole result."""

    ordinals: np.ndarray
    total: int


def read_search(values: dict[str, Any]) -> Search:
    """Return the search that the parameters of /cards mean. Equivalent parameters give equal searches."""
    sort = values["sort"]
    filters = Filters(
        words=tuple(sorted(set(words(values["q"] or "")))),
        set=values["set"] and composed(values["set"]),
        number=values["number"] and number_filter_key(values["number"]),
        rarity=values["rarity"] and fold(values["rarity"]),
        kind=values["kind"],
    )
    return Search(filters, sort, reverse=values["order"] not in (None, names.SORTS[sort].default_order))


def find_page(build: OpenBuild, search: Search, offset: int, limit: int) -> ResultPage:
    """Return one page of the result of a search.

    Raises:
        NotFound: The search names an unknown set.
    """
    catalogue = build.catalogue
    ranking = _ranking(catalogue, search)
    if search.filters == _NO_FILTERS:
        return ResultPage(_slice(ranking, offset, limit), len(catalogue.ids))
    if offset:  # a client that is at a later page will probably want the next one too, so find them all
        ordinals = build.cached(
            ("search", search),
            lambda: _find_all(catalogue, search, ranking),
            lambda ordinals: ordinals.nbytes + _OVERHEAD_BYTES,
        )
        return ResultPage(ordinals[offset : offset + limit], len(ordinals))
    mask = _mask(catalogue, search.filters)
    total = int(np.count_nonzero(mask))
    if total <= _MAX_SORTED_MATCHES:
        return ResultPage(_sorted(catalogue, search, np.flatnonzero(mask))[:limit], total)
    return ResultPage(_scan(ranking, mask, min(limit, total))[:limit], total)


def _find_all(catalogue: Catalogue, search: Search, ranking: list[np.ndarray]) -> np.ndarray:
    mask = _mask(catalogue, search.filters)
    return np.concatenate([section[mask[section]] for section in ranking])


def _ranking(catalogue: Catalogue, search: Search) -> list[np.ndarray]:
    """Return all ordinals in the order of a search, in one or two sections.

    In the reverse order, the products without a sort key are a section of their own, since they still come last.
    """
    order = catalogue.order[search.sort]
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
    ranks = catalogue.rank[search.sort][ordinals].astype(np.int64)
    if search.reverse:
        keyed = catalogue.counts.keyed["all"][search.sort]
        ranks = np.where(ranks < keyed, -ranks, ranks)
    return ordinals[np.argsort(ranks)]


def _scan(ranking: list[np.ndarray], mask: np.ndarray, count: int) -> np.ndarray:
    """Return the first `count` or more matches of a ranking."""
    matches: list[np.ndarray] = []
    for block in _growing_blocks(ranking):
        matches.append(block[mask[block]])
        count -= len(matches[-1])
        if count <= 0:
            break
    return np.concatenate(matches)


def _growing_blocks(ranking: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield a ranking in blocks, each twice as long as the one before."""
    for section in ranking:
        start, size = 0, _FIRST_BLOCK_PRODUCTS
        while start < len(section):
            yield section[start : start + size]
            start, size = start + size, size * 2


def _mask(catalogue: Catalogue, filters: Filters) -> np.ndarray:
    """Return which products match all filters: bool, by ordinal."""
    masks = []
    if filters.kind != "all":
        masks.append(catalogue.single == (filters.kind == "single"))
    if filters.set is not None:
        masks.append(np.logical_or.reduce([catalogue.set == row for row in _set_rows(catalogue, filters.set)]))
    if filters.number is not None:
        masks.append(_equal(catalogue.number, catalogue.numbers, filters.number))
    if filters.rarity is not None:
        masks.append(_equal(catalogue.rarity, catalogue.rarities, filters.rarity))
    masks += [catalogue.vocabulary.mask(word) for word in filters.words]
    found: np.ndarray = masks[0] if len(masks) == 1 else masks[0] & masks[1]
    for mask in masks[2:]:
        found &= mask
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


def _equal(codes: np.ndarray, values: dict[str, int], text: str) -> np.ndarray:
    # '' stands for products without a value. No filter finds them.
    return codes == values[text] if text and text in values else np.zeros(len(codes), bool)
