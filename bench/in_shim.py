"""Times searches in a shim without a server; `bench.shim` runs this on a core of its own.

The application is called as granian calls it, with key check, rate limit and gzip. Each query is sent once per fresh
application, so that no part of its answer is cached. Prints the median milliseconds of each query.
"""

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.parquet as pq

from bench.cases import cards, new_words
from edge_auth.api.flask_app import Settings
from edge_auth.live.log import Log
from edge_auth.serve.app import make_app
from generator.storage.catalogue import DEFAULT_SORT, MATCH_SORT, SORTS

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
_REPEATS = 3
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_TREND_AND_MATCH = (DEFAULT_SORT, MATCH_SORT)
_GAME = "Mythgrove"  # the largest of the demo


def queries(names: list[str], total: int) -> list[str]:
    """Return targets that may be slow: short words, common filters, many matches, late windows, reverse orders."""
    deep = total * 9 // 10
    return [
        *(cards(q=letter) for letter in _LETTERS),
        *(cards(q=" ".join(pair)) for pair in combinations("aeirno", 2)),
        *(cards(q=" ".join(three)) for three in combinations("aeio", 3)),
        cards(q="a e i o r n t s l"),
        *(cards(q="e", sort=sort, order=order) for sort in SORTS for order in ("asc", "desc")),
        *(cards(q="a", kind="single", rarity="Common", sort=sort) for sort in SORTS),
        *(cards(q=pair) for pair in ("er", "an", "in", "on", "ex", "the", "ing")),
        *(cards(q="e", offset=offset) for offset in (1000, total // 4, total // 2)),
        *(cards(sort=sort, order=order, offset=deep) for sort in SORTS for order in ("asc", "desc")),
        *(cards(rarity="Common", kind=kind, sort=sort) for kind in ("all", "single") for sort in SORTS),
        *(cards(rarity="Common", sort=sort, order="asc", offset=deep // 4) for sort in SORTS),
        *(cards(number=number) for number in ("1", "25", "100")),
        *(cards(min_price="0.5", max_price="20", sort=sort) for sort in SORTS),
        *(cards(max_price="5", rarity="Common", kind="single", sort=sort) for sort in SORTS),
        *(cards(game=_GAME, sort=sort) for sort in SORTS),
        *(cards(game=_GAME, q="e", min_price="1", sort=sort, order="desc") for sort in SORTS),
        *(cards(game=_GAME, min_price="0.02", sort=sort, offset=total // 4) for sort in SORTS),
        *(cards(q=" ".join(words), sort=_TREND_AND_MATCH[n % 2]) for n, words in enumerate(new_words(names, 120))),
        *(cards(q=letter, sort=MATCH_SORT) for letter in _LETTERS),
    ]


def time_request(
    application: Application,
    target: str,
    key: str,
    encoding: str = "gzip",
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Send a request to the application and return the milliseconds of its answer by a clock.

    Raises:
        SystemExit: The answer is not 200.
    """
    path, _, query = target.partition("?")
    environ = {
        "REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": query, "REMOTE_ADDR": "127.0.0.1",
        "HTTP_AUTHORIZATION": f"Bearer {key}", "HTTP_ACCEPT_ENCODING": encoding,
    }  # fmt: skip
    statuses: list[str] = []
    began = clock()
    b"".join(application(environ, lambda status, _: statuses.append(status)))
    took = 1000 * (clock() - began)
    if statuses != ["200 OK"]:
        raise SystemExit(f"{target}: {statuses}")
    return took


def main(store: str, lake: str, key: str, state: str) -> None:
    """Send every query to a few fresh applications."""
    settings, log = Settings(store=store, state=state), Log(os.open(os.devnull, os.O_WRONLY))
    names = pq.read_table(Path(lake) / "products.parquet", columns=["name"])["name"].to_pylist()
    targets = queries(names, len(names))
    times: dict[str, list[float]] = defaultdict(list)
    for _ in range(_REPEATS):
        application = make_app(settings, log).wsgi_app
        time_request(application, "/api/v1/me", key)
        for target in targets:
            times[target].append(time_request(application, target, key))
    print(json.dumps({target: median(taken) for target, taken in times.items()}))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
