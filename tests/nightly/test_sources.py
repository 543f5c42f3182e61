"""Stories of dead and thin sources: a table or game stops, comes every second day, loses half its rows, repeats them.

`make dead-sources` runs all forty.
"""

import itertools
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from generator.clock import utc_now
from generator.compare.run_reports import LATE
from generator.lake.files import PRICE_TABLES
from generator.lake.lake import DAILY_TABLES
from generator.storage.builds import live_build_id, open_build
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.lake_edits import rewrite
from tests.support.nights import FIRST_DAY, demo_lake, judge, make
from tests.support.selection import mostly_thorough

LAKE_DAYS, PRODUCTS = 22, 200
LAST = FIRST_DAY + timedelta(days=LAKE_DAYS - 1)

pytestmark = [pytest.mark.xdist_group("sources"), pytest.mark.thorough]  # one process, one store
Story = Callable[[Path, str, str], None]


def _day(lake: Path, table: str, age: int) -> Path:
    return next((lake / table / f"day={LAST - timedelta(days=age)}").glob("*.parquet"))


def _keep(lake: Path, table: str, age: int, rows: str, those: str) -> None:
    """Keep the rows of a day that are not `those` (SQL), and of those the ones of a condition."""
    rewrite(_day(lake, table, age), f"from rows where not ({those}) or ({rows}) order by all")


def stops(lake: Path, table: str, those: str) -> None:
    for age in (0, 1):
        _keep(lake, table, age, "false", those)


def every_second_day(lake: Path, table: str, those: str) -> None:
    for age in (1, 3):
        _keep(lake, table, age, "false", those)


def half_of_the_rows(lake: Path, table: str, those: str) -> None:
    key = "slug" if table == "watch_checks" else "id_product"
    _keep(lake, table, 0, f"hash({key}) % 5 < 2", those)


def same_rows_again(lake: Path, table: str, those: str) -> None:
    today, before = _day(lake, table, 0), _day(lake, table, 1)
    query = f"from rows where not ({those}) union all by name (from read_parquet('{before}') where {those})"
    rewrite(today, f"from ({query}) order by all")


STORIES: list[Story] = [stops, every_second_day, half_of_the_rows, same_rows_again]


def games(lake: Path) -> dict[str, str]:
    """Return the two games with the most products, each with SQL for its rows."""
    query = f"""
        select e.game, list(id_product)
        from '{lake}/products.parquet' join '{lake}/expansions.parquet' as e on e.id = id_expansion
        where game is not null group by 1 order by count(*) desc, 1 limit 2
    """
    return {game: f"id_product in {tuple(ids)}" for game, ids in duckdb.sql(query).fetchall()}


# Each product and each tracked product once a day, with a value that moves: the demo has too few of a day to judge.
_OF_EACH = {
    "listings": "select id_product, day + interval 3 hour as scraped_at, (1 + n % 9)::integer as available, "
    "price as from_price, null::integer as available_foil, null::double as from_price_foil from products",
    "filtered_checks": "select id_product, day + interval 3 hour as checked_at, (1 + n % 9)::integer as offers, "
    "price as lowest, 'seller' as cheapest_seller, 'NM' as cheapest_condition, null as offer_list from products",
    "watch_checks": "select slug, day + interval 3 hour as checked_at, (1 + n % 9)::integer as num_offers, "
    "price as lowest_price, null as offer_list from watched",
}


