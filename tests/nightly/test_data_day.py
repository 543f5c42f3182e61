"""A night says whether the data advanced, and fails if it is not of the expected day."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from generator.clock import utc_now
from tests.support.commands import run
from tests.support.nights import FIRST_DAY, demo_lake, published

pytestmark = pytest.mark.xdist_group("nights")  # one process: the published builds are made once

YESTERDAY, TODAY = (f"{FIRST_DAY + timedelta(days=days)}" for days in (7, 8))  # the days of the lake


def night(lake: Path, store: Path, *options: str, status: int = 0) -> dict:
    return json.loads(run("nightly", "--lake", lake, "--store", store, "--json", *options, status=status).stdout)


@pytest.mark.thorough
def test_the_outcome_says_whether_the_data_advanced(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    metrics = tmp_path / "night.prom"
    options = ("--no-pages", "--textfile", str(metrics))
    same = night(lake, store.root, "--expect-day", YESTERDAY, *options)
    assert (same["outcome"], same["advanced"]) == ("unchanged", False)
    assert "cardpress_nightly_data_advanced 0\n" in metrics.read_text()
    stale = night(lake, store.root, "--expect-day", TODAY, *options, status=1)
    assert stale["outcome"] == "stale" and f"is of {YESTERDAY}, but {TODAY} was expected" in stale["error"]
    assert 'cardpress_nightly_outcome{outcome="stale"} 1\n' in metrics.read_text()
    assert "cardpress_nightly_success 0\n" in metrics.read_text()
    demo_lake(lake, 9)
    new = night(lake, store.root, "--expect-day", TODAY, *options)
    assert (new["outcome"], new["advanced"]) == ("published", True)
    assert (new["data_day_before"], new["data_day"]) == (YESTERDAY, TODAY)
    assert "cardpress_nightly_data_advanced 1\n" in metrics.read_text()


@pytest.mark.thorough
def test_what_the_lake_has_goes_live_although_the_guide_is_missing(tmp_path: Path) -> None:
    store, lake, ids = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    for file in (lake / "price_guide" / f"day={TODAY}").iterdir():
        file.unlink()
    stale = night(lake, store.root, "--no-pages", "--expect-day", TODAY, status=1)
    assert stale["outcome"] == "stale" and not stale["advanced"]
    assert stale["live"] == stale["build"] != ids[1]


@pytest.mark.parametrize("day", ["today", "yesterday"])
@pytest.mark.thorough
def test_days_can_be_named_by_today(day: str, tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7)
    expected = utc_now().date() - timedelta(days=day == "yesterday")
    assert f"but {expected} was expected" in night(lake, store.root, "--expect-day", day, status=1)["error"]


@pytest.mark.parametrize("wrong", ["tomorrow", "2026-13-01"])
def test_other_words_are_wrong_usage(wrong: str, tmp_path: Path) -> None:
    refused = run("nightly", "--lake", tmp_path, "--store", tmp_path, "--expect-day", wrong, status=2)
    assert "is not today, yesterday or a day" in refused.stderr
