"""The serving cases as data: the requests, the servers that take part, and whether requests may repeat."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlencode

import pyarrow.parquet as pq

from bench.crawl import SORTS
from generator.storage.catalogue import KINDS
from generator.storage.text import fold

API = "/api/v1"
_RARITIES = ("Common", "Uncommon", "Rare", "Holo Rare", "Double Rare", "Ultra Rare", "Secret Rare", "Promo")


@dataclass(frozen=True)
class TargetData:
    """The values from which request targets are made.

    Attributes:
        names: Folded names of all products.
        details: Ids of the products whose history the peers have too.
        slugs: Slugs of the watchlist, percent-encoded.
        set: Id of an expansion.
    """

    names: list[str]
    details: list[int]
    slugs: list[str]
    set: int


@dataclass(frozen=True)
class Case:
    """A kind of request.

    Attributes:
        name: Its name in goals and reports.
        group: The servers that offer this group take part.
        targets: Returns the request targets, in a random order.
        fresh: No request repeats an earlier one in the life of a server. A server that caches answers is started again
            for each measurement.
        check: The answers of all servers are compared before they are timed.
        turns: How often each server is measured in a round. Answers of 20 µs need more turns for the same certainty.
    """

    name: str
    group: str
    targets: Callable[[TargetData], list[str]]
    fresh: bool = False
    check: bool = True
    turns: int = 1


def target_data(folder: Path, lake: Path) -> TargetData:
    """Read the values from the peers' data in a folder and from a lake."""
    cards = pq.read_table(folder / "cards.parquet", columns=["name_key", "set_id"]).to_pydict()
    details = pq.read_table(folder / "price_guide.parquet", columns=["id"])["id"].unique().to_pylist()
    slugs = pq.read_table(lake / "watchlist.parquet", columns=["slug"])["slug"].to_pylist()
    return TargetData(
        cards["name_key"],
        details,
        [quote(slug, safe="") for slug in slugs],
        next(id_ for id_ in cards["set_id"] if id_ is not None),
    )


def cards(**parameters: object) -> str:
    """Return a target of the catalogue search."""
    return f"{API}/cards?{urlencode(parameters)}" if parameters else f"{API}/cards"


def new_words(names: list[str], most: int = 20_000) -> list[tuple[str, str]]:
    """Return pairs of words that occur in one name. The words are pieces of 3 letters or more; none occurs twice."""
    rng, pieces = random.Random(2), _UnusedPieces(random.Random(1))
    pairs = []
    for name in rng.sample(names, len(names)):
        words = fold(name).split()
        found = list(islice(filter(None, map(pieces.take, dict.fromkeys(words))), 2))
        found += filter(None, map(pieces.take, words if len(found) == 1 else []))
        if len(found) > 1:
            pairs.append((found[0], found[1]))
        if len(pairs) == most:
            break
    return pairs


class _UnusedPieces:
    """Pieces of words, each of which is returned once."""

    def __init__(self, rng: random.Random):
        self._rng = rng
        self._remaining: dict[str, list[str]] = {}
        self._used: set[str] = set()

    def take(self, word: str) -> str | None:
        """Return a piece of this word that was not returned before, or None."""
        if word not in self._remaining:
            every = {word[i:j] for i in range(len(word) - 2) for j in range(i + 3, len(word) + 1)}
            self._remaining[word] = self._rng.sample(sorted(every), len(every))
        remaining = self._remaining[word]
        while remaining:
            piece = remaining.pop()
            if piece not in self._used:
                self._used.add(piece)
                return piece
        return None


def _shuffled(targets: list[str]) -> list[str]:
    return random.Random(3).sample(targets, len(targets))


def _deep_offset(data: TargetData) -> int:
    return len(data.names) * 9 // 10


def _one_letter(_: TargetData) -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    return _shuffled([cards(q=q, sort=sort, kind=kind) for q in letters for sort in SORTS for kind in KINDS])


def _filters(pages: int) -> Callable[[TargetData], list[str]]:
    def targets(_: TargetData) -> list[str]:
        return _shuffled(
            [
                cards(rarity=rarity, kind="single", sort=sort, offset=50 * page)
                for rarity in _RARITIES
                for sort in SORTS
                for page in range(pages)
            ]
        )

    return targets


