"""`cardpress backfill`: many days in one import, one build and one diff."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.commands import build, run
from tests.support.shared import shared_folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a live build of 2026-07-10, and downloads of other days beside it."""
    shutil.copytree(shared_folder("backfill", prepare), tmp_path, dirs_exist_ok=True)
    return tmp_path / "store"


def prepare(folder: Path) -> None:
    downloads = folder / "downloads"
    downloads.mkdir()
    write(downloads / "products_singles_17.json", "products", "2026-07-10", [{"idProduct": 1, "name": "Ember"}])
    for day in ("2026-07-05", "2026-07-07", "2026-07-08", "2026-07-10", "2026-07-12"):
        prices = {figure: int(day[-2:]) for figure in ("low", "avg", "trend", "avg1", "avg7", "avg30")}
        write(downloads / f"price_guide_17_{day}.json", "priceGuides", day, [{"idProduct": 1} | prices])
    words = ("--singles", downloads / "products_singles_17.json")
    guide = downloads / "price_guide_17_2026-07-10.json"
    run("ingest", "cardmarket", "--lake", folder / "lake", *words, "--price-guide", guide)
    build(folder / "lake", folder / "store")


def write(path: Path, key: str, day: str, rows: list[dict]) -> None:
    path.write_text(json.dumps({"version": 1, "createdAt": f"{day}T02:44:32+0200", key: rows}))


def backfill(store: Path, first: str, last: str, *more: str, status: int = 0):
    words = (first, last, store.parent / "downloads", "--lake", store.parent / "lake", "--store", store, *more)
    return run("backfill", *words, status=status)


def history(store: Path, build_id: str) -> list[str]:
    card = json.loads(run("cat", "cards/1.json", "--build", build_id, "--store", store).stdout)
    return [point["day"] for point in card["history"]["price_guide"]]


@pytest.mark.thorough
def test_many_days_make_one_build_and_one_diff(store: Path) -> None:
    live = json.loads(run("builds", "--store", store, "--json").stdout)["live"]
    result = backfill(store, "2026-07-06", "2026-07-09")
    new = result.stdout.splitlines()[-1]
    assert history(store, new) == ["2026-07-07", "2026-07-08", "2026-07-10"], "without the days around them"
    listed = json.loads(run("builds", "--store", store, "--json").stdout)
    assert ({row["id"] for row in listed["builds"]}, listed["live"]) == ({live, new}, live)
    assert live in result.stdout and new in result.stdout.splitlines()[0] + result.stdout
    assert re.search("^  past days changed +2 ", result.stdout, re.MULTILINE)
    assert "no guide for 2 of 4 days: 2026-07-06, 2026-07-09" in result.stderr


@pytest.mark.thorough
def test_it_publishes_on_demand_and_says_what_changed(store: Path) -> None:
    result = backfill(store, "2026-07-12", "2026-07-12", "--publish")
    new = result.stdout.splitlines()[-1]
    assert new.startswith("2026-07-12-")
    assert json.loads(run("builds", "--store", store, "--json").stdout)["live"] == new
    assert "trend" in result.stdout, "the diff names the prices that changed"


@pytest.mark.thorough
def test_no_guide_in_these_days(store: Path) -> None:
    before = sorted(store.parent.joinpath("lake").rglob("*.parquet"))
    line = backfill(store, "2026-01-01", "2026-01-31", status=1).stderr.splitlines()[-1]
    assert line.startswith("cardpress: no price guide from 2026-01-01 to 2026-01-31")
    assert sorted(store.parent.joinpath("lake").rglob("*.parquet")) == before
    assert "FROM is after TO" in backfill(store, "2026-02-01", "2026-01-01", status=2).stderr


@pytest.mark.thorough
def test_without_a_live_build(store: Path) -> None:
    words = ("--lake", store.parent / "new", "--store", store.parent / "other")
    result = run("backfill", "2026-07-01", "2026-07-31", store.parent / "downloads", *words)
    assert "no build is live" in result.stderr
    assert len(history(store.parent / "other", result.stdout.strip())) == 5
