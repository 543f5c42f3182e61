"""Which layers a run makes again; kills at random moments; damage and its repair."""

import json
import random
import shutil
from pathlib import Path

import pytest

from generator.errors import BuildError
from generator.lake.lake import open_lake
from generator.making.make import BuildResult, make_build
from generator.pack.verify import verify
from generator.releases.publish import publish, rollback
from generator.storage.builds import open_build
from generator.storage.errors import StorageError
from generator.storage.layers import Index
from generator.storage.stores.folder import FolderStore
from generator.threads import Resources
from tests.soak.kill import COMMANDS, Pattern, kill_once, pattern
from tests.support.commands import run
from tests.support.lake_edits import rewrite
from tests.support.nights import DAYS, QUIET, assert_whole, demo_lake, make, names, published
from tests.support.selection import mostly_thorough

ROUNDS = 4  # one for each command; `make soak` runs 200
pytestmark = pytest.mark.xdist_group("resume")  # one process: what the tests begin with is made once


def built(lake: Path, store: FolderStore, **more) -> BuildResult:
    return make_build(open_lake(str(lake)), store, resources=Resources(2, "1GB"), progress=QUIET, **more)


@pytest.fixture(scope="module")
def january(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lake that ends on 2 January, and a store with its build."""
    folder = tmp_path_factory.mktemp("january")
    made = built(demo_lake(folder / "lake", DAYS - 1), FolderStore(str(folder / "store"))).made
    assert "history-2025" in made
    return folder


@pytest.fixture
def year_turned(january: Path, tmp_path: Path) -> tuple[FolderStore, Path]:
    shutil.copytree(january, tmp_path, dirs_exist_ok=True)
    return FolderStore(str(tmp_path / "store")), tmp_path / "lake"


def test_a_new_watch_check_makes_the_watchlist_the_status_and_the_site_alone(
    year_turned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build and its publish open each index once."""
    store, lake = year_turned
    publish(store, built(lake, store).id, by_hand=False)
    newest = max((lake / "watch_checks").iterdir())
    [file] = newest.glob("*.parquet")
    more = newest / "more.parquet"
    more.write_bytes(file.read_bytes())
    rewrite(more, "select * replace (checked_at + interval 1 minute as checked_at) from rows limit 1")
    opened: list[Path] = []
    open_index = Index.__init__
    monkeypatch.setattr(Index, "__init__", lambda self, path: opened.append(path) or open_index(self, path))
    result = built(lake, store)
    publish(store, result.id, by_hand=False, just_made=True)
    assert sorted(result.made) == ["bulk", "bulk-sql", "bulk-watchlist", "site", "status", "watchlist"]
    assert len(opened) == len(set(opened)) == len(result.record["layers"])


@pytest.mark.thorough
def test_a_closed_year_is_built_once(year_turned) -> None:
    store, lake = year_turned
    demo_lake(lake, DAYS)
    by_day = {"catalogue", "extremes-open", "games", "history-open", "market", "movers", "series-open"}
    by_day |= {"site", "status", "watchlist"}
    bulk = {"bulk", "bulk-sql", "bulk-2026-01-03", "bulk-cards", "bulk-market", "bulk-prices", "bulk-watchlist"}
    assert set(built(lake, store).made) == by_day | bulk


@pytest.mark.thorough
def test_a_late_correction_makes_its_year_and_what_reads_it(year_turned) -> None:
    store, lake = year_turned
    [file] = (lake / "price_guide" / "day=2025-11-20").glob("*.parquet")
    rewrite(file, "select * replace (low + 1 as low) from rows")
    by_prices = {
        "extremes-2025",
        "extremes-open",
        "bulk-sql",
        "catalogue",
        "days-2025",
        "games",
        "history-2025",
        "market-2025",
        "market",
        "series-2025",
        "site",
        "status",
    }
    assert set(built(lake, store).made) == by_prices | {
        "bulk",
        "bulk-2025-11",
        "bulk-cards",
        "bulk-market",
        "bulk-prices",
    }


@pytest.mark.thorough
def test_a_product_becomes_known_and_unknown(year_turned) -> None:
    """Only months and days that name a product are made again when the catalogue gains or loses it."""
    store, lake = year_turned
    publish(store, built(lake, store).id, by_hand=False)
    one_more = "from rows union all (select * replace (77777777 as id_product) from rows limit 1)"
    rewrite(lake / "products.parquet", one_more)
    assert not [name for name in built(lake, store).made if name.startswith("bulk-20")]
    named_in = "from rows where id_product not in (select min(id_product) from rows)"
    rewrite(lake / "products.parquet", named_in)
    again = FolderStore(str(store.root.with_name("again")))
    months = [name for name in built(lake, store).made if name.startswith("bulk-20")]
    assert months and built(lake, again).id == built(lake, store).id
    assert {name: (store.root / name).read_bytes() for name in names(again) if "/bulk" in name} == {
        name: (again.root / name).read_bytes() for name in names(again) if "/bulk" in name
    }


@pytest.mark.thorough
def test_explain_says_which_input_differs(tmp_path: Path) -> None:
    store, lake, ids = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    reasons = json.loads(run("build", "--lake", lake, "--store", store.root, "--explain", "--json").stdout)
    why = {layer["layer"]: (layer["make"], layer["why"]) for layer in reasons["layers"]}
    assert reasons["base"] == ids[1]
    assert why["catalogue"] == (True, f"changed since {ids[1]}: prices")
    assert why["watchlist"] == (True, f"changed since {ids[1]}: as of, watch")
    assert why["sets"] == (False, f"unchanged since {ids[1]}")
    before = names(store)
    lines = run("build", "--lake", lake, "--store", store.root, "--explain").stdout.splitlines()
    assert lines[-1] == reasons["build"] == make(lake, store)
    assert {"make  catalogue", "keep  sets"} <= {" ".join(line.split()[:2]).replace(" ", "  ") for line in lines[:-1]}
    assert names(store) != before, "explain made nothing, the build did"
    again = json.loads(run("build", "--lake", lake, "--store", store.root, "--explain", "--json").stdout)
    assert not any(layer["make"] for layer in again["layers"])
    run("build", "--lake", lake, "--store", store.root, "--explain", "--publish", status=2)


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)


