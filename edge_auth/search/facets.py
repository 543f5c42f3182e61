"""The facets of a search as JSON: how many of the products that match are of each kind, rarity, game and set, and what
those cost that have a market price.

Products that match filters are counted on bits, one for each product in the order of the catalogue, 64 to a word.
Products have the order of their sets, so the products of a set lie side by side. Singles and each frequent rarity have
bits of their own. Products of other rarities are looked up one by one.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from generator.storage.bodies import dumps
from generator.storage.catalogue import MARKET_SORT, Catalogue

_MOST = 100  # entries of a list
_WORD_BITS = 64
_TOO_LARGE = 2**63  # for sums of 64-bit integers


class Facets:
    def __init__(self, catalogue: Catalogue, set_names: Mapping[int, str]):
        games, rarities = catalogue.spellings["game"], catalogue.spellings["rarity"]
        heads = [_set_head(id_, set_names.get(id_)) for id_ in catalogue.set_ids.tolist()]
        self._sets = _Entries([*heads, _set_head(None, None)])
        self._kinds = _value_entries(["sealed", "single"])
        self._games = _value_entries(games.values())
        self._rarities = _value_entries(rarities.values())
        self._game_of_set = _places([*catalogue.set_games, None], games)
        self._single = catalogue.single
        column = catalogue.texts["rarity"]
        place_of_code = _places(list(column.code_of), rarities).astype(np.min_scalar_type(len(rarities)))
        self._rarity = place_of_code[column.codes]
        self._cents = _market_prices(catalogue)
        self._prepare_bits(catalogue)

    def _prepare_bits(self, catalogue: Catalogue) -> None:
        """Set what counts a mask: the words where sets start, and the bits of what is counted."""
        self._words = len(catalogue.ids) // _WORD_BITS + 1
        starts = np.append(catalogue.set_starts, len(catalogue.ids))
        self._start_word, bit = np.divmod(starts, _WORD_BITS)
        self._before_start = (np.uint64(1) << bit.astype(np.uint64)) - np.uint64(1)
        sizes = np.bincount(self._rarity, minlength=len(self._rarities))
        self._frequent = np.flatnonzero(sizes >= self._words)
        masks = (self._single, self._cents > 0, *(self._rarity == place for place in self._frequent))
        self._bits = np.array([_bits(mask) for mask in masks])
        self._rest = np.flatnonzero(sizes[self._rarity] < self._words)  # the products of other rarities
        self._rest_rarity = self._rarity[self._rest].astype(np.intp)

    def of_mask(self, mask: np.ndarray) -> bytes:
        """Return the facets of the products that match: bool, by ordinal."""
        bits = _bits(mask)
        singles, priced, *of_frequent = np.bitwise_count(self._bits & bits).sum(axis=1, dtype=np.uint32).tolist()
        rest = self._rest_rarity.compress(mask.take(self._rest))
        of_rarities = np.bincount(rest, minlength=len(self._rarities))
        of_rarities[self._frequent] = of_frequent
        before_word = np.zeros(self._words, np.uint32)
        np.bitwise_count(bits[:-1]).cumsum(out=before_word[1:])
        in_word = np.bitwise_count(bits.take(self._start_word) & self._before_start)
        of_sets = np.diff(before_word.take(self._start_word) + in_word)
        return self._text(of_sets, of_rarities, singles, priced, int(self._cents.compress(mask).sum()))

    def _text(self, of_sets: np.ndarray, of_rarities: np.ndarray, singles: int, priced: int, cents: int) -> bytes:
        of_games = np.bincount(self._game_of_set, of_sets, len(self._games)).astype(np.int64)
        products = int(of_games.sum())
        return b'{"products":%d,"kinds":[%b],"rarities":[%b],"games":[%b],"sets":[%b],"priced":%d,"value":%b}\n' % (
            products,
            self._kinds.most_first(np.array([products - singles, singles, 0])),
            self._rarities.most_first(of_rarities),
            self._games.most_first(of_games),
            self._sets.most_first(of_sets),
            priced,
            (b"%d.%02d" % divmod(cents, 100)).removesuffix(b"0"),  # in the form that other prices have
        )


class _Entries:
    """The entries of a list as JSON, in the order of entries with equal numbers. The last one is that of no value."""

    def __init__(self, heads: Sequence[bytes]):
        self._forms = [head.replace(b"%", b"%%") + b"%d}" for head in heads]

    def __len__(self) -> int:
        return len(self._forms)

    def most_first(self, products: np.ndarray) -> bytes:
        """Return the first entries that have products, most first; no value is last."""
        known, without = products[:-1], int(products[-1])
        small = known.astype(np.min_scalar_type(int(known.max(initial=0))))  # numpy sorts small integers much faster
        places = (~small).argsort(kind="stable")[:_MOST]
        shown = [number for number in known[places].tolist() if number][: _MOST - (without > 0)]
        forms = [self._forms[place] for place in places[: len(shown)].tolist()]
        if without:
            forms.append(self._forms[-1])
            shown.append(without)
        return b",".join(forms) % tuple(shown)


def _market_prices(catalogue: Catalogue) -> np.ndarray:
    """Return the market price of each product in cents, 0 for none: as Python's integers if sums may be too large."""
    prices, cents = catalogue.cents[MARKET_SORT], np.zeros(len(catalogue.ids), np.int64)
    cents[catalogue.order[MARKET_SORT][: len(prices)]] = prices
    is_small = int(cents.max(initial=0)) * len(cents) < _TOO_LARGE
    return cents if is_small else cents.astype(object)


def _bits(mask: np.ndarray) -> np.ndarray:
    packed = np.zeros((len(mask) // _WORD_BITS + 1) * _WORD_BITS // 8, np.uint8)
    packed[: -(-len(mask) // 8)] = np.packbits(mask, bitorder="little")
    return packed.view("<u8")


def _value_entries(values: Iterable[str]) -> _Entries:
    return _Entries([b'{"value":%b,"products":' % dumps(value) for value in [*sorted(values), None]])


def _set_head(id_: int | None, name: str | None) -> bytes:
    return b'{"id":%b,"name":%b,"products":' % (dumps(id_), dumps(name))


def _places(keys: Sequence[str | None], spellings: Mapping[str, str]) -> np.ndarray:
    """Return the places of some keys in the list of values. One without a spelling stands for no value."""
    place_of = {spelling: place for place, spelling in enumerate(sorted(spellings.values()))}
    return np.array([place_of.get(spellings.get(key or "", ""), len(place_of)) for key in keys], np.intp)
