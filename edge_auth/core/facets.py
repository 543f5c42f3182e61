"""The facets of a search: how many of the products that match are of each kind, rarity, game and set.

They are counted from the columns of the search index. Products have the order of their sets, so the products of a set
that match lie side by side, and a set has one game.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from edge_auth.contract.catalogue import Catalogue
from edge_auth.contract.sorts import PRICE_SORTS
from edge_auth.core.open_build import OpenBuild
from edge_auth.core.search import mask_of, read_search

_MOST = 100  # entries of a list


def count_facets(build: OpenBuild, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many products match the filters of /cards, and the lists of their kinds, rarities, games and sets.

    Raises:
        InvalidParameter: The price range is empty.
        NotFound: The filters name an unknown set, or an older version made the build.
    """
    catalogue = build.catalogue
    if catalogue.spellings is None:
        raise build.too_old("facets")
    mask = mask_of(catalogue, read_search(build, {**filters, "sort": PRICE_SORTS[0], "order": None}))
    found = np.flatnonzero(mask)
    products, singles = len(found), int(np.count_nonzero(mask & catalogue.single))
    of_sets = _of_sets(catalogue, found)
    return {
        "products": products,
        "kinds": _values({"single": singles, "sealed": products - singles}),
        "rarities": _values(_spelled(_of_rarities(catalogue, found), catalogue.spellings["rarity"])),
        "games": _values(_spelled(_of_games(catalogue, of_sets), catalogue.spellings["game"])),
        "sets": [
            {"id": id_, "name": build.set_names.get(id_), "products": products}
            for id_, products in _most_first(_by_id(catalogue, of_sets))
        ],
    }


def _of_sets(catalogue: Catalogue, found: np.ndarray) -> dict[int, int]:
    """Return how many of some products, given by ascending ordinals, each set has, by its row."""
    counts = np.diff(np.searchsorted(found, catalogue.set_starts))
    rows = np.flatnonzero(counts)
    return dict(zip(rows.tolist(), counts[rows].tolist(), strict=True))


def _by_id(catalogue: Catalogue, of_sets: Mapping[int, int]) -> dict[int | None, int]:
    ids = [*catalogue.set_ids.tolist(), None]
    return {ids[row]: count for row, count in of_sets.items()}


def _of_games(catalogue: Catalogue, of_sets: Mapping[int, int]) -> dict[str, int]:
    """Return the number of products by folded game, '' for no game."""
    games = [*(catalogue.set_games or ()), None]
    counts: dict[str, int] = {}
    for row, count in of_sets.items():
        game = games[row] or ""
        counts[game] = counts.get(game, 0) + count
    return counts


def _of_rarities(catalogue: Catalogue, found: np.ndarray) -> dict[str, int]:
    """Return the number of products by folded rarity, '' for no rarity."""
    column = catalogue.texts["rarity"]
    counts = np.bincount(column.codes.take(found), minlength=len(column.code_of)).tolist()
    return {text: counts[code] for text, code in column.code_of.items()}


def _spelled(counts: Mapping[str, int], spellings: Mapping[str, str]) -> dict[str | None, int]:
    return {spellings.get(folded): count for folded, count in counts.items()}


def _values(counts: Mapping[Any, int]) -> list[dict[str, Any]]:
    return [{"value": value, "products": products} for value, products in _most_first(counts)]


def _most_first(counts: Mapping[Any, int]) -> list[tuple[Any, int]]:
    """Return the entries of a list, most products first, then by value. Products without a value come last."""
    without = [(None, count) for value, count in counts.items() if value is None and count]
    known = [(value, count) for value, count in counts.items() if value is not None and count]
    known.sort(key=lambda entry: (-entry[1], entry[0]))
    return [*known[: _MOST - len(without)], *without]
