"""Runs the attacks against one shim and prints a table: `python -m tests.siege.run [--through-nginx]`."""

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tests.siege.attacks import ATTACKS, Siege
from tests.siege.bystander import Bystanders, Figures
from tests.support.commands import issue
from tests.support.service import PLENTY, Service, build, run

SECONDS, CONNECTIONS = 20.0, 10_000
# The greatest p99 of other clients under attack, and how many times their idle p99 it may be. Both must be exceeded.
MAX_P99_MILLISECONDS, MAX_P99_FACTOR = 150.0, 10.0
MAX_GROWTH_MB = 250  # by all attacks together
_ATTACKERS_LIMIT = 120  # requests per minute: the default of a key
BREACH = "BREACH:"
BROKEN = "× 500"  # no attack may reach an error of the shim
_HEADER = ("attack", "p50 ms", "p99 ms", "failures", "the attacker got", "memory MB", "verdict")


@dataclass(frozen=True)
class Result:
    """An attack, the figures of other clients during it, and the memory of the servers after it."""

    attack: str
    figures: Figures
    got: str
    memory_mb: float
    withstood: bool

    def row(self) -> tuple[str, ...]:
        p50, p99 = (f"{self.figures.percentile(percent):.1f}" for percent in (50, 99))
        verdict = "withstood" if self.withstood else "FAILED"
        return (self.attack, p50, p99, str(self.figures.failures), self.got, f"{self.memory_mb:.0f}", verdict)


def besiege(
    store: Path, state: Path, seconds: float, connections: int, *, through_nginx: bool | None = None
) -> Iterator[Result]:
    """Yield the result of each attack on a shim of two workers. The first one is the idle shim.

    Args:
        through_nginx: Whether all clients reach the shim through the nginx of `edge_auth/nginx`.
    """
    _allow_connections()
    other = issue(store, name="other", rate_limit=PLENTY)
    more = ("--trusted-proxy", "127.0.0.1")
    with Service(store, state, *more, workers=2, through_nginx=through_nginx) as service:
        idle: Result | None = None
        for name, attack in ATTACKS.items():
            key = issue(store, name="attacker", rate_limit=_ATTACKERS_LIMIT)
            with Bystanders(service.port, other) as bystanders:
                got = _got(attack, Siege(service, key, seconds, connections))
            result = _judge(name, bystanders.figures, got, _memory_mb(service), idle)
            idle = idle or result
            yield result


def _got(attack: Callable[[Siege], str], siege: Siege) -> str:
    try:
        return attack(siege)
    except AssertionError as breach:
        return f"{BREACH} {breach}"


def _judge(name: str, figures: Figures, got: str, memory_mb: float, idle: Result | None) -> Result:
    p99, before = figures.percentile(99), idle.figures.percentile(99) if idle else 0
    slow = idle is not None and p99 > max(MAX_P99_MILLISECONDS, before * MAX_P99_FACTOR)
    large = idle is not None and memory_mb > idle.memory_mb + MAX_GROWTH_MB
    return Result(name, figures, got, memory_mb, not (slow or large or figures.failures or is_broken(got)))


def is_broken(got: str) -> bool:
    """Return whether the attacker got what no attack may get."""
    return BROKEN in got or got.startswith(BREACH)


def _memory_mb(service: Service) -> float:
    """Return the memory of the shim, of nginx if there is one, and of their children, shared pages counted once."""
    parents = [process.pid for process in (service.process, service.nginx) if process]
    children = [pid for parent in parents for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    return sum(_kilobytes(int(each)) for each in (*parents, *children)) / 1024


def _kilobytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _allow_connections() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def table(results: Iterable[Result]) -> Iterator[str]:
    """Yield the lines of a Markdown table: the header, then a line for each result as it comes."""
    for row in chain((_HEADER, ("---",) * len(_HEADER)), (result.row() for result in results)):
        yield "| " + " | ".join(row) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Attack a running shim, and print what other clients noticed.")
    parser.add_argument("--through-nginx", action="store_true", help="attack the nginx of `cardpress edge config`")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each attack takes")
    parser.add_argument("--connections", type=int, default=CONNECTIONS, help="how many an attacker holds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cardpress-siege-") as folder:
        place = Path(folder)
        run("demo", place / "lake", "--end", "2026-02-12")
        build(place / "lake", place / "store")
        sizes = (options.seconds, options.connections)
        found = besiege(place / "store", place / "state", *sizes, through_nginx=options.through_nginx)
        results: list[Result] = []
        for line in table(_collected(found, results)):
            print(line, flush=True)
    sys.exit(not all(result.withstood for result in results))


def _collected(results: Iterable[Result], into: list[Result]) -> Iterator[Result]:
    for result in results:
        into.append(result)
        yield result


if __name__ == "__main__":
    main()
