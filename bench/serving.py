"""Measures the product, its peers and the lower bounds, in one run and in turns.

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
from bench.cases import CASES, Case, TargetData, cards, target_data
from bench.crawl import crawl
from bench.data import cache, print_progress, scratch, site
from bench.load import load, request_in_turn, slowness
from bench.peers.flask_sqlite import FlaskSqlite, FlaskSqliteTrigram
from bench.peers.nginx import NginxPeer, page_file
from bench.peers.nothing import KeyedNothing, Nothing
from bench.peers.ours import EdgePeer, Ours
from bench.peers.peer import Data, Peer
from bench.sizes import FULL, QUICK, Size
from bench.stats import spread

PEERS = (Ours, EdgePeer, NginxPeer, Nothing, KeyedNothing, FlaskSqlite, FlaskSqliteTrigram)
_CHECKED_TARGETS = 7
_HOLD_ANSWERS = (Ours.name, EdgePeer.name)  # these are asked for every target once before a warm measurement,
_WARM_UP = 4  # for so many times the seconds of a measurement at most
_GZIP = {"Accept-Encoding": "gzip"}


@dataclass(frozen=True)
class Measurement:
    """One measurement: a case on a server in a turn.

    Attributes:
        rate: Requests per second.
        p50, p99: Milliseconds.
        cpu_us: CPU time of the server per request, in microseconds.
        busy: Share of its core that the load generator used.
        body: Bytes per answer, including its head.
    """

    case: str
    server: str
    encoding: str
    turn: int
    rate: float
    p50: float
    p99: float
    cpu_us: float
    busy: float
    body: float


class TestBed:
    """The servers of a run and their data; each server is started when it is first needed."""

    def __init__(self, size: Size, wanted: Iterable[type[Peer]] = PEERS):
        self.site = site(size.products, size.days)
        self.folder = cache() / f"peers-{size.products}x{size.days}"
        self.logs = scratch("logs")
        _crawl_once(self, size)
        self.target_data: TargetData = target_data(self.folder, self.site.lake)
        _write_pages_once(self)
        self.peers: dict[str, Peer] = {}
        self._running: dict[str, servers.ServerProcess] = {}
        self._targets: dict[str, list[str]] = {}
        for kind in wanted:
            self._add(kind)

    def _add(self, kind: type[Peer]) -> None:
        peer = kind(self.data(kind.name))
        if missing := peer.lacks():
            print_progress(f"left out: {peer.name}; it needs {missing}")
            return
        peer.prepare()
        self.peers[peer.name] = peer

    def data(self, name: str) -> Data:
        """Return the data of a peer."""
        return Data(self.folder, self.site.store, self.site.key, scratch(f"state-{name.replace(' ', '-')}"))

    def server(self, name: str, restart: bool = False) -> servers.ServerProcess:
        """Return a running server. With `restart`, start it again first."""
        if restart:
            self.stop(name)
        if name not in self._running:
            peer = self.peers[name]
            self._running[name] = servers.start(peer.command, peer.ready, self.logs / f"{name.replace(' ', '-')}.log")
        return self._running[name]

    def targets(self, case: Case) -> list[str]:
        """Return the targets of a case."""
        if case.name not in self._targets:
            self._targets[case.name] = case.targets(self.target_data)
        return self._targets[case.name]

    def stop(self, name: str) -> None:
        """Stop a server if it runs."""
        if name in self._running:
            self._running.pop(name).stop()

    def get(self, name: str, target: str, headers: dict[str, str] | None = None) -> bytes:
        """Return the decoded body of an answer.

        Raises:
            SystemExit: The answer is not 200.
        """
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
def test_bed(size: Size, wanted: Iterable[type[Peer]] = PEERS) -> Iterator[TestBed]:
    """Open the servers of a run and stop them at its end, also after an error."""
    bed = TestBed(size, wanted)
    try:
        yield bed
    finally:
        bed.close()


def _crawl_once(bed: TestBed, size: Size) -> None:
    """Write the data of the peers, if it is not cached."""
    as_of = bed.folder / "as_of"  # written last
    if as_of.exists():
        return
    bed.folder.mkdir(exist_ok=True)
    ours = Ours(bed.data("crawl"))
    server = servers.start(ours.command, ours.ready, bed.logs / "crawl.log")
    try:
        crawl(server.port, bed.site, bed.folder, size.details)
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", cards(), headers=ours.headers())
        answer = connection.getresponse()
        answer.read()
        as_of.write_text(answer.headers["X-Build"][:10])
    finally:
        server.stop()


def _write_pages_once(bed: TestBed) -> None:
    """Write the answers that nginx sends as static files, plain and compressed."""
    targets = [target for case in CASES if case.group == "page" for target in case.targets(bed.target_data)]
    if all((bed.folder / page_file(target)).exists() for target in targets):
        return
    ours = Ours(bed.data("pages"))
    server = servers.start(ours.command, ours.ready, bed.logs / "pages.log")
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        for target in targets:
            for suffix, headers in {"": {}, ".gz": _GZIP}.items():
                connection.request("GET", target, headers=ours.headers() | headers)
                (bed.folder / f"{page_file(target)}{suffix}").write_bytes(connection.getresponse().read())
    finally:
        server.stop()


def check(bed: TestBed, case: Case) -> None:
    """Compare the answers of all servers of a case.

    Raises:
        SystemExit: Two servers answer differently.
    """
    targets = bed.targets(case)
    for target in random.Random(5).sample(targets, min(_CHECKED_TARGETS, len(targets))):
        expected = bed.peers[Ours.name].answer(bed.get(Ours.name, target))
        for name in _servers_of(bed, case):
            answer = bed.peers[name].answer(bed.get(name, target))
            if answer != expected:
                raise SystemExit(f"{name} answers {target} differently: {str(answer)[:300]} for {str(expected)[:300]}")


def _servers_of(bed: TestBed, case: Case) -> list[str]:
    return [name for name, peer in bed.peers.items() if case.group in peer.offers]


def measure(bed: TestBed, case: Case, name: str, encoding: str, turn: int, seconds: float) -> Measurement:
    """Put the full load of one case on one server and return its figures."""
    peer, targets = bed.peers[name], bed.targets(case)
    server = bed.server(name, restart=case.fresh and name == Ours.name)
    headers = peer.headers() | (_GZIP if encoding == "gzip" else {})
    own_targets = [peer.target(target) for target in targets]
    server.settle()
    trial = own_targets[-3:] if len(own_targets) > 3 else own_targets * 3
    slow = slowness(server.port, trial, headers, seconds)
    timed = own_targets[:-3] if case.fresh else own_targets * 3
    if not case.fresh and not slow:
        if name in _HOLD_ANSWERS:
            load(server.port, timed, headers, _WARM_UP * seconds, folder=bed.logs, once=True)
        load(server.port, timed, headers, seconds / 2, folder=bed.logs)
    before = server.cpu_seconds()
    if slow:
        found = request_in_turn(server.port, timed[: max(3, round(seconds / slow))], headers)
    else:
        found = load(server.port, timed, headers, seconds, folder=bed.logs, once=case.fresh)
    cpu_us = 1e6 * (server.cpu_seconds() - before) / found.requests
    figures = (found.rate, found.p50, found.p99, cpu_us, found.busy, found.body)
    return Measurement(case.name, name, encoding, turn, *figures)


def runs(bed: TestBed, chosen: Sequence[Case], round_: int) -> list[tuple[Case, str, str, int]]:
    """Return the measurements of a round: each case on each of its servers, in each encoding, and its turn."""
    return [
        (case, name, encoding, round_ * case.turns + turn)
        for case in chosen
        for turn in range(case.turns)
        for name in _servers_of(bed, case)
        for encoding in _encodings(case, bed.peers[name])
    ]


def _encodings(case: Case, peer: Peer) -> tuple[str, ...]:
    """Return the encodings of a case; endpoints that only the product has are requested as browsers do."""
    return ("gzip",) if case.group == "endpoints" else peer.encodings


def serving(bed: TestBed, chosen: Sequence[Case], rounds: int, seconds: float) -> list[Measurement]:
    """Check all cases, then measure in turns: every server of a case, then the next case, then the next round."""
    for case in chosen:
        if case.check:
            check(bed, case)
    results = []
    for round_ in range(rounds):
        for case, name, encoding, turn in runs(bed, chosen, round_):
            found = measure(bed, case, name, encoding, turn, seconds)
            print_progress(
                f"{round_ + 1}/{rounds} {case.name:28} {name:32} {encoding:8} {found.rate:9.1f}/s  "
                f"p50 {found.p50:8.2f} ms  p99 {found.p99:8.2f} ms  {found.cpu_us:8.0f} us CPU"
            )
            results.append(found)
    return results


def main() -> None:
    """Run some cases and print their medians."""
    parser = argparse.ArgumentParser(description="Measure the product, its peers and the lower bounds.")
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
    with test_bed(size, wanted if not options.server else [Ours, *(p for p in wanted if p is not Ours)]) as bed:
        results = serving(bed, chosen, options.rounds or size.rounds, options.seconds or size.seconds)
    grouped: dict[tuple[str, str, str], list[Measurement]] = defaultdict(list)
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
