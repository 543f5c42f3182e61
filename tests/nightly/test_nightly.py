"""The nightly: what it publishes, what it refuses, what it leaves behind."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from generator import settings
from generator.clock import Clock, utc_now
from generator.compare.run_reports import RunReport, newest_report, read_judgement
from generator.errors import BusyError, GateError, HoldError, SmokeError
from generator.nightly import steps
from generator.nightly.monitoring import Notices, write_textfile
from generator.nightly.night import run_night
from generator.nightly.steps import Night
from generator.releases.locks import locked
from generator.releases.prune import RetentionRules
from generator.releases.publish import publish, rollback
from generator.storage.builds import live_build_id, live_pointer, open_build, read_pointer
from generator.storage.errors import StoreError
from generator.storage.layout import NIGHTLY_LOCK
from generator.storage.stores.folder import FolderStore
from generator.threads import Resources
from tests.nightly.test_gates import in_cents
from tests.support import service
from tests.support.commands import run
from tests.support.lake_edits import empty
from tests.support.nights import FIRST_DAY, QUIET, assert_whole, demo_lake, in_hours, names, published
from tests.support.service import ROOT, Failed, environment

pytestmark = pytest.mark.xdist_group("nights")  # one process: the published builds are made once
EIGHTH, NINTH = (f"{FIRST_DAY + timedelta(days=days)}" for days in (7, 8))  # days of the lake


def night(lake: Path, store: FolderStore, clock: Clock = utc_now, **options) -> RunReport:
    """Run a night; its report."""
    options.setdefault("resources", Resources(2))
    one = Night(f"{clock():%Y%m%dT%H%M%S.%f}", str(lake), store, clock, QUIET, **options)
    try:
        run_night(one, Notices())
    finally:
        if one.report.finished:
            kept = json.loads(store.get(f"reports/{one.report.run}.json"))
            assert (kept["outcome"], kept["error"]) == (one.report.outcome, one.report.error)
    return one.report


def report(store: FolderStore) -> dict:
    found = newest_report(store)
    assert found
    return found


def prometheus(path: Path) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in path.read_text().splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


@pytest.fixture
def two(tmp_path: Path) -> tuple[FolderStore, Path, list[str]]:
    """A store with two published builds, whose lake has grown by a day since."""
    store, lake, ids = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    return store, lake, ids


@pytest.mark.thorough
def test_a_lake_s_first_night_and_the_next(tmp_path: Path) -> None:
    store, lake, metrics = tmp_path / "store", demo_lake(tmp_path / "lake", 8), tmp_path / "night.prom"
    first = run("nightly", "--lake", lake, "--store", store, "--textfile", metrics)
    demo_lake(lake, 9)
    second = service.run("nightly", "--lake", lake, "--store", store, "--textfile", metrics, "--json")
    summary = json.loads(second.stdout)
    opened = FolderStore(str(store))
    assert summary == report(opened)
    assert summary["outcome"] == "published" and summary["error"] is None
    assert summary["live_before"] == first.stdout.strip()
    assert summary["live"] == summary["build"] == live_build_id(opened)
    assert set(summary["seconds"]) == {"build", "verify", "gates", "publish", "smoke", "tree", "prune"}
    assert summary["judgement"]["differences"]["trends_changed"] > 0
    assert all(line.startswith(f"[{summary['run']}] ") for line in second.stderr.splitlines())
    values = prometheus(metrics)
    assert values["cardpress_nightly_success"] == 1
    assert values['cardpress_nightly_outcome{outcome="published"}'] == 1
    assert (
        values["cardpress_nightly_last_success_timestamp_seconds"] == values["cardpress_nightly_run_timestamp_seconds"]
    )
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert_whole(opened)


@pytest.mark.thorough
def test_a_breach_leaves_the_live_build_and_a_report(two) -> None:
    store, lake, ids = two
    empty("watchlist")(lake)
    pointer = store.get("current.json")
    refused = run("nightly", "--lake", lake, "--store", store.root, "--keep", 1, "--grace", 0, status=1)
    assert refused.stdout == "" and "pages: private/nights/" in refused.stderr, "its build stays for its pages"
    last = refused.stderr.splitlines()[-1]
    assert "was built but not published: gate tables-emptied: nothing is left of the tables" in last
    summary, ending = report(store), " publishes it, otherwise correct the lake"
    assert last.endswith(f"`cardpress publish {summary['build']} --store {store.root}`{ending}")
    assert store.get("current.json") == pointer
    assert summary["outcome"] == "refused" and summary["error"] in last and summary["live"] == ids[1]
    assert [v["gate"] for v in summary["judgement"]["verdicts"] if v["breached"]] == ["tables-emptied"]


@pytest.mark.thorough
def test_a_refused_night_says_the_same_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither threads nor the order of Python's sets, which differs by process, show in its report."""
    lake, before, said = demo_lake(tmp_path / "lake", 8, 120), tmp_path / "before", []
    run("build", "--lake", lake, "--store", before, "--publish")
    in_cents(demo_lake(lake, 14, 120), FIRST_DAY + timedelta(days=9))
    for threads in (1, 4):
        monkeypatch.setenv("PYTHONHASHSEED", str(threads))
        store = shutil.copytree(before, tmp_path / f"{threads}")
        words = ("nightly", "--lake", lake, "--store", store, "--threads", threads, "--no-pages", "--json")
        text = service.run(*words, status=1).stdout.replace(str(store), "")
        assert text.count('"distance"') > 9
        said.append(re.sub(r'"(layer_)?seconds": {[^}]*}|[-\d]+T[\d:.]+Z(-\w+)?', "", text))
    assert said[0] == said[1]


