"""The catalogue search: filters and sorts over the columns of a build, windows over its lists and rows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from edge_auth.contract import names, pages
from edge_auth.contract.catalogue import Columns
from edge_auth.contract.text import composed, fold, number_filter_key, words
from edge_auth.errors import NotFound
from edge_auth.library import Opened

_MOST_ID_DIGITS = 18


class Search(NamedTuple):
    """A search without its window; None: no such filter. `reverse` is against the sort's default order."""

    words: tuple[str, ...]
    set: str | None
    number: str | None
    rarity: str | None
    kind: str
    sort: str
    reverse: bool

    @property
    def filtered(self) -> bool:
        return bool(self.words) or (self.set, self.number, self.rarity) != (None, None, None)


def search(values: dict) -> Search:
    """The search that the parameters of /cards ask for; those that mean the same are equal."""
    sort = values["sort"]
    default_order = "asc" if sort in names.ASCENDING_BY_DEFAULT else "desc"
    return Search(
        words=tuple(sorted(set(words(values["q"] or "")))),
        set=values["set"] and composed(values["set"]),
        number=values["number"] and number_filter_key(values["number"]),
        rarity=values["rarity"] and fold(values["rarity"]),
        kind=values["kind"],
        sort=sort,
        reverse=values["order"] not in (None, default_order),
    )


def window(opened: Opened, asked: Search, offset: int, limit: int) -> tuple[list[bytes], int]:
    """The Cards in a window of a search, one JSON line each, and how many the whole search has.

    Raises:
        NotFound: the search names a set that is not there.
    """
    if not asked.filtered:
        return _listed(opened, asked, offset, limit)
    ordinals = opened.kept(asked, lambda: matching(opened.columns, asked), lambda found: found.nbytes + 500)
    return _rows(opened, ordinals[offset : offset + limit]), len(ordinals)


def matching(columns: Columns, asked: Search) -> np.ndarray:
    """Ordinals of the products that a search finds, in its order."""
    mask = _mask(columns, asked)
    order, rank = columns.order[asked.sort], columns.rank[asked.sort]
    found = np.flatnonzero(mask)
    # A few are sorted by their ranks; of many, the whole order is filtered.
    ordinals = found[np.argsort(rank[found])] if len(found) * 8 < len(mask) else order[mask[order]]
    if asked.reverse:
        keyed = int(np.count_nonzero(rank[ordinals] < columns.counts.keyed["all"][asked.sort]))
        ordinals = np.concatenate([ordinals[:keyed][::-1], ordinals[keyed:]])
    return ordinals.astype(np.uint32)


def _mask(columns: Columns, asked: Search) -> np.ndarray:
    mask = np.ones(len(columns.ids), bool)
    if asked.kind != "all":
        mask &= columns.single == (asked.kind == "single")
    if asked.set is not None:
        mask &= np.isin(columns.set, _sets(columns, asked.set))
    if asked.number is not None:
        mask &= _equal(columns.number, columns.numbers, asked.number)
    if asked.rarity is not None:
        mask &= _equal(columns.rarity, columns.rarities, asked.rarity)
    for word in asked.words:
        mask &= _with_word(columns, word)
    return mask


def _sets(columns: Columns, asked: str) -> list[int]:
    """Places of the sets that an id or an exact name means; an id that is none may still be a name."""
    if asked.isascii() and asked.isdigit() and len(asked.lstrip("0")) <= _MOST_ID_DIGITS:
        place = int(np.searchsorted(columns.set_ids, np.int64(asked.lstrip("0") or 0)))
        if place < len(columns.set_ids) and columns.set_ids[place] == int(asked.lstrip("0") or 0):
            return [place]
    places = [place for place, name in enumerate(columns.set_names) if name == asked]
    if not places:
        raise NotFound("there is no set with this id or exact name")
    return places


def _equal(codes: np.ndarray, values: dict[str, int], wanted: str) -> np.ndarray:
    # '' stands for products without a value, which no filter finds.
    return codes == values[wanted] if wanted and wanted in values else np.zeros(len(codes), bool)


def _with_word(columns: Columns, word: str) -> np.ndarray:
    """Which products have a name with a word that holds this one."""
    found = np.flatnonzero(pc.match_substring(columns.words, word).to_numpy(zero_copy_only=False))
    starts, lengths = columns.postings_start[found], np.diff(columns.postings_start)[found]
    # Positions of all their postings at once: each list's start, and a running number within the list.
    before = np.cumsum(lengths) - lengths
    positions = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    mask = np.zeros(len(columns.ids), bool)
    mask[columns.postings[positions]] = True
    return mask


def _listed(opened: Opened, asked: Search, offset: int, limit: int) -> tuple[list[bytes], int]:
    """A window of a whole ranking, from its ready pages; the other order reads the same pages backwards."""
    counts = opened.columns.counts
    total, keyed = counts.products[asked.kind], counts.keyed[asked.kind][asked.sort]
    places: Sequence[int] = range(offset, min(offset + limit, total))
    if asked.reverse:
        places = [keyed - 1 - place if place < keyed else place for place in places]
    numbers = sorted({place // pages.CARDS_PER_PAGE for place in places})
    read = opened.read_all([names.list_page(asked.kind, asked.sort, number) for number in numbers])
    cards = {number: pages.split_page(page) for number, page in zip(numbers, read, strict=True)}
    return [cards[place // pages.CARDS_PER_PAGE][place % pages.CARDS_PER_PAGE] for place in places], total


def _rows(opened: Opened, ordinals: np.ndarray) -> list[bytes]:
    layer = opened.build.layers[names.CATALOGUE]
    index = layer.index
    positions = index.positions(opened.columns.ids[ordinals])
    return [layer.read(index.entry(position)).rstrip(b"\n") for position in positions]
