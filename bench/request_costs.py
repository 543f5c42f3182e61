"""Times the most expensive requests that a client can make, parameter by parameter, in a shim without a server.

python -m bench.request_costs STORE: prints a table of the milliseconds of a worker's time. Each request is sent a few
times, each time to a fresh application, so that no cache helps. The least time counts: the machine may do other work.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from typing import Any
from urllib.parse import quote

from bench.cases import API
from bench.in_shim import Application
from edge_auth.api.flask_app import Settings
from edge_auth.live.log import Log
from edge_auth.serve.app import make_app
from generator.storage.builds import live_build_id, open_build
from generator.storage.catalogue import SORTS, TEXT_FILTERS
from generator.storage.keys import SCOPES, issue, open_key_file
from generator.storage.stores.open import open_store

_REPEATS = 3
_MARKS = quote("\u0300" * 30_000 + "\u0316" * 30_000)[:60_000]  # normalisation sorts these, in quadratic time
_MANY = quote("\ufdfa" * 100)  # one character that becomes 18
Request = tuple[str, str, dict[str, str]]


def requests(set_id: int, total: int) -> Iterator[Request]:
    """Yield (what, target, headers) of requests that may be slow."""
    cards = f"{API}/cards"
    deep = total * 9 // 10
    for name in ("q", "set", *TEXT_FILTERS):
        yield f"`{name}` of 60 kB of combining marks", f"{cards}?{name}={_MARKS}", {}
        yield f"`{name}` of the longest text that grows when it is folded", f"{cards}?{name}={_MANY}{_MANY}", {}
    yield "`q` of /sets, 60 kB of combining marks", f"{API}/sets?q={_MARKS}", {}
    yield "`q` of /sets, one letter", f"{API}/sets?q=a&limit=1000", {}
    yield "a slug of 60 kB of combining marks", f"{API}/watchlist/{_MARKS}", {}
    yield "a slug of 500 characters", f"{API}/watchlist/{'a' * 500}", {}
    yield "`q` of one letter", f"{cards}?q=e&limit=100", {}
    yield "`q` of 50 different letters", f"{cards}?q={'+'.join(_letters(50))}&limit=100", {}
    yield "`q` of 33 pairs of letters", f"{cards}?q={'+'.join(_pairs(33))}&limit=100", {}
    for sort in SORTS:
        yield f"`q=e&sort={sort}`, late page", f"{cards}?q=e&sort={sort}&limit=100&offset={deep // 4}", {}
        yield f"`sort={sort}&order=asc`, late page", f"{cards}?sort={sort}&order=asc&limit=100&offset={deep}", {}
        yield f"`kind=single&sort={sort}`, first page", f"{cards}?kind=single&sort={sort}&limit=100", {}
    yield "`rarity` and `kind`, late page", f"{cards}?rarity=Common&kind=single&limit=100&offset={deep // 4}", {}
    yield "`set` of a large set", f"{cards}?set={set_id}&limit=100", {}
    yield "`set` of a large set, second page", f"{cards}?set={set_id}&limit=100&offset=100", {}
    yield "`number=1`", f"{cards}?number=1&limit=100", {}
    yield (
        "`game` and prices, late page",
        f"{cards}?game=Mythgrove&min_price=0&sort=name&limit=100&offset={deep // 4}",
        {},
    )
    yield "`max_price`, one letter, late page", f"{cards}?q=e&max_price=9999&limit=100&offset={deep // 4}", {}
    yield "100 `ids`", f"{cards}?ids={','.join(map(str, range(10_000, 10_100)))}", {}
    values = ",".join(map(str, range(400_000, 400_100)))  # about half of them are in the demo
    yield "100 `values` of /identifiers/{scheme}", f"{API}/identifiers/tcgplayer?values={values}", {}
    yield "60 kB of `ids`", f"{cards}?ids={'1,' * 30_000}1", {}
    yield "/movers, last page", f"{API}/movers?limit=100&offset=400", {}
    yield "100 `ids` of /series", f"{API}/series?ids={','.join(map(str, range(10_000, 10_100)))}", {}
    yield "/market, longest page", f"{API}/market?limit=500", {}
    yield "/market/history of a set", f"{API}/market/history?set={set_id}", {}
    yield "the largest offset", f"{cards}?q=e&offset={'9' * 18}", {}
    yield "/fingerprints with gzip", f"{API}/fingerprints", {"HTTP_ACCEPT_ENCODING": "gzip"}
    yield "/fingerprints without gzip", f"{API}/fingerprints", {}
    yield "/watchlist, longest page", f"{API}/watchlist?limit=500", {}
    yield "/sets, longest page", f"{API}/sets?limit=1000", {}
    yield "60 kB of `&`", f"{cards}?{'&' * 60_000}", {}
    yield "an unknown parameter of 60 kB", f"{cards}?{'q' * 60_000}=1", {}
    yield "an id of 60,000 digits", f"{cards}/{'9' * 60_000}", {}
    yield "60 kB of `Accept-Encoding`", f"{API}/status", {"HTTP_ACCEPT_ENCODING": "a," * 30_000}
    yield "60 kB of `If-None-Match`", f"{API}/status", {"HTTP_IF_NONE_MATCH": '"",' * 20_000}
    yield "60 kB of `X-Build`", f"{API}/status", {"HTTP_X_BUILD": "2" * 60_000}
    yield "60 kB of `X-Request-ID`", f"{API}/status", {"HTTP_X_REQUEST_ID": "a" * 60_000}
    yield "60 kB of `X-Forwarded-For`", f"{API}/status", {"HTTP_X_FORWARDED_FOR": "127.0.0.1," * 6000}
    yield "60 kB of `X-API-Key`", f"{API}/status", {"HTTP_X_API_KEY": "a" * 60_000}


def _letters(count: int) -> list[str]:
    return list("etaoinshrdlcumwfgypbvkjxqz0123456789éøłħđŧßœæŋþð"[:count])


def _pairs(count: int) -> list[str]:
    return [first + second for first in "eaiorn" for second in "rnstle"][:count]


def seconds(application: Application, target: str, key: str, headers: dict[str, str]) -> float:
    """Send a request and return the time of its answer, whatever its status."""
    path, _, query = target.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": query, "REMOTE_ADDR": "127.0.0.1",
        "HTTP_X_API_KEY": key, **headers,
    }  # fmt: skip
    began = time.perf_counter()
    for _ in application(environ, lambda *_: None):
        pass
    return time.perf_counter() - began


def main(store: str) -> None:
    """Print the table for the live build of a store."""
    catalogue = open_build(open_store(store), live_build_id(open_store(store))).catalogue
    total, set_id = (
        len(catalogue.ids),
        int(catalogue.set_ids[max(set(catalogue.set[:100_000].tolist()), default=0) - 1]),
    )
    key, record = issue("request costs", SCOPES, 1_000_000, None, time.time())
    open_key_file(store).add(record)
    worst: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as state:
        for _ in range(_REPEATS):
            log = Log(os.open(os.devnull, os.O_WRONLY))
            application = make_app(Settings(store=store, state=state), log).wsgi_app
            for what, target, headers in chain([("a first request", f"{API}/cards?q=x", {})], requests(set_id, total)):
                worst[what] = min(worst.get(what, 1e9), seconds(application, target, key, headers))
    del worst["a first request"]  # waits until the build is read, which a health check does before
    for what, took in sorted(worst.items(), key=lambda item: -item[1]):
        print(f"| {what} | {1000 * took:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1])