@pytest.mark.thorough
def test_a_forced_gate_lets_pass_and_is_recorded(two) -> None:
    store, lake, _ = two
    empty("watchlist")(lake)
    with pytest.raises(GateError):
        night(lake, store, forced=("prices-lost",))
    summary = night(lake, store, forced=("tables-emptied",))
    assert summary.outcome == "published"
    kept = read_judgement(store, summary.build)
    assert [v["gate"] for v in kept["verdicts"] if v["forced"]] == ["tables-emptied"]
    record = open_build(store, summary.build).record
    assert "tables-emptied" not in json.dumps(record), "a record is the same on every night and machine"


@pytest.mark.thorough
def test_a_threshold_can_be_set_on_the_command_line(two) -> None:
    store, lake, _ = two
    empty("watchlist")(lake)
    run("nightly", "--lake", lake, "--store", store.root, "--gate", "sets-lost=3", "--gate", "tables-emptied=2")
    assert report(store)["outcome"] == "published"


WRONG = [
    "--expect-day tomorrow",
    "--expect-day 2026-13-01",
    "--gate tables=1",
    "--gate sets-lost",
    "--gate sets-lost=-1",
    "--gate sets-lost=nan",
    "--force all",
]


@pytest.mark.parametrize("wrong", [*WRONG, "--textfile /no/where/x"])
def test_wrong_usage_is_refused_before_anything_is_done(wrong: str, two) -> None:
    store, lake, _ = two
    before = names(store)
    run("nightly", "--lake", lake, "--store", store.root, *wrong.split(), status=2)
    assert names(store) == before


@pytest.mark.thorough
def test_a_hold_lets_build_and_report_but_not_publish(two) -> None:
    store, lake, ids = two
    assert rollback(store) == ids[0]
    with pytest.raises(HoldError, match=f"a rollback to {ids[0]} holds publishing back; `cardpress publish"):
        night(lake, store)
    summary = report(store)
    assert summary["outcome"] == "held" and summary["live"] == ids[0]
    assert summary["judgement"]["against"] == ids[0]
    with pytest.raises(Failed, match="exit 1"):
        run("nightly", "--lake", lake, "--store", store.root)
    publish(store, summary["build"], by_hand=True)
    assert night(lake, store).outcome == "unchanged"
    demo_lake(lake, 10)
    assert night(lake, store).outcome == "published"


