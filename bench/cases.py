"""The serving cases, as data: what is asked, of whom, and whether a request may repeat one that was asked before."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlencode

import pyarrow.parquet as pq

from edge_auth.contract.text import fold

API = "/api/v1"
_SORTS = ("trend", "low", "avg", "filtered", "name", "number", "newest")
_KINDS = ("all", "single", "sealed")
_RARITIES = ("Common", "Uncommon", "Rare", "Holo Rare", "Double Rare", "Ultra Rare", "Secret Rare", "Promo")


@dataclass(frozen=True)
class Facts:
    """What targets are made from.

    Attributes:
        details: ids of products whose history the peers have too.
        slugs: of the watchlist, percent-encoded.
        set: id of an expansion.
    """

    names: list[str]
    details: list[int]
    slugs: list[str]
    set: int


@dataclass(frozen=True)
class Case:
    """A kind of request.

    Attributes:
        name: how goals and reports call it.
        group: which servers take part: those that offer it.
        targets: makes what is asked, in an order without meaning.
        fresh: no request repeats one before in the life of a server, which is started anew for each measurement
            where it keeps answers.
        check: answers of all servers are compared before they are timed.
    """

    name: str
    group: str
    targets: Callable[[Facts], list[str]]
    fresh: bool = False
    check: bool = True


def facts(folder: Path, lake: Path) -> Facts:
    """Of the peers' data in a folder, and a lake."""
    cards = pq.read_table(folder / "cards.parquet", columns=["name_key", "set_id"]).to_pydict()
    details = pq.read_table(folder / "price_guide.parquet", columns=["id"])["id"].unique().to_pylist()
    slugs = pq.read_table(lake / "watchlist.parquet", columns=["slug"])["slug"].to_pylist()
    return Facts(
        cards["name_key"],
        details,
        [quote(slug, safe="") for slug in slugs],
        next(id_ for id_ in cards["set_id"] if id_ is not None),
    )


def cards(**parameters: object) -> str:
    """A target of the catalogue search."""
    return f"{API}/cards?{urlencode(parameters)}" if parameters else f"{API}/cards"


def new_words(names: list[str], most: int = 20_000) -> list[tuple[str, str]]:
    """Pairs of words that are found in one name, in which no word comes twice: pieces of 3 letters or more."""
    chance, pieces = random.Random(2), _Pieces(random.Random(1))
    pairs = []
    for name in chance.sample(names, len(names)):
        words = fold(name).split()
        found = list(islice(filter(None, map(pieces.take, dict.fromkeys(words))), 2))
        found += filter(None, map(pieces.take, words if len(found) == 1 else []))
        if len(found) > 1:
            pairs.append((found[0], found[1]))
        if len(pairs) == most:
            break
    return pairs


class _Pieces:
    """Pieces of words, each given once."""

    def __init__(self, chance: random.Random):
        self._chance = chance
        self._left: dict[str, list[str]] = {}
        self._given: set[str] = set()

    def take(self, word: str) -> str | None:
        """A piece of this word that was not given before, or None."""
        if word not in self._left:
            every = {word[i:j] for i in range(len(word) - 2) for j in range(i + 3, len(word) + 1)}
            self._left[word] = self._chance.sample(sorted(every), len(every))
        left = self._left[word]
        while left:
            piece = left.pop()
            if piece not in self._given:
                self._given.add(piece)
                return piece
        return None


def _shuffled(targets: list[str]) -> list[str]:
    return random.Random(3).sample(targets, len(targets))


def _deep(known: Facts) -> int:
    return len(known.names) * 9 // 10


def _one_letter(_: Facts) -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    return _shuffled([cards(q=q, sort=sort, kind=kind) for q in letters for sort in _SORTS for kind in _KINDS])


