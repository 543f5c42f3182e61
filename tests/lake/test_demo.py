"""The demo lake: same bytes, whole days, believable prices, and no other lake is overwritten."""

import hashlib
import json
import re
import shutil
import subprocess
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from generator.demo import products
from generator.demo.lake import write_demo
from generator.errors import LakeError
from tests.support.commands import run
from tests.support.recorded import Recorded
from tests.support.service import ROOT

pytestmark = [pytest.mark.xdist_group("demo"), pytest.mark.thorough]  # one process: the lake is made once
ROWS = ROOT / "tests" / "golden" / "demo-rows.sha256"
DAILY = ["price_guide", "listings", "filtered_checks", "watch_checks"]
TABLES = ["expansions", "products", "watchlist", "fingerprints", "identifiers", *DAILY]


def files_of(lake: Path) -> dict[str, str]:
    """Return the path and hash of every file except the note with the arguments."""
    paths = sorted(path for path in lake.rglob("*") if path.is_file() and path.name != "demo.json")
    return {p.relative_to(lake).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess]:
    lake = tmp_path_factory.mktemp("demo") / "the lake"
    return lake, run("demo", lake, "--end", "2026-02-12")


def test_the_command_tells_what_it_wrote_and_what_comes_next(made):
    lake, result = made
    lines = result.stdout.splitlines()
    assert lines[-1] == f"cardpress build --lake '{lake}' --publish"
    assert [line.split()[0] for line in lines[:-1]] == list(TABLES)
    assert re.search(r"^products +2,000 rows$", result.stdout, re.M)
    assert result.stderr == "days: 90 done\n"


def test_bad_arguments_are_wrong_usage(tmp_path):
    for words in (("--products", 0), ("--days", 0), ("--seed", -1), ("--days", "x"), ("--end", "yesterday")):
        run("demo", tmp_path / "lake", *words, status=2)
    assert not (tmp_path / "lake").exists()
    assert "folder" in run("demo", "s3://bucket/lake", status=2).stderr


