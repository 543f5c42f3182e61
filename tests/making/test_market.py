"""The market over many months: sets that begin late, pause, have one day or no price, compared with the oracle."""

import itertools
import json
import random
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from generator.lake.lake import open_lake
from generator.making.make import make_build
from generator.reading.explain import explain_build
from generator.releases.publish import publish
from generator.storage import layout, market
from generator.storage.builds import Build, open_build
from generator.storage.stores.folder import FolderStore
from generator.threads import Resources
from tests.support.lake_edits import rewrite
from tests.support.lakes import Rows, write
from tests.support.nights import QUIET, names
from tests.support.oracle import Oracle
from tests.support.oracle import market as expected
from tests.support.selection import mostly_thorough

pytestmark = pytest.mark.xdist_group("market")  # one process: the lake is built once
FIRST, LAST = date(2025, 10, 20), date(2026, 2, 3)
DAYS = [FIRST + timedelta(days=number) for number in range((LAST - FIRST).days + 1)]
GAMES = {1: "Pokémon", 2: "POKEMON", 3: "Magic", 4: "Magic", 5: None, 6: "Large", 7: None}
MONTHS_END = date(2025, 10, 31), date(2025, 12, 31)
LARGE = 10_000_000_000_000.0


def days_of_set(id_: int) -> list[date]:
    """The days on which a set may have prices."""
    dates: dict[int, Callable[[date], bool]] = {
        2: lambda day: day >= date(2025, 12, 30),  # begins late
        3: lambda day: day < date(2025, 11, 28) or day > date(2026, 1, 2),  # pauses over a month and a year
        4: lambda day: day == date(2025, 12, 31),  # one day
        5: lambda day: day < date(2025, 11, 3),  # ended long ago
        7: lambda day: False,  # never
    }
    return [day for day in DAYS if dates.get(id_, lambda day: True)(day) and day.day != 17]


def _rows() -> Rows:
    """Three singles in four have a price on a day of their set; a spike now and then, prices of 0, large prices."""
    rng = random.Random(5)
    expansions = [{"id": id_, "name": f"Set {9 - id_}", "game": game} for id_, game in GAMES.items()]
    products = [
        {
            "id_product": n,
            "name": f"P {n}",
            "kind": "sealed" if n % 11 == 0 else "single",
            "id_expansion": n % 9 or None,
        }
        for n in range(1, 100)
    ]
    guide: dict[str, list[dict]] = {str(day): [] for day in DAYS}
    for product in products:
        set_, price = product["id_expansion"], rng.choice((0.02, 1.0, 7.5, 40.0))
        for day in days_of_set(set_ or 0):
            price = max(0.0, round(price * rng.choice((0.9, 1, 1, 1.05)), 2))
            drawn = rng.choice((None, price, price, price, 0.0 if rng.random() < 0.1 else price * 50))
            trend = (LARGE if day > date(2026, 1, 31) else 10.0) if set_ == 6 and drawn else drawn
            row = {"id_product": product["id_product"], "trend": trend, "low": rng.choice((None, price))}
            if product["id_product"] % 5 == 0:  # has foils, and on some days nothing else
                foils = {"trend_holo": drawn, "low_holo": rng.choice((None, 3.0))}
                row |= foils | ({"trend": rng.choice((None, 0.0))} if rng.random() < 0.4 else {})
            guide[str(day)].append(row)
    return Rows(products=products, expansions=expansions, price_guide=guide)


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(_rows(), tmp_path_factory.mktemp("market") / "lake")


@pytest.fixture
def lake(pattern: Path, tmp_path: Path) -> Path:
    return shutil.copytree(pattern, tmp_path / "lake")


def built(lake: Path, store: FolderStore, as_of: date = LAST, threads: int = 2) -> Build:
    opened = open_lake(str(lake), as_of)
    return open_build(store, make_build(opened, store, resources=Resources(threads, "1GB"), progress=QUIET).id)


def store_at(folder: Path) -> FolderStore:
    return FolderStore(str(folder))