def _filters(pages: int) -> Callable[[Facts], list[str]]:
    def targets(_: Facts) -> list[str]:
        return _shuffled(
            [
                cards(rarity=rarity, kind="single", sort=sort, offset=50 * page)
                for rarity in _RARITIES
                for sort in _SORTS
                for page in range(pages)
            ]
        )

    return targets


def _details(**parameters: object) -> Callable[[Facts], list[str]]:
    query = f"?{urlencode(parameters)}" if parameters else ""
    return lambda known: _shuffled([f"{API}/cards/{id_}{query}" for id_ in known.details])


def _slug(rest: str = "") -> Callable[[Facts], list[str]]:
    return lambda known: [f"{API}/watchlist/{slug}{rest}" for slug in known.slugs]


def _same(target: str) -> Callable[[Facts], list[str]]:
    return lambda _: [target]


CASES = (
    Case("default list page", "lists", _same(cards())),
    Case("page at 90 %", "deep", lambda known: [cards(offset=_deep(known))]),
    Case("pages about 90 %, new", "deep", lambda known: _shuffled(
        [cards(offset=_deep(known) - n, sort=sort) for n in range(2000) for sort in _SORTS]), fresh=True),
    Case("two words, new", "words", lambda known: [cards(q=" ".join(w)) for w in new_words(known.names)], fresh=True),
    Case("one letter, new", "lists", _one_letter, fresh=True),
    Case("rarity + kind + sort", "lists", _filters(1)),
    Case("rarity + kind + sort, new", "lists", _filters(10), fresh=True),
    Case("card detail", "details", _details()),
    Case("card detail, days=30", "details", _details(days=30)),
    Case("nothing", "floor", _same(f"{API}/me"), check=False),
    Case("page", "page", _same(cards()), check=False),
    *(
        Case(f"endpoint {name}", "endpoints", targets, check=False)
        for name, targets in {
            "me": _same(f"{API}/me"),
            "status": _same(f"{API}/status"),
            "watchlist": _same(f"{API}/watchlist"),
            "watchlist/{slug}": _slug(),
            "watchlist/{slug}/history": _slug("/history"),
            "watchlist/{slug}/offers": _slug("/offers"),
            "cards": _same(cards()),
            "cards?set=": lambda known: [cards(set=known.set)],
            "cards/{id}": _details(),
            "sets": _same(f"{API}/sets"),
            "sets?q=": _same(f"{API}/sets?q=a"),
            "fingerprints": _same(f"{API}/fingerprints"),
        }.items()
    ),
)  # fmt: skip


def mix(known: Facts, many: int = 4000) -> list[str]:
    """All endpoints as clients may use them: lists and details most, words always new."""
    chance, words = random.Random(4), iter(new_words(known.names))
    weights: list[tuple[int, Callable[[], str]]] = [
        (20, lambda: cards(offset=50 * chance.randrange(20))),
        (5, lambda: cards(offset=chance.randrange(len(known.names)))),
        (15, lambda: cards(q=" ".join(next(words)))),
        (5, lambda: cards(q=chance.choice("abcdefghij"), sort=chance.choice(_SORTS))),
        (10, lambda: cards(rarity=chance.choice(_RARITIES), kind="single", sort=chance.choice(_SORTS))),
        (20, lambda: f"{API}/cards/{chance.choice(known.details)}"),
        (5, lambda: f"{API}/cards/{chance.choice(known.details)}?days=30"),
        (5, lambda: f"{API}/watchlist"),
        (3, lambda: f"{API}/watchlist/{chance.choice(known.slugs)}"),
        (3, lambda: f"{API}/watchlist/{chance.choice(known.slugs)}/history"),
        (3, lambda: f"{API}/watchlist/{chance.choice(known.slugs)}/offers"),
        (3, lambda: f"{API}/sets"),
        (2, lambda: f"{API}/status"),
        (1, lambda: f"{API}/me"),
    ]
    makers = chance.choices([make for _, make in weights], [weight for weight, _ in weights], k=many)
    return [make() for make in makers]