def test_the_same_arguments_give_the_same_bytes(tmp_path):
    write_demo(tmp_path / "one", 300, 15, 1)
    write_demo(tmp_path / "two", 300, 15, 1)
    write_demo(tmp_path / "other", 300, 15, 2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    ours, others = files_of(tmp_path / "one"), files_of(tmp_path / "other")
    assert {name for name in ours if ours[name] == others.get(name)} == {"fingerprints.json"}


def test_the_rows_are_the_same_on_every_machine(tmp_path: Path, recorded: Recorded) -> None:
    """The files depend on the version of the Parquet writer; what they say must not depend on anything."""
    write_demo(tmp_path / "lake", 60, 3, 1)
    digest = hashlib.sha256()
    for path in sorted((tmp_path / "lake").rglob("*.parquet")):
        digest.update(repr(pq.ParquetFile(path).read().to_pylist()).encode())
    if not recorded.write(ROWS, digest.hexdigest() + "\n"):
        assert digest.hexdigest() == ROWS.read_text().strip(), "other rows: run make golden"


def test_a_day_more_leaves_the_days_before_alone(tmp_path):
    lake = tmp_path / "lake"
    write_demo(lake, 200, 20, 1)
    before = files_of(lake)
    times = {name: (lake / name).stat().st_mtime_ns for name in before}
    write_demo(lake, 200, 22, 1)
    assert {name: (lake / name).stat().st_mtime_ns for name in before} == times
    after = files_of(lake)
    assert before.items() < after.items()
    assert {name.split("/")[1] for name in after.keys() - before.keys()} == {"day=2025-12-05", "day=2025-12-06"}
    write_demo(tmp_path / "fresh", 200, 22, 1)
    assert files_of(tmp_path / "fresh") == after
    write_demo(lake, 200, 20, 1)
    assert files_of(lake) == before


def days_of(lake: Path) -> list[str]:
    return sorted(path.name.removeprefix("day=") for path in (lake / "price_guide").iterdir())


def test_days_end_today_or_on_the_day_named_and_more_days_are_later_nights(tmp_path):
    lake = tmp_path / "lake"
    today = datetime.now(UTC).date()
    run("demo", lake, "--products", 20, "--days", 3)
    assert days_of(lake)[-1] in (str(today), str(datetime.now(UTC).date()))
    run("demo", lake, "--products", 20, "--days", 3, "--end", "2026-03-01")
    assert days_of(lake) == ["2026-02-27", "2026-02-28", "2026-03-01"]
    before = files_of(lake / "price_guide")
    run("demo", lake, "--products", 20, "--days", 4)
    assert days_of(lake)[-1] == "2026-03-02" and before.items() <= files_of(lake / "price_guide").items()
    write_demo(tmp_path / "fixed", 20, 4, 1)
    moved, fixed = (pq.read_table(folder / "products.parquet") for folder in (lake, tmp_path / "fixed"))
    apart = date(2026, 3, 2) - date(2025, 11, 18)
    times = zip(moved["date_added"].to_pylist(), fixed["date_added"].to_pylist(), strict=True)
    assert all(later == (earlier and earlier + apart) for later, earlier in times)
    assert moved.drop(["date_added"]) == fixed.drop(["date_added"])


def test_a_demo_lake_may_be_replaced_but_other_tables_never(tmp_path):
    lake = tmp_path / "lake"
    write_demo(lake, 20, 2, 1)
    (lake / "notes.txt").write_text("mine")
    write_demo(lake, 30, 1, 7)
    assert json.loads((lake / "demo.json").read_text())["products"] == 30
    for name in ["products-mine.parquet", "price_guide/day=2025-11-15/mine.parquet", "listings/x.parquet"]:
        (lake / name).parent.mkdir(exist_ok=True)
        shutil.copy(lake / "products.parquet", lake / name)
        before = files_of(lake)
        result = run("demo", lake, status=1)
        assert (result.stdout, len(result.stderr.splitlines())) == ("", 1) and name in result.stderr
        assert files_of(lake) == before
        (lake / name).unlink()


@pytest.mark.parametrize("name", ["products.parquet", "fingerprints.json", "watch_checks/day=2026-01-01/a.parquet"])
def test_a_lake_that_is_no_demo_is_refused(tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(LakeError, match="no demo lake"):
        write_demo(tmp_path, 20, 2, 1)
    assert files_of(tmp_path).keys() == {name}


def test_a_file_is_no_lake(tmp_path):
    (tmp_path / "lake").write_text("")
    with pytest.raises(LakeError, match="is a file"):
        write_demo(tmp_path / "lake", 20, 2, 1)
    with pytest.raises(LakeError, match="cannot be written"):
        write_demo(tmp_path / "lake" / "inside", 20, 2, 1)


@pytest.mark.parametrize(("products", "days"), [(1, 1), (2, 3), (31, 2)])
def test_small_lakes_have_every_file(tmp_path, products, days):
    write_demo(tmp_path, products, days, 3)
    assert pq.read_metadata(tmp_path / "products.parquet").num_rows == products
    assert all((tmp_path / f"{table}.parquet").exists() for table in TABLES if table not in DAILY)
    assert len(list((tmp_path / "price_guide").iterdir())) == days


def test_prices_are_believable(made):
    """Rarer cards cost more, and the lowest offer is below the trend."""
    guides, products = (f"'{made[0]}/{files}.parquet'" for files in ("price_guide/*/*", "products"))
    newest = f"from {guides} join {products} using (id_product) where day = '2026-02-12' and trend > 0"
    medians = dict(duckdb.sql(f"select rarity, median(trend) {newest} group by rarity").fetchall())
    usual = [medians[rarity] for rarity in ("Common", "Uncommon", "Rare", "Holo Rare", "Double Rare", "Ultra Rare")]
    assert sorted(usual) == usual
    assert duckdb.sql(f"{newest} and rarity = 'Common' and trend >= 20").fetchall() == []
    wrong = f"from {guides} where trend > 0 and low > trend or trend_holo > 0 and low_holo > trend_holo"
    assert duckdb.sql(wrong).fetchall() == []


def test_a_large_demo_has_fingerprints_of_some_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the first by key, each with all of its products, and the lake is whole otherwise."""
    write_demo(tmp_path / "whole", 200, 1, 1)
    monkeypatch.setattr(products, "_MAX_ENTRIES", 50)
    sizes = write_demo(tmp_path / "capped", 200, 1, 1)
    whole, capped = (pq.read_table(tmp_path / lake / "fingerprints.parquet") for lake in ("whole", "capped"))
    assert sizes["fingerprints"] == [len(capped)] == [50] and len(whole) > 50
    assert capped.equals(whole.sort_by("key").slice(0, 50))
    assert sizes["products"] == [200]
