"""The facets of a search as JSON: how many of the products that match are of each kind, rarity, game and set."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from edge_auth.builds.bodies import dumps
from edge_auth.builds.catalogue import Catalogue
from edge_auth.builds.sorts import DEFAULT_SORT
from edge_auth.search.facet_counts import Counts, FacetCounts, Groups

_MOST = 100  # entries of a list
_LEAST_STORED = 1 / 64  # of all products


class Facets:
    """The facets of a catalogue.

    Args:
        spellings: The spelling of each key of the filters `rarity` and `game`.
        set_names: The names of sets by id.

    Attributes:
        stored: The facets of searches with one filter that find many products, by its name and key; ("kind", "all")
            for no filter.
    """

    def __init__(self, catalogue: Catalogue, spellings: Mapping[str, Mapping[str, str]], set_names: Mapping[int, str]):
        set_ids = catalogue.set_ids.tolist()
        self._sets = _Entries([*(_set_head(id_, set_names.get(id_)) for id_ in set_ids), _set_head(None, None)])
        games, rarities = spellings["game"], spellings["rarity"]
        self._kinds = _value_entries(["sealed", "single"])
        self._games, self._rarities = _value_entries(games.values()), _value_entries(rarities.values())
        self._sets_by_game = Groups(_places([*(catalogue.set_games or ()), None], games), len(self._games))
        column = catalogue.texts["rarity"]
        rarity = _places(list(column.code_of), rarities).astype(np.min_scalar_type(len(rarities)))[column.codes]
        priced = catalogue.order[DEFAULT_SORT][: catalogue.counts.keyed["all"][DEFAULT_SORT]]
        sizes = len(self._sets), len(self._rarities)
        self._counts = FacetCounts(catalogue.set, rarity, catalogue.single, *sizes, priced)
        largest = np.bincount(catalogue.set, minlength=1).max()
        self._type_of_sets = np.min_scalar_type(int(largest))
        self.stored = {filter_: self.of_mask(mask) for filter_, mask in _frequent_searches(catalogue)}

    def of_mask(self, mask: np.ndarray) -> bytes:
        """Return the facets of the products that match: bool, by ordinal."""
        return self._text(self._counts.of_mask(mask))

    def of_few(self, products: np.ndarray) -> bytes:
        """Return the facets of some products, in any order."""
        return self._text(self._counts.of_few(products))

    def of_ranks(self, ranks: slice) -> bytes:
        """Return the facets of the products in a range of the default sort, all of which have a price."""
        return self._text(self._counts.of_ranks(ranks.start, ranks.stop))

    def _text(self, counts: Counts) -> bytes:
        of_games = self._sets_by_game.sums(counts.of_sets).tolist()
        products = sum(of_games)
        return b'{"products":%d,"kinds":[%b],"rarities":[%b],"games":[%b],"sets":[%b]}\n' % (
            products,
            self._kinds.most_first([products - counts.singles, counts.singles, 0]),
            self._rarities.most_first(counts.of_rarities.tolist()),
            self._games.most_first(of_games),
            self._text_of_sets(counts.of_sets),
        )

    def _text_of_sets(self, of_sets: np.ndarray) -> bytes:
        """Return the entries of the sets. There are many, so numpy sorts them, which takes least for small numbers."""
        known = of_sets[:-1]
        places = (~known.astype(self._type_of_sets)).argsort(kind="stable")[:_MOST]
        return self._sets.text(places.tolist(), known[places].tolist(), int(of_sets[-1]))


class _Entries:
    """The entries of a list as JSON, without their numbers of products.

    Args:
        heads: In the order of entries with equal numbers. The last one is that of no value.
    """

    def __init__(self, heads: Sequence[bytes]):
        self._forms = [head.replace(b"%", b"%%") + b"%d}" for head in heads]

    def __len__(self) -> int:
        return len(self._forms)

    def most_first(self, products: Sequence[int]) -> bytes:
        """Return the entries that have products, most first; no value is last."""
        places = sorted(range(len(products) - 1), key=products.__getitem__, reverse=True)
        return self.text(places, [products[place] for place in places], products[-1])

    def text(self, places: Sequence[int], numbers: Sequence[int], without: int) -> bytes:
        """Return the first entries of those at some places that have products, and the last entry if it has any.

        Args:
            numbers: The numbers of products at the places, most first.
            without: The number of products of the last entry.
        """
        shown = [number for number in numbers if number][: _MOST - (without > 0)]
        forms = [self._forms[place] for place in places[: len(shown)]]
        if without:
            forms.append(self._forms[-1])
            shown.append(without)
        return b",".join(forms) % tuple(shown)


def _frequent_searches(catalogue: Catalogue) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """Yield the searches with one filter that find many products: the filter's name and key, and a mask."""
    yield ("kind", "all"), np.ones(len(catalogue.ids), bool)
    yield ("kind", "single"), catalogue.single
    yield ("kind", "sealed"), ~catalogue.single
    yield from ((("q", letter), catalogue.vocabulary.mask(letter)) for letter in catalogue.vocabulary.letters)
    for name in ("game", "rarity"):
        column = catalogue.texts[name]
        sizes = np.bincount(column.codes, minlength=len(column.code_of))
        frequent = sizes >= max(1, len(catalogue.ids) * _LEAST_STORED)
        yield from (((name, key), column.mask(key)) for key, code in column.code_of.items() if key and frequent[code])


def _value_entries(values: Iterable[str]) -> _Entries:
    return _Entries([b'{"value":%b,"products":' % dumps(value) for value in [*sorted(values), None]])


def _set_head(id_: int | None, name: str | None) -> bytes:
    return b'{"id":%b,"name":%b,"products":' % (dumps(id_), dumps(name))


def _places(keys: Sequence[str | None], spellings: Mapping[str, str]) -> np.ndarray:
    """Return the places of some keys in the list of values. One without a spelling stands for no value."""
    place_of = {spelling: place for place, spelling in enumerate(sorted(spellings.values()))}
    return np.array([place_of.get(spellings.get(key or "", ""), len(place_of)) for key in keys], np.intp)
