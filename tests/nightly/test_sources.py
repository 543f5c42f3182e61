"""Stories of dead and thin sources: a table or game stops, comes every second day, loses half its rows, repeats them.

`make dead-sources` runs all of them.
"""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from edge_auth.builds.builds import open_build
from edge_auth.builds.pointer import live_build_id
from edge_auth.store.folder import FolderStore
from generator.clock import utc_now
from generator.compare.judgements import LATE
from generator.lake.lake import DAILY_TABLES
from tests.support.commands import run
from tests.support.lake_edits import rewrite
from tests.support.nights import FIRST_DAY, demo_lake, judge, make
from tests.support.selection import mostly_thorough

LAKE_DAYS, PRODUCTS = 22, 200
LAST = FIRST_DAY + timedelta(days=LAKE_DAYS - 1)

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


def largest_game(lake: Path) -> tuple[str, str]:
    """Return the game with the most products, and SQL for its rows."""
    with duckdb.connect() as connection:
        game, ids = connection.execute(
            f"""from (
                select e.game, list(id_product) as ids
                from '{lake}/products.parquet' as p join '{lake}/expansions.parquet' as e on e.id = p.id_expansion
                where game is not null
                group by 1
            ) order by len(ids) desc, game limit 1"""
        ).fetchall()[0]
    return game, f"id_product in {tuple(ids)}"


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_lake(tmp_path_factory.mktemp("sources") / "lake", LAKE_DAYS, PRODUCTS)


def late(lake: Path, store: FolderStore) -> list[str]:
    """Return what the remark on sources says of a lake, source by source."""
    judgement = judge(None, open_build(store, make(lake, store)), now=utc_now())
    said = [remark.message for remark in judgement.remarks if remark.gate == LATE]
    return [source for message in said for source in message.removeprefix("late or thin: ").split("; ")]


# Stories with too few rows to judge: the demo has 200 products, few of them checked and listed each day.
_TELLING = {
    **{f"{story.__name__} {table}": (story, table, False) for story in STORIES[:2] for table in DAILY_TABLES},
    **{
        f"{story.__name__} {table} of a game": (story, table, True)
        for story in STORIES[:2]
        for table in DAILY_TABLES[:3]
    },
    "half_of_the_rows price_guide": (half_of_the_rows, "price_guide", False),
    "half_of_the_rows price_guide of a game": (half_of_the_rows, "price_guide", True),
    "same_rows_again price_guide": (same_rows_again, "price_guide", False),
    "same_rows_again price_guide of a game": (same_rows_again, "price_guide", True),
}


@pytest.mark.parametrize("name", mostly_thorough(_TELLING, "stops listings", "every_second_day price_guide of a game"))
def test_a_source_that_fails_is_named(name: str, ordinary: Path, tmp_path: Path) -> None:
    story, table, one_game = _TELLING[name]
    lake = shutil.copytree(ordinary, tmp_path / "lake")
    game, those = largest_game(lake) if one_game else ("", "true")
    story(lake, table, those)
    found = late(lake, FolderStore(str(tmp_path / "store")))
    assert found and all(source.startswith(table) for source in found), found
    assert not one_game or [source.startswith(f"{table} of {game} (") for source in found] == [True]


def test_sources_with_a_rhythm_of_their_own_are_not_late(ordinary: Path, tmp_path: Path) -> None:
    assert late(ordinary, FolderStore(str(tmp_path / "store"))) == []
    lake = shutil.copytree(ordinary, tmp_path / "lake")
    listed = sorted((lake / "listings").iterdir(), reverse=True)
    for number, folder in enumerate(listed):
        if number % 7:
            shutil.rmtree(folder)
    shutil.rmtree(lake / "price_guide" / f"day={LAST}")  # a holiday
    assert late(lake, FolderStore(str(tmp_path / "weekly"))) == []


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
