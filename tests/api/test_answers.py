"""Thousands of requests, answered as the oracle answers them."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tests.support.commands import build, issue, run
from tests.support.disagreements import disagreements
from tests.support.lakes import FIXED, Rows, lakes, write
from tests.support.oracle import Oracle
from tests.support.service import Client, Service, until
from tests.support.targets import Targets

pytestmark = pytest.mark.xdist_group("answers")  # one process: one shim


@dataclass
class Bench:
    """A shim whose store gets a build of one lake after the other. `before` is the lake of the last requests."""

    service: Service
    key: str
    folder: Path
    lakes: int = 0
    before: tuple[Rows, Oracle] | None = None

    def build(self, rows: Rows, seed: int, as_of: str | None) -> tuple[Path, str]:
        """Write, build and publish a lake; its folder and the build's id."""
        self.lakes += 1
        lake = write(rows, self.folder / f"lake{self.lakes}", seed)
        return lake, build(lake, self.service.store, as_of)

    def until_live(self, build_id: str) -> Client:
        client = self.service.client(self.key)
        until(lambda: client.get("/api/v1/status")["X-Build"] == build_id, 60, "the shim serves the new build")
        return client


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("bench")
    store = folder / "store"
    build(write(Rows(products=[]), folder / "lake"), store, "2024-01-01")
    key = issue(store)
    with Service(store, folder / "state") as service:
        yield Bench(service, key, folder)


@pytest.mark.parametrize("seed", range(3))
def test_the_fixed_lake(client: Client, fixed_oracle: Oracle, seed: int) -> None:
    targets = Targets(FIXED, random.Random(seed)).some(700)
    assert not disagreements(client, fixed_oracle, targets)


@given(rows=lakes(), seed=st.integers(0, 2**32 - 1), earlier=st.booleans())
def test_awkward_lakes(bench: Bench, rows: Rows, seed: int, earlier: bool) -> None:
    """Send requests to each build while it is live, and once more with X-Build after the next one is live."""
    days = sorted(day for _, day, _ in rows.daily())
    as_of = days[len(days) // 2] if earlier else None
    lake, build_id = bench.build(rows, seed, as_of)
    note(f"lake {lake}, as of {as_of}, build {build_id}")
    client = bench.until_live(build_id)
    oracle = Oracle(lake, as_of, build_id)
    assert not disagreements(client, oracle, Targets(rows, random.Random(seed)).some(350)), lake
    if bench.before:
        assert_answered_by_name(bench, *bench.before)
    bench.before = rows, oracle


def assert_answered_by_name(bench: Bench, rows: Rows, oracle: Oracle) -> None:
    """A build that is not live any more answers requests that name it."""
    pinned = bench.service.client(bench.key, X_Build=oracle.build_id)
    assert not disagreements(pinned, oracle, Targets(rows, random.Random(3)).some(80))


@pytest.fixture(scope="module")
def demo_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made-up lake of the product's own `demo` command."""
    lake = tmp_path_factory.mktemp("demo") / "lake"
    run("demo", lake, "--products", 600, "--days", 10, "--seed", 7, "--end", "2025-11-24")
    return lake


@pytest.mark.thorough
def test_the_demo_lake(bench: Bench, demo_lake: Path) -> None:
    build_id = build(demo_lake, bench.service.store)
    client = bench.until_live(build_id)
    targets = Targets(_rows_of(demo_lake), random.Random(5)).some(500)
    assert not disagreements(client, Oracle(demo_lake, build_id=build_id), targets)


def _rows_of(lake: Path) -> Rows:
    """Return the rows of a lake from which random requests are drawn."""
    tables = {
        table: [
            row for file in sorted(lake.glob(f"{table}*.parquet")) for row in pq.ParquetFile(file).read().to_pylist()
        ]
        for table in ("products", "expansions", "watchlist")
    }
    return Rows(**tables)