def _fill(lake: Path) -> None:
    of_each = "hash({}, '{{}}') % 1000 as n, n / 100 + 1 as price, timestamp '{{}}' as day"
    more = "select 'product-' || range as slug, 'Product' as name, null as game, 'https://x.example/' || range as url"
    rewrite(lake / "watchlist.parquet", f"from rows union all by name ({more} from range(60)) order by all")
    for table, query in _OF_EACH.items():
        for file in (lake / table).glob("*/*.parquet"):
            day = file.parent.name.removeprefix("day=")
            products = f"select id_product, {of_each.format('id_product')} from '{lake}/products.parquet'"
            watched = f"select slug, {of_each.format('slug')} from '{lake}/watchlist.parquet'"
            parts = f"with products as ({products.format(day, day)}), watched as ({watched.format(day, day)})"
            rewrite(file, f"from (from rows limit 0) union all by name ({parts} {query}) order by all")


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = demo_lake(tmp_path_factory.mktemp("sources") / "lake", LAKE_DAYS, PRODUCTS)
    _fill(lake)
    return lake


@pytest.fixture(scope="module")
def store(ordinary: Path) -> FolderStore:
    """One for all stories: a story makes what it changes alone."""
    shared = FolderStore(str(ordinary.parent / "store"))
    make(ordinary, shared)
    return shared


def late(lake: Path, store: FolderStore) -> list[str]:
    """Return what the remark on sources says of a lake, source by source."""
    judgement = judge(None, open_build(store, make(lake, store)), now=utc_now())
    said = [remark.message for remark in judgement.remarks if remark.gate == LATE]
    return [source for message in said for source in message.removeprefix("late or thin: ").split("; ")]


_SOURCES = [*((table, None) for table in DAILY_TABLES), *itertools.product(PRICE_TABLES, (0, 1))]
_STORIES = {
    f"{story.__name__} {table}" + ("" if place is None else f" of game {place + 1}"): (story, table, place)
    for (table, place), story in itertools.product(_SOURCES, STORIES)
}


@pytest.mark.parametrize("name", mostly_thorough(_STORIES, "stops listings", "every_second_day price_guide of game 2"))
def test_a_source_that_fails_is_named(name: str, ordinary: Path, store: FolderStore, tmp_path: Path) -> None:
    story, table, place = _STORIES[name]
    lake = shutil.copytree(ordinary, tmp_path / "lake")
    game, those = ("", "true") if place is None else list(games(lake).items())[place]
    story(lake, table, those)
    found = late(lake, store)
    assert found and all(source.startswith(table) for source in found), found
    assert not game or [source.startswith(f"{table} of {game} (") for source in found] == [True]


def test_sources_with_a_rhythm_of_their_own_are_not_late(ordinary: Path, store: FolderStore, tmp_path: Path) -> None:
    assert late(ordinary, store) == []
    lake = shutil.copytree(ordinary, tmp_path / "lake")
    listed = sorted((lake / "listings").iterdir(), reverse=True)
    for number, folder in enumerate(listed):
        if number % 7:
            shutil.rmtree(folder)
    shutil.rmtree(lake / "price_guide" / f"day={LAST}")  # a holiday
    assert late(lake, store) == []


def test_a_night_says_it_and_refuses_by_age(ordinary: Path, tmp_path: Path) -> None:
    lake, store = shutil.copytree(ordinary, tmp_path / "lake"), tmp_path / "store"
    stops(lake, "filtered_checks", "true")
    night = ("nightly", "--lake", lake, "--store", store)
    refused = run(*night, "--max-age", "filtered_checks=1", status=1).stderr.splitlines()[-1]
    assert "gate max-age-filtered_checks: the newest row of filtered_checks" in refused
    assert f"is of {LAST - timedelta(days=2)} (2, at most 1 passes)" in refused
    said = run(*night, "--max-age", "filtered_checks=2", "--max-age", "price_guide=0").stderr
    assert "strange: late or thin: filtered_checks" in said
    assert live_build_id(FolderStore(str(store)))
    assert "WARNING: late or thin: filtered_checks" in run("show", "--store", store).stdout
    assert "late or thin: filtered_checks" in run("doctor", "--store", store).stdout
    for wrong in ("filtered=1", "filtered_checks", "filtered_checks=-1", "filtered_checks=x"):
        run(*night, "--max-age", wrong, status=2)