@pytest.mark.thorough
def test_a_failing_smoke_test_rolls_back(two) -> None:
    store, lake, ids = two
    broken = patch("generator.nightly.steps.smoke_test", side_effect=SmokeError("sets cannot be answered: damaged"))
    with broken, pytest.raises(SmokeError, match=f"was rolled back, {ids[1]} is live: sets cannot be answered"):
        night(lake, store)
    pointer, _ = read_pointer(store)
    failed = report(store)["build"]
    assert (pointer.build, pointer.hold, pointer.failed) == (ids[1], False, [failed])
    assert report(store)["outcome"] == "rolled back"
    with pytest.raises(HoldError, match=f"{failed} .* failed its smoke test .*; `cardpress publish {failed} --store"):
        night(lake, store)
    demo_lake(lake, 10)
    assert night(lake, store).outcome == "published", "only the build that failed is held back"
    publish(store, failed, by_hand=True)
    assert live_pointer(store).failed == []


def test_an_example_that_is_refused_is_no_damage(two) -> None:
    """It is a fault of the program; a card that is named and missing is one of the build."""
    store, _, ids = two
    for request, is_damage in (("cards?limit=0", False), ("cards/999999999999", True)):
        fails = pytest.raises(SmokeError, match=f"{request} cannot be answered") if is_damage else nullcontext()
        with patch.object(steps, "_smoke_requests", return_value=[f"/api/v1/{request}"]), fails:
            steps.smoke_test(store, ids[1])


def test_a_lake_that_breaks_a_rule_fails_the_night(two, tmp_path: Path) -> None:
    store, lake, ids = two
    metrics = tmp_path / "night.prom"
    write_textfile(metrics, RunReport("r", "l", "s", "", finished="2026-01-01T00:00:00Z", outcome="published"))
    earlier = prometheus(metrics)["cardpress_nightly_last_success_timestamp_seconds"]
    (lake / "products-more.parquet").write_bytes((lake / "products.parquet").read_bytes())
    failed = run("nightly", "--lake", lake, "--store", store.root, "--textfile", metrics, status=1)
    assert "products: column id_product must be unique" in failed.stderr.splitlines()[-1]
    assert report(store)["outcome"] == "failed" and live_build_id(store) == ids[1]
    values = prometheus(metrics)
    assert values["cardpress_nightly_success"] == 0
    assert values["cardpress_nightly_last_success_timestamp_seconds"] == earlier


@pytest.mark.thorough
def test_a_second_run_ends_at_once_and_says_why(two) -> None:
    store, lake, _ = two
    with locked(store, NIGHTLY_LOCK, run="the-first", clock=utc_now, seconds=60):
        before = names(store)
        refused = run("nightly", "--lake", lake, "--store", store.root, status=1)
        assert refused.stderr.startswith("cardpress: another nightly is running: run the-first on ")
        assert names(store) == before
    assert night(lake, store).outcome == "published"


@pytest.mark.thorough
def test_a_run_that_lost_its_lock_publishes_nothing(two) -> None:
    store, lake, ids = two

    def unlock(*_: object, **__: object) -> None:
        run("unlock", "--store", store.root, "--force")

    with patch("generator.nightly.steps.verify", side_effect=unlock), pytest.raises(BusyError, match="lost its lock"):
        night(lake, store)
    assert live_build_id(store) == ids[1]


@pytest.mark.thorough
def test_prunes_what_is_not_kept(two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "PRUNE_WAIT_SECONDS", 0)  # no other process uses the store
    store, lake, ids = two
    for name in names(store):
        os.utime(store.root / name, (0, 0))
    pruned = night(lake, store, rules=RetentionRules(keep=2, grace=timedelta(hours=48)), clock=in_hours(49)).pruned
    assert pruned["builds"] == ids[:1]
    assert [*store.list("builds/")] == sorted(f"builds/{id_}.json" for id_ in (ids[1], live_build_id(store)))


def reported(lake: Path, store: Path, *options: object, status: int = 0) -> dict:
    """Run the command of a night. Return its report."""
    words = ("nightly", "--lake", lake, "--store", store, "--no-pages", "--json", *options)
    return json.loads(run(*words, status=status).stdout)


