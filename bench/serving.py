"""Serving: the product, its peers and the floors, side by side in one run, in turns.

    python -m bench.serving [--quick] [--case NAME …] [--rounds N] [--seconds S]

Prints a line per case and server. `python -m bench` writes the report.
"""

import argparse
import gzip
import http.client
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from bench import servers
from bench.cases import CASES, Case, Facts, cards, facts
from bench.crawl import crawl
from bench.data import cache, say, scratch, site
from bench.load import ask_in_turn, load, slowness
from bench.peers.datasette import Datasette
from bench.peers.fastapi_postgres import FastapiPostgres
from bench.peers.flask_duckdb import FlaskDuckdb
from bench.peers.flask_sqlite import FlaskSqlite, FlaskSqlitePlain, FlaskSqliteTrigram
from bench.peers.nginx import Nginx
from bench.peers.nothing import KeyedNothing, Nothing
from bench.peers.ours import Ours
from bench.peers.peer import Data, Peer
from bench.sizes import FULL, QUICK, Size
from bench.stats import spread

PEERS = (
    Ours, Nginx, Nothing, KeyedNothing, FlaskSqlite, FlaskSqliteTrigram, FlaskSqlitePlain, FastapiPostgres, FlaskDuckdb,
    Datasette,
)  # fmt: skip
_CHECKED = 7
_GZIP = {"Accept-Encoding": "gzip"}


@dataclass(frozen=True)
class Measured:
    """One measurement: a case on a server in a round.

    Attributes:
        rate: requests per second; p50, p99: milliseconds; cpu_us: the server's CPU time per request.
        busy: share of its core that the load generator used.
        body: bytes per answer, its head included.
    """

    case: str
    server: str
    encoding: str
    round: int
    rate: float
    p50: float
    p99: float
    cpu_us: float
    busy: float
    body: float


class Field:
    """The servers of a run, each started when first needed."""

    def __init__(self, size: Size, wanted: Iterable[type[Peer]] = PEERS):
        self.site = site(size.products, size.days)
        self.folder = cache() / f"peers-{size.products}x{size.days}"
        self.logs = scratch("logs")
        _crawled(self, size)
        self.known: Facts = facts(self.folder, self.site.lake)
        self.peers: dict[str, Peer] = {}
        self._running: dict[str, servers.Server] = {}
        self._targets: dict[str, list[str]] = {}
        for kind in wanted:
            self._admit(kind)

    def _admit(self, kind: type[Peer]) -> None:
        peer = kind(self.data(kind.name))
        if missing := peer.lacks():
            say(f"left out: {peer.name}; it needs {missing}")
            return
        peer.prepare()
        self.peers[peer.name] = peer

    def data(self, name: str) -> Data:
        """What a peer is made of."""
        return Data(self.folder, self.site.store, self.site.key, scratch(f"state-{name.replace(' ', '-')}"))

    def server(self, name: str, anew: bool = False) -> servers.Server:
        """A server, running."""
        if anew:
            self.stop(name)
        if name not in self._running:
            peer = self.peers[name]
            self._running[name] = servers.start(peer.command, peer.ready, self.logs / f"{name.replace(' ', '-')}.log")
        return self._running[name]

    def targets(self, case: Case) -> list[str]:
        """What a case asks for."""
        if case.name not in self._targets:
            self._targets[case.name] = case.targets(self.known)
        return self._targets[case.name]

    def stop(self, name: str) -> None:
        """Stop a server, if it runs."""
        if name in self._running:
            self._running.pop(name).stop()

    def get(self, name: str, target: str, headers: dict[str, str] | None = None) -> bytes:
        """The body of an answer, its encoding undone."""
        peer, port = self.peers[name], self.server(name).port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("GET", peer.target(target), headers=peer.headers() | (headers or {}))
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status != 200:
            raise SystemExit(f"{name}: {target}: {answer.status} {body[:300]!r}")
        return gzip.decompress(body) if answer.headers["Content-Encoding"] == "gzip" else body

    def close(self) -> None:
        """Stop all servers."""
        for name in list(self._running):
            self.stop(name)


@contextmanager
def field(size: Size, wanted: Iterable[type[Peer]] = PEERS) -> Iterator[Field]:
    """The servers of a run, stopped at its end whatever happens."""
    opened = Field(size, wanted)
    try:
        yield opened
    finally:
        opened.close()


def _crawled(opened: Field, size: Size) -> None:
    """Make what the peers' databases are filled with, unless it is there."""
    done = opened.folder / "as_of"
    if done.exists():
        return
    opened.folder.mkdir(exist_ok=True)
    ours = Ours(opened.data("crawl"))
    server = servers.start(ours.command, ours.ready, opened.logs / "crawl.log")
    try:
        crawl(server.port, opened.site, opened.folder, size.details)
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        for name, headers in {"page.json": {}, "page.json.gz": _GZIP}.items():
            connection.request("GET", cards(), headers=ours.headers() | headers)
            answer = connection.getresponse()
            (opened.folder / name).write_bytes(answer.read())
        done.write_text(answer.headers["X-Build"][:10])
    finally:
        server.stop()


