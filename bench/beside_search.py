"""Times /facets and sort=match beside the search with the same filters; `bench.shim` runs this on a core of its own.

As in `in_shim`, the application is called without a server, and each query is sent once per fresh application. CPU time
counts. Prints for each encoding, endpoint and kind of search the microseconds of the search, of the other request, and
their ratio, each the median of some rounds.
"""

import json
import os
import random
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

import pyarrow.parquet as pq

from bench.cases import API, new_words
from bench.in_shim import time_request
from edge_auth.api.flask_app import Settings
from edge_auth.live.log import Log
from edge_auth.serve.app import make_app
from generator.storage.catalogue import MATCH_SORT

_ROUNDS = 5
_MOST = 60  # searches of a kind
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
Filters = dict[str, object]


def searches(lake: Path) -> dict[str, list[Filters]]:
    """Return searches by what they are: their filters. Each that has a `q` is also sorted by match."""
    table = pq.read_table(lake / "products.parquet", columns=["name", "rarity", "id_expansion"]).to_pydict()
    games = pq.read_table(lake / "expansions.parquet", columns=["game"])["game"].unique().to_pylist()
    pairs, rng = new_words(table["name"], 2 * _MOST), random.Random(6)
    prices = [round(rng.uniform(0.02, 5), 2) for _ in range(_MOST)]
    kinds: dict[str, Iterable[Filters]] = {
        "two words": ({"q": " ".join(pair)} for pair in pairs[:_MOST]),
        "one word": ({"q": first} for first, _ in pairs[_MOST:]),
        "one letter": ({"q": letter} for letter in _LETTERS),
        "set": ({"set": id_} for id_ in _different(table["id_expansion"])),
        "rarity": ({"rarity": rarity} for rarity in _different(table["rarity"])),
        "game": ({"game": game} for game in filter(None, games)),
        "kind": ({"kind": kind} for kind in ("single", "sealed")),
        "prices": ({"min_price": low, "max_price": round(low * rng.uniform(1, 20), 2)} for low in prices),
        "letter, kind and price": (
            {"q": q, "kind": "single", "min_price": low} for q, low in zip(_LETTERS, prices, strict=False)
        ),
        "no filter": [{}],
    }
    return {kind: list(filters) for kind, filters in kinds.items()}


def _different(values: list[Any]) -> list[Any]:
    return [value for value in dict.fromkeys(values) if value is not None][:_MOST]


def measure(
    settings: Settings, key: str, kinds: dict[str, list[Filters]], encoding: str
) -> dict[str, dict[str, list[float]]]:
    """Return the figures of one encoding: by endpoint and kind of search."""
    times: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(_ROUNDS):
        application = make_app(settings, Log(os.open(os.devnull, os.O_WRONLY))).wsgi_app
        time_request(application, f"{API}/me", key, encoding)
        for kind, filters in kinds.items():
            took = [_ask(application, key, encoding, one) for one in filters]
            for name in took[0]:
                pair = median(one["search"] for one in took), median(one[name] for one in took)
                times.setdefault((name, kind), []).append(pair)
    found: dict[str, dict[str, list[float]]] = {}
    for (name, kind), pairs in times.items():
        if name != "search":
            figures = [median(pair[place] for pair in pairs) for place in (0, 1)]
            found.setdefault(name, {})[kind] = [*figures, median(other / search for search, other in pairs)]
    return found


def _ask(application: Any, key: str, encoding: str, filters: Filters) -> dict[str, float]:
    """Send a search and what is measured beside it. Return the microseconds of each."""
    targets = {"search": ("cards", filters), "facets": ("facets", filters)}
    if "q" in filters:
        targets["match"] = "cards", filters | {"sort": MATCH_SORT}
    return {
        name: 1000 * time_request(application, f"{API}/{path}?{urlencode(query)}", key, encoding, time.thread_time)
        for name, (path, query) in targets.items()
    }


def main(store: str, lake: str, key: str, state: str) -> None:
    """Measure in both encodings."""
    settings, kinds = Settings(store=store, state=state), searches(Path(lake))
    print(json.dumps({encoding: measure(settings, key, kinds, encoding) for encoding in ("identity", "gzip")}))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