def assert_as_computed(build: Build, lake: Path) -> None:
    """Every list, every history and the bulk file are those of the oracle."""
    oracle = Oracle(lake, build.as_of.isoformat()).lake
    for by, sort, order in itertools.product(market.GROUPINGS, market.SORTS, ("asc", "desc")):
        query = {"by": by, "sort": sort, "order": order, "game": ""}
        assert [json.loads(row) for row in build.market.rows(by, sort, order)] == expected.listed(oracle, query), query
    groups = {group: points for group in expected.every_group(oracle) if (points := expected.points(oracle, group))}
    assert {("set", id_) for id_ in build.market.sets} | {
        ("game", name) for name in build.market.games
    } == groups.keys()
    for (by, id_), points in groups.items():
        group = build.market.sets[id_] if by == "set" else build.market.games[id_]
        assert json.loads(build.market_history(group))["points"] == points, (by, id_)
    file = build.layers[layout.sublayer(layout.BULK, "market")].file("market")
    assert pq.read_table(file).to_pylist() == expected.bulk_rows(oracle)


@pytest.mark.parametrize("as_of", mostly_thorough((*MONTHS_END, date(2026, 1, 1), date(2026, 2, 1), LAST), LAST))
def test_every_day_is_as_the_oracle_computes_it(pattern: Path, tmp_path: Path, as_of: date) -> None:
    assert_as_computed(built(pattern, store_at(tmp_path / "store"), as_of), pattern)


@pytest.mark.thorough
def test_nights_in_a_row_make_what_a_first_build_makes(pattern: Path, tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    for as_of in (date(2025, 11, 30), date(2025, 12, 31), date(2026, 1, 31), date(2026, 2, 2), LAST):
        night = built(pattern, store, as_of)
        publish(store, night.id, by_hand=True)
    again = store_at(tmp_path / "again")
    assert built(pattern, again, threads=1).id == night.id
    layers = names(again, lambda name: name.startswith(("layers/market", "layers/bulk-market")))
    assert len(layers) > 8 and layers <= names(store)


@pytest.mark.thorough
def test_a_product_that_changes_its_set_changes_the_years_that_name_it(lake: Path, tmp_path: Path) -> None:
    """Product 2 begins with its set, on 30 December 2025; product 93 has prices in 2026 alone."""
    for day in DAYS[: DAYS.index(date(2026, 1, 1))]:
        rewrite(lake / "price_guide" / f"day={day}" / "part.parquet", "from rows where id_product <> 93")
    store = store_at(tmp_path / "store")
    publish(store, built(lake, store).id, by_hand=True)
    moved = "select * replace (if(id_product = {}, 1, id_expansion) as id_expansion) from rows order by id_product"
    rewrite(lake / "products.parquet", moved.format(93))
    assert reasons(lake, store) == {"market-2026": "members", "market": "catalogue, years before"}
    assert_as_computed(built(lake, store), lake)
    rewrite(lake / "products.parquet", moved.format(2))
    why = reasons(lake, store)
    assert why == {
        "market-2025": "members",
        "market-2026": "members, years before",
        "market": "catalogue, years before",
    }
    assert_as_computed(built(lake, store), lake)


@pytest.mark.thorough
def test_a_new_product_without_earlier_prices_changes_no_closed_year(lake: Path, tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    publish(store, built(lake, store).id, by_hand=True)
    new = "4711 as id_product, 'single' as kind, 1 as id_expansion"
    more = f"from rows union all (select * replace ({new}) from rows limit 1)"
    rewrite(lake / "products.parquet", more)
    assert reasons(lake, store) == {"market": "catalogue"}
    assert_as_computed(built(lake, store), lake)


@pytest.mark.thorough
def test_an_old_day_that_is_corrected_changes_its_year_and_those_after_it(lake: Path, tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    publish(store, built(lake, store).id, by_hand=True)
    rewrite(lake / "price_guide" / "day=2026-01-05" / "part.parquet", "select * replace (trend / 2 as trend) from rows")
    assert reasons(lake, store) == {"market-2026": "prices", "market": "years before"}
    assert_as_computed(built(lake, store), lake)
    rewrite(lake / "price_guide" / "day=2025-10-21" / "part.parquet", "from rows limit 0")
    assert reasons(lake, store).keys() == {"market-2025", "market-2026", "market"}
    assert_as_computed(built(lake, store), lake)
    for day in (date(2025, 12, 31), date(2026, 1, 2)):
        shutil.rmtree(lake / "price_guide" / f"day={day}")  # withdrawn
    assert_as_computed(built(lake, store), lake)


def reasons(lake: Path, store: FolderStore) -> dict[str, str]:
    """The layers of the market that a build would make, and the inputs that changed."""
    layers = explain_build(open_lake(str(lake), LAST), store)["layers"]
    made = (one for one in layers if one["make"] and one["layer"].startswith("market"))
    return {one["layer"]: one["why"].partition(": ")[2] for one in made}