def check(opened: Field, case: Case) -> None:
    """Compare the answers of all servers of a case; raises SystemExit where they say different things."""
    targets = opened.targets(case)
    for target in random.Random(5).sample(targets, min(_CHECKED, len(targets))):
        right = opened.peers[Ours.name].answer(opened.get(Ours.name, target))
        for name in _servers_of(opened, case):
            said = opened.peers[name].answer(opened.get(name, target))
            if said != right:
                raise SystemExit(f"{name} answers {target} otherwise: {str(said)[:300]} for {str(right)[:300]}")


def _servers_of(opened: Field, case: Case) -> list[str]:
    return [name for name, peer in opened.peers.items() if case.group in peer.offers]


def measure(opened: Field, case: Case, name: str, encoding: str, round_: int, seconds: float) -> Measured:
    """Load one server with one case, as much as it bears."""
    peer, targets = opened.peers[name], opened.targets(case)
    server = opened.server(name, anew=case.fresh and name == Ours.name)
    headers = peer.headers() | (_GZIP if encoding == "gzip" else {})
    asked = [peer.target(target) for target in targets]
    server.settle()
    tried = asked[-3:] if len(asked) > 3 else asked * 3
    slow = slowness(server.port, tried, headers, seconds)
    fit = asked[:-3] if case.fresh else asked * 3
    if not case.fresh and not slow:
        load(server.port, fit, headers, seconds / 2, folder=opened.logs)  # what may be remembered, is
    before = server.cpu_seconds()
    if slow:
        found = ask_in_turn(server.port, fit[: max(3, round(seconds / slow))], headers)
    else:
        found = load(server.port, fit, headers, seconds, folder=opened.logs, once=case.fresh)
    cpu_us = 1e6 * (server.cpu_seconds() - before) / found.requests
    figures = (found.rate, found.p50, found.p99, cpu_us, found.busy, found.body)
    return Measured(case.name, name, encoding, round_, *figures)


def runs(opened: Field, chosen: Sequence[Case]) -> list[tuple[Case, str, str]]:
    """What is measured in a round: each case on each of its servers."""
    return [
        (case, name, encoding)
        for case in chosen
        for name in _servers_of(opened, case)
        for encoding in _encodings(case, opened.peers[name])
    ]


def _encodings(case: Case, peer: Peer) -> tuple[str, ...]:
    """What only we have is asked for as browsers ask."""
    return ("gzip",) if case.group == "endpoints" else peer.encodings


def serving(opened: Field, chosen: Sequence[Case], rounds: int, seconds: float) -> list[Measured]:
    """Check, then measure in turns: every server of a case, then the next case, then the next round."""
    for case in chosen:
        if case.check:
            check(opened, case)
    results = []
    for round_ in range(rounds):
        for case, name, encoding in runs(opened, chosen):
            found = measure(opened, case, name, encoding, round_, seconds)
            say(
                f"{round_ + 1}/{rounds} {case.name:28} {name:32} {encoding:8} {found.rate:9.1f}/s  "
                f"p50 {found.p50:8.2f} ms  p99 {found.p99:8.2f} ms  {found.cpu_us:8.0f} us CPU"
            )
            results.append(found)
    return results


def main() -> None:
    """Run some cases and print their medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="A smaller lake, fewer rounds.")
    parser.add_argument("--case", action="append", help="Only cases whose name begins so; may repeat.")
    parser.add_argument("--server", action="append", help="Only servers whose name begins so; may repeat.")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    size = QUICK if options.quick else FULL
    chosen = [case for case in CASES if not options.case or case.name.startswith(tuple(options.case))]
    wanted = [peer for peer in PEERS if not options.server or peer.name.startswith(tuple(options.server))]
    began = time.monotonic()
    with field(size, wanted if not options.server else [Ours, *(p for p in wanted if p is not Ours)]) as opened:
        results = serving(opened, chosen, options.rounds or size.rounds, options.seconds or size.seconds)
    grouped: dict[tuple[str, str, str], list[Measured]] = defaultdict(list)
    for result in results:
        grouped[result.case, result.server, result.encoding].append(result)
    for (case, server, encoding), same in grouped.items():
        rate, cpu = spread([one.rate for one in same]), spread([one.cpu_us for one in same])
        p99 = spread([one.p99 for one in same]).median
        print(
            f"{case:28} {server:32} {encoding:8} {rate.median:9.1f}/s ({rate.low:.1f}-{rate.high:.1f})  "
            f"p99 {p99:8.2f} ms  {cpu.median:8.0f} us CPU"
        )
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
