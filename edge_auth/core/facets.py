"""The facets of a search: how many of the products that match are of each kind, rarity, game and set.

They are counted on bits, one for each product in the order of the catalogue, 64 to a word. Products have the order of
their sets, so the products of a set lie side by side, and a set has one game. A frequent rarity has bits of its own.
Products of other rarities are looked up one by one: they are few.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from edge_auth.contract.catalogue import Catalogue
from edge_auth.core.bodies import dumps

_MOST = 100  # entries of a list
_WORD_BITS = 64


class Facets:
    """The columns of a catalogue in the form in which facets are counted.

    Args:
        spellings: The spelling of each key of the filters `rarity` and `game`.
        set_names: The names of sets by id.
    """

    def __init__(self, catalogue: Catalogue, spellings: Mapping[str, Mapping[str, str]], set_names: Mapping[int, str]):
        self._words = len(catalogue.ids) // _WORD_BITS + 1
        self._single = self._bits(catalogue.single)
        starts = np.searchsorted(catalogue.set, np.arange(len(catalogue.set_ids) + 2))
        self._start_word, bit = np.divmod(starts, _WORD_BITS)
        self._before_start = (np.uint64(1) << bit.astype(np.uint64)) - np.uint64(1)
        self._set_heads = [_set_head(id_, set_names.get(id_)) for id_ in catalogue.set_ids.tolist()]
        self._set_heads.append(_set_head(None, None))
        self._kind_heads = _value_heads(["sealed", "single"])
        games, rarities = spellings["game"], spellings["rarity"]
        self._game_heads, self._rarity_heads = _value_heads(games.values()), _value_heads(rarities.values())
        self._game_of_set = _places([*(catalogue.set_games or ()), None], games)
        column = catalogue.texts["rarity"]
        self._split_rarities(_places(list(column.code_of), rarities)[column.codes])

    def _split_rarities(self, places: np.ndarray) -> None:
        """Keep the rarities of the products, given by their places in the list: bits of the frequent, and the rest."""
        sizes = np.bincount(places, minlength=len(self._rarity_heads))
        frequent = sizes >= self._words
        self._frequent = np.flatnonzero(frequent)
        self._bits_of_frequent = np.array([self._bits(places == place) for place in self._frequent], np.uint64)
        self._bits_of_frequent = self._bits_of_frequent.reshape(-1, self._words)
        self._rest = np.flatnonzero(~frequent[places])
        self._places_of_rest = places[self._rest]

    def count(self, mask: np.ndarray) -> bytes:
        """Return the facets of the products that match, as JSON.

        Args:
            mask: Whether each product matches: bool, by ordinal.
        """
        words = self._bits(mask)
        of_sets = self._of_sets(words)
        products, singles = int(of_sets.sum()), int(np.bitwise_count(words & self._single).sum())
        of_games = np.bincount(self._game_of_set, of_sets, len(self._game_heads)).astype(np.int64)
        lists = {
            "kinds": _entries(self._kind_heads, np.array([products - singles, singles, 0])),
            "rarities": _entries(self._rarity_heads, self._of_rarities(mask, words)),
            "games": _entries(self._game_heads, of_games),
            "sets": _entries(self._set_heads, of_sets),
        }
        members = ",".join(f'"{name}":[{entries}]' for name, entries in lists.items())
        return f'{{"products":{products},{members}}}\n'.encode()

    def _bits(self, mask: np.ndarray) -> np.ndarray:
        packed = np.zeros(self._words * _WORD_BITS // 8, np.uint8)
        packed[: -(-len(mask) // 8)] = np.packbits(mask, bitorder="little")
        return packed.view("<u8")

    def _of_sets(self, words: np.ndarray) -> np.ndarray:
        """Return the number of products of each set, and of those without one."""
        before_word = np.zeros(self._words, np.int64)
        np.cumsum(np.bitwise_count(words[:-1]), out=before_word[1:])
        in_word = np.bitwise_count(words.take(self._start_word) & self._before_start)
        return np.diff(before_word.take(self._start_word) + in_word)

    def _of_rarities(self, mask: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Return the number of products of each rarity, and of those without one."""
        counts = np.bincount(self._places_of_rest.compress(mask.take(self._rest)), minlength=len(self._rarity_heads))
        counts[self._frequent] = np.bitwise_count(self._bits_of_frequent & words).sum(axis=1, dtype=np.uint32)
        return counts


def _value_heads(values: Iterable[str]) -> list[str]:
    """Return the entries of the values without their numbers, in the order of the values; no value is last."""
    return [f'{{"value":{dumps(value).decode()},"products":' for value in [*sorted(values), None]]


def _set_head(id_: int | None, name: str | None) -> str:
    return f'{{"id":{dumps(id_).decode()},"name":{dumps(name).decode()},"products":'


def _places(keys: Sequence[str | None], spellings: Mapping[str, str]) -> np.ndarray:
    """Return the places of some keys in the list of values. One without a spelling stands for no value."""
    place_of = {spelling: place for place, spelling in enumerate(sorted(spellings.values()))}
    return np.array([place_of.get(spellings.get(key or "", ""), len(place_of)) for key in keys], np.intp)


def _entries(heads: Sequence[str], counts: np.ndarray) -> str:
    """Return the entries of a list as JSON, most products first, then in the order of the heads; no value is last."""
    known, without = counts[:-1], int(counts[-1])
    occurring = np.flatnonzero(known)
    places = occurring[np.argsort(-known[occurring], kind="stable")][: _MOST - (without > 0)]
    found = [*zip(places.tolist(), known[places].tolist(), strict=True), *([(-1, without)] if without else ())]
    return ",".join([f"{heads[place]}{products}}}" for place, products in found])