def _details(**parameters: object) -> Callable[[TargetData], list[str]]:
    query = f"?{urlencode(parameters)}" if parameters else ""
    return lambda data: _shuffled([f"{API}/cards/{id_}{query}" for id_ in data.details])


def _by_ids(path: str) -> Callable[[TargetData], list[str]]:
    """Return requests of 100 products by id, no two for the same products."""

    def targets(data: TargetData) -> list[str]:
        rng = random.Random(5)
        samples = (rng.sample(data.details, min(100, len(data.details))) for _ in range(2000))
        return [f"{API}/{path}?ids={','.join(map(str, ids))}" for ids in samples]

    return targets


def _slug(rest: str = "") -> Callable[[TargetData], list[str]]:
    return lambda data: [f"{API}/watchlist/{slug}{rest}" for slug in data.slugs]


def _same(target: str) -> Callable[[TargetData], list[str]]:
    return lambda _: [target]


CASES = (
    Case("default list page", "lists", _same(cards())),
    Case("page at 90 %", "deep", lambda data: [cards(offset=_deep_offset(data))]),
    Case("pages about 90 %, new", "deep", lambda data: _shuffled(
        [cards(offset=_deep_offset(data) - n, sort=sort) for n in range(2000) for sort in SORTS]), fresh=True),
    Case("two words, new", "words", lambda data: [cards(q=" ".join(w)) for w in new_words(data.names)], fresh=True),
    Case("one letter, new", "lists", _one_letter, fresh=True),
    Case("rarity + kind + sort", "lists", _filters(1)),
    Case("rarity + kind + sort, new", "lists", _filters(10), fresh=True),
    Case("card detail", "details", _details()),
    Case("card detail, days=30", "details", _details(days=30)),
    Case("first cards/{id}", "endpoints", _details(), fresh=True, check=False),
    Case("100 Cards by id, new", "endpoints", _by_ids("cards"), fresh=True, check=False),
    Case("100 series, new", "endpoints", _by_ids("series"), fresh=True, check=False),
    Case("nothing", "floor", _same(f"{API}/me"), check=False),
    Case("page", "page", _same(cards()), check=False, turns=3),
    Case("page, card detail", "page", lambda data: [f"{API}/cards/{data.details[0]}"], check=False, turns=3),
    Case("page, watchlist item", "page", lambda data: [f"{API}/watchlist/{data.slugs[0]}"], check=False, turns=3),
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
            "cards?set=": lambda data: [cards(set=data.set)],
            "cards/{id}": _details(),
            "sets": _same(f"{API}/sets"),
            "sets?q=": _same(f"{API}/sets?q=a"),
            "fingerprints": _same(f"{API}/fingerprints"),
        }.items()
    ),
)  # fmt: skip


def mix(data: TargetData, many: int = 4000) -> list[str]:
    """Return requests to all endpoints as clients may use them: mostly lists and details. No search word repeats."""
    rng, words = random.Random(4), iter(new_words(data.names))
    weights: list[tuple[int, Callable[[], str]]] = [
        (20, lambda: cards(offset=50 * rng.randrange(20))),
        (5, lambda: cards(offset=rng.randrange(len(data.names)))),
        (15, lambda: cards(q=" ".join(next(words)))),
        (5, lambda: cards(q=rng.choice("abcdefghij"), sort=rng.choice(SORTS))),
        (10, lambda: cards(rarity=rng.choice(_RARITIES), kind="single", sort=rng.choice(SORTS))),
        (20, lambda: f"{API}/cards/{rng.choice(data.details)}"),
        (5, lambda: f"{API}/cards/{rng.choice(data.details)}?days=30"),
        (5, lambda: f"{API}/watchlist"),
        (3, lambda: f"{API}/watchlist/{rng.choice(data.slugs)}"),
        (3, lambda: f"{API}/watchlist/{rng.choice(data.slugs)}/history"),
        (3, lambda: f"{API}/watchlist/{rng.choice(data.slugs)}/offers"),
        (3, lambda: f"{API}/sets"),
        (2, lambda: f"{API}/status"),
        (1, lambda: f"{API}/me"),
    ]
    makers = rng.choices([make for _, make in weights], [weight for weight, _ in weights], k=many)
    return [make() for make in makers]
