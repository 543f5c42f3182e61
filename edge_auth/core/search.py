"""The catalogue search: filters and sorts over the columns of a build, windows over its rankings."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from edge_auth.contract import names
from edge_auth.contract.catalogue import Catalogue
from edge_auth.contract.text import composed, fold, number_filter_key, words
from edge_auth.core.open_build import OpenBuild
from edge_auth.errors import NotFound

_MOST_ID_DIGITS = 18
# So many are sorted by their ranks; of more, the ranking is read until the window is full.
_FEW = 1000
_FIRST_PIECE = 512


class Filters(NamedTuple):
    """What a search leaves out; None: no such filter."""

    words: tuple[str, ...] = ()
    set: str | None = None
    number: str | None = None
    rarity: str | None = None
    kind: str = "all"


class Search(NamedTuple):
    """A search without its window. `reverse` is against the sort's default order."""

    filters: Filters
    sort: str
    reverse: bool


class Page(NamedTuple):
    """A window of a search: ordinals of its products, and how many the whole search finds."""

    ordinals: np.ndarray
    total: int


def search(values: dict) -> Search:
    """The search that the parameters of /cards ask for; those that mean the same are equal."""
    sort = values["sort"]
    default_order = "asc" if sort in names.ASCENDING_BY_DEFAULT else "desc"
    filters = Filters(
        words=tuple(sorted(set(words(values["q"] or "")))),
        set=values["set"] and composed(values["set"]),
        number=values["number"] and number_filter_key(values["number"]),
        rarity=values["rarity"] and fold(values["rarity"]),
        kind=values["kind"],
    )
    return Search(filters, sort, reverse=values["order"] not in (None, default_order))


def page(opened: OpenBuild, asked: Search, offset: int, limit: int) -> Page:
    """A window of a search.

    Raises:
        NotFound: the search names a set that is not there.
    """
    catalogue = opened.catalogue
    ranking = _ranking(catalogue, asked)
    if asked.filters == Filters():
        return Page(_cut(ranking, offset, limit), len(catalogue.ids))
    if offset:  # who reads on will read further
        found = opened.cached(
            ("found", asked), lambda: _found(catalogue, asked, ranking), lambda made: made.nbytes + 500
        )
        return Page(found[offset : offset + limit], len(found))
    mask = _mask(catalogue, asked.filters)
    total = int(np.count_nonzero(mask))
    if total <= _FEW:
        return Page(_in_order(catalogue, asked, np.flatnonzero(mask))[:limit], total)
    return Page(_scan(ranking, mask, min(limit, total))[:limit], total)


def _found(catalogue: Catalogue, asked: Search, ranking: list[np.ndarray]) -> np.ndarray:
    """All that a search finds, in its order."""
    mask = _mask(catalogue, asked.filters)
    return np.concatenate([piece[mask[piece]] for piece in ranking])


def _ranking(catalogue: Catalogue, asked: Search) -> list[np.ndarray]:
    """All ordinals in the order of a search, in pieces: those without a key come last in either order."""
    order = catalogue.order[asked.sort]
    keyed = catalogue.counts.keyed["all"][asked.sort]
    return [order[:keyed][::-1], order[keyed:]] if asked.reverse else [order]


def _cut(ranking: list[np.ndarray], offset: int, limit: int) -> np.ndarray:
    cuts = []
    for piece in ranking:
        cuts.append(piece[offset : offset + limit])
        limit -= len(cuts[-1])
        offset = max(0, offset - len(piece))
    return np.concatenate(cuts)


def _in_order(catalogue: Catalogue, asked: Search, found: np.ndarray) -> np.ndarray:
    places = catalogue.rank[asked.sort][found].astype(np.int64)
    if asked.reverse:
        keyed = catalogue.counts.keyed["all"][asked.sort]
        places = np.where(places < keyed, -places, places)
    return found[np.argsort(places)]


def _scan(ranking: list[np.ndarray], mask: np.ndarray, wanted: int) -> np.ndarray:
    """The first of a ranking that are in a mask, as many as wanted or more."""
    hits: list[np.ndarray] = []
    for piece in _growing(ranking):
        hits.append(piece[mask[piece]])
        wanted -= len(hits[-1])
        if wanted <= 0:
            break
    return np.concatenate(hits)


def _growing(ranking: list[np.ndarray]) -> Iterator[np.ndarray]:
    """A ranking in pieces, each twice as long as the one before."""
    for part in ranking:
        start, size = 0, _FIRST_PIECE
        while start < len(part):
            yield part[start : start + size]
            start, size = start + size, size * 2


def _mask(catalogue: Catalogue, filters: Filters) -> np.ndarray:
    """Which products, by ordinal, a search finds: an array of bool."""
    masks = []
    if filters.kind != "all":
        masks.append(catalogue.single == (filters.kind == "single"))
    if filters.set is not None:
        masks.append(np.logical_or.reduce([catalogue.set == place for place in _sets(catalogue, filters.set)]))
    if filters.number is not None:
        masks.append(_equal(catalogue.number, catalogue.numbers, filters.number))
    if filters.rarity is not None:
        masks.append(_equal(catalogue.rarity, catalogue.rarities, filters.rarity))
    masks += [catalogue.vocabulary.mask(word) for word in filters.words]
    found = masks[0] if len(masks) == 1 else masks[0] & masks[1]
    for mask in masks[2:]:
        found &= mask
    return found


def _sets(catalogue: Catalogue, asked: str) -> list[int]:
    """Places of the sets that an id or an exact name means; an id that is none may still be a name."""
    if asked.isascii() and asked.isdigit() and len(asked.lstrip("0")) <= _MOST_ID_DIGITS:
        place = int(np.searchsorted(catalogue.set_ids, np.int64(asked.lstrip("0") or 0)))
        if place < len(catalogue.set_ids) and catalogue.set_ids[place] == int(asked.lstrip("0") or 0):
            return [place]
    places = [place for place, name in enumerate(catalogue.set_names) if name == asked]
    if not places:
        raise NotFound("there is no set with this id or exact name")
    return places


def _equal(codes: np.ndarray, values: dict[str, int], wanted: str) -> np.ndarray:
    # '' stands for products without a value, which no filter finds.
    return codes == values[wanted] if wanted and wanted in values else np.zeros(len(codes), bool)