def shorten(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("pattern", "damage", "visible"),
    [
        ("history-open/*/*.jsonl.gz", flip, False),
        pytest.param("catalogue/*/words-*", flip, False, marks=pytest.mark.thorough),
        pytest.param("history-open/*/*.jsonl.gz", shorten, True, marks=pytest.mark.thorough),
        ("catalogue/*/columns-*", shorten, True),
        ("history-open/*/index.arrow", Path.unlink, True),
        pytest.param("history-open/*/index.arrow", shorten, True, marks=pytest.mark.thorough),
        ("watchlist/*/*.gz", Path.unlink, True),
        pytest.param("bulk-cards/*/cards-*", Path.unlink, True, marks=pytest.mark.thorough),
    ],
)
@pytest.mark.thorough
def test_verify_names_damage_and_build_mends_it(pattern: str, damage, visible: bool, tmp_path: Path) -> None:
    store, lake, ids = published(tmp_path, 7)
    before = {name: (store.root / name).read_bytes() for name in names(store, lambda n: n.startswith("layers/"))}
    layer = pattern.partition("/")[0]
    file = min((store.root / "layers").glob(pattern))
    damage(file)
    with pytest.raises(BuildError, match=f"is damaged: .*{layer}"):
        verify(open_build(store, ids[0]), QUIET)
    if not visible:
        assert built(lake, store).made == []
    mended = built(lake, store, repair=not visible)
    assert mended.made == [layer] and list(mended.damaged) == [layer]
    assert_whole(store)
    assert {name: (store.root / name).read_bytes() for name in before} == before


def test_show_begins_with_a_hold_and_warns_of_old_sources(tmp_path: Path) -> None:
    store, _, ids = published(tmp_path, 7, 8)
    first = run("show", "--store", store.root).stdout.splitlines()
    assert first[0].split() == ["BUILD", "AGE", "PRODUCTS", "OBJECTS", "MB", "GATES"]
    assert [line.split()[0] for line in first[1:3]] == ids[::-1]
    assert first[1].endswith("live") and first[2].endswith("previous")
    assert any(line.startswith("  Price guide  WARNING: older than") and "2025-11-22" in line for line in first)
    rollback(store)
    held = run("show", ids[1], "--store", store.root).stdout.splitlines()
    assert held[0].startswith(f"HOLD: a rollback to {ids[0]} holds")
    assert held[1] == f"{ids[1]}, as of 2025-11-22"
    reasons = json.loads(run("show", "--store", store.root, "--json").stdout)
    assert reasons["hold"] is True and reasons["live"] == ids[0]


@pytest.fixture(scope="module")
def soak(tmp_path_factory: pytest.TempPathFactory) -> Pattern:
    return pattern(tmp_path_factory.mktemp("soak"))


@pytest.mark.parametrize("number", mostly_thorough(range(ROUNDS)))
def test_killed_at_any_moment_the_next_run_finishes(number: int, soak: Pattern) -> None:
    try:
        kill_once(soak, COMMANDS[number % len(COMMANDS)], random.Random(number))
    except StorageError as error:
        raise AssertionError(str(error)) from error
