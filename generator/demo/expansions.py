"""The table `expansions`: a fixed list of awkward names, then as many plain ones as the catalogue needs."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from generator.demo.columns import url_words
from generator.demo.draw import Integers, by_weight, draw, field
from generator.demo.words import GAMES, SET_NAMES

_FIRST_ID = 1203
_NAMED_LIKE_AN_ID = "1217"  # the id of the third expansion, which a filter by this text must find instead
_AWKWARD: list[tuple[str, str | None]] = [
    ("Ember Court", GAMES[0]),
    ("Ember Court 2", GAMES[0]),
    ("Return to Ember Court", GAMES[0]),
    ("ember court", GAMES[1]),
    ("151", GAMES[0]),
    (_NAMED_LIKE_AN_ID, GAMES[0]),
    ("Twin Eclipse", GAMES[0]),
    ("Twin Eclipse", GAMES[0]),
    ("Promos", GAMES[0]),
    ("Promos", GAMES[1]),
    ("Warden's Vigil", GAMES[2]),
    ("Warden’s Vigil", GAMES[2]),
    ("Éclats d’Ébène", GAMES[1]),
    ("Nocturne E\u0301ternel", GAMES[1]),
    ("Über & Unter", GAMES[2]),
    ('"Q" Promos', GAMES[3]),
    ("100% Foil_Promos", GAMES[3]),
    ("HQ—Unbound: The Very Long Road That Leads From the Hollow Harbour to the House of Hours", GAMES[2]),
    ("ねこの森", GAMES[3]),
    ("Q", None),
    ("Unreleased Horizon", GAMES[0]),
]
_WITHOUT_PRODUCTS = len(_AWKWARD) - 1
_MIN_COUNT = 40


class Expansions(NamedTuple):
    """One entry per expansion in each field."""

    ids: Integers  # ascending
    names: pa.Array
    games: pa.Array  # null for one
    codes: pa.Array  # three letters, unique
    weights: Integers  # the share of products that each gets; 0 for one

    @property
    def table(self) -> pa.Table:
        """The table `expansions`. Every 17th has no URL."""
        columns = {"id": pa.array(self.ids), "name": self.names, "game": self.games, "url": self._urls()}
        return pa.table(columns)

    def _urls(self) -> pa.Array:
        pages = zip(url_words(self.games).to_pylist(), url_words(self.names).to_pylist(), strict=True)
        urls = [f"https://market.example/en/{game}/Expansions/{name}" for game, name in pages]
        return pa.array([None if place % 17 == 16 else url for place, url in enumerate(urls)], pa.string())


def make_expansions(seed: int, products: int) -> Expansions:
    """Make about one expansion for 95 products, but at least 40."""
    count = max(_MIN_COUNT, products // 95)
    names, games = _names_and_games(seed, count)
    return Expansions(
        ids=_FIRST_ID + 7 * np.arange(count, dtype=np.int64),
        names=pa.array(names, pa.string()),
        games=pa.array(games, pa.string()),
        codes=pa.array([_code(place) for place in range(count)], pa.string()),
        weights=_weights(count),
    )


def _names_and_games(seed: int, count: int) -> tuple[list[str], list[str | None]]:
    plain = count - len(_AWKWARD)
    words = draw(seed, "expansions", plain)
    start = int(field(words[:1], 32, 16)[0])
    names = [SET_NAMES[(start + 577 * place) % len(SET_NAMES)] for place in range(plain)]
    games = [GAMES[game] for game in by_weight([5, 3, 2, 1], words, 0)]
    return [name for name, _ in _AWKWARD] + names, [game for _, game in _AWKWARD] + games


def _code(place: int) -> str:
    """Return three letters. The step is coprime to 26 ** 3, so the first 17,576 codes differ."""
    number = (place * 7919 + 4242) % 26**3
    return "".join(chr(ord("A") + number // unit % 26) for unit in (676, 26, 1))


def _weights(count: int) -> Integers:
    """Return heavy-tailed weights in a shuffled order, so that awkward expansions have all sizes."""
    rank = np.arange(count, dtype=np.int64) * 37 % count
    weights: Integers = 10**6 // (3 + count // 50 + rank)
    weights[_WITHOUT_PRODUCTS] = 0
    return weights