@pytest.mark.thorough
def test_the_outcome_says_whether_the_data_advanced(two, tmp_path: Path) -> None:
    store, lake, _ = two
    day = lake / "price_guide" / f"day={NINTH}"
    day.rename(tmp_path / "later")
    options = ("--textfile", tmp_path / "night.prom")
    same = reported(lake, store.root, "--expect-day", EIGHTH, *options)
    assert (same["outcome"], same["advanced"]) == ("published", False), "the other tables have a new day"
    assert prometheus(tmp_path / "night.prom")["cardpress_nightly_data_advanced"] == 0
    stale = reported(lake, store.root, "--expect-day", NINTH, *options, status=1)
    assert stale["outcome"] == "stale" and f"is of {EIGHTH}, but {NINTH} was expected" in stale["error"]
    assert stale["live"] == same["build"] and not stale["advanced"]
    metrics = prometheus(tmp_path / "night.prom")
    assert metrics['cardpress_nightly_outcome{outcome="stale"}'] == 1 and metrics["cardpress_nightly_success"] == 0
    (tmp_path / "later").rename(day)
    new = reported(lake, store.root, "--expect-day", NINTH, *options)
    assert (new["outcome"], new["advanced"]) == ("published", True)
    assert (new["data_day_before"], new["data_day"]) == (EIGHTH, NINTH)
    assert prometheus(tmp_path / "night.prom")["cardpress_nightly_data_advanced"] == 1


@pytest.mark.parametrize("day", ["today", "yesterday"])
@pytest.mark.thorough
def test_days_can_be_named_by_today(day: str, two) -> None:
    store, lake, _ = two
    expected = utc_now().date() - timedelta(days=day == "yesterday")
    assert f"but {expected} was expected" in reported(lake, store.root, "--expect-day", day, status=1)["error"]


@pytest.mark.thorough
def test_a_prune_that_fails_after_the_publish_says_so(two, tmp_path: Path) -> None:
    store, lake, _ = two
    with patch("generator.nightly.steps.prune", side_effect=StoreError("the disk is read-only")):
        failed = reported(lake, store.root, "--textfile", tmp_path / "prom", status=1)
    assert (failed["outcome"], failed["failed_step"]) == ("published", "prune")
    assert live_build_id(store) == failed["build"] == failed["live"]
    assert failed["error"] == f"the step prune failed: the disk is read-only; {failed['build']} is live"
    metrics = prometheus(tmp_path / "prom")
    assert (metrics['cardpress_nightly_failed_step{step="prune"}'], metrics["cardpress_nightly_success"]) == (1, 0)


def test_an_error_of_the_system_without_a_file_names_the_step_or_the_command(two) -> None:
    store, lake, _ = two
    error = OSError(22, "Invalid argument")
    with patch("generator.nightly.steps.verify", side_effect=error):
        failed = run("nightly", "--lake", lake, "--store", store.root, "--no-pages", status=1)
    assert failed.stderr.splitlines()[-1] == "cardpress: the step verify failed: [Errno 22] Invalid argument"
    with patch("generator.commands.build.open_lake", side_effect=error):
        failed = run("build", "--lake", lake, "--store", store.root, status=1)
    assert failed.stderr.startswith("cardpress: `cardpress build` failed: [Errno 22] Invalid argument; set CARDPRESS_")


def test_a_night_whose_log_is_full_is_recorded_as_failed(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7)
    command = [sys.executable, "-m", "generator", "nightly", "--lake", lake, "--store", store.root, "--no-pages"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, cwd=ROOT, env=environment(), stderr=full, timeout=300)
    assert ended.returncode == 1
    assert report(store)["outcome"] == "failed" and "standard error takes no line (No space" in report(store)["error"]
    assert "last night: failed" in run("show", "--store", store.root).stdout


def test_a_night_without_memory_ends_with_one_line(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7)
    demo_lake(lake, 8)
    with patch.object(steps, "make_build", side_effect=MemoryError):
        said = run("nightly", "--lake", lake, "--store", store.root, "--no-pages", status=1).stderr.splitlines()
    assert said[-1].startswith("cardpress: the step build failed: Python is out of memory: free some on this machine")
    assert report(store)["failed_step"] == "build"
