"""A game that is held stops nothing else: the nights after it, what they say, and how a person ends it."""

import json
import re
import shlex
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from generator import settings
from generator.lake.quarantine import ACCEPTED, DROPPED, HELD, QuarantinedFile, read_quarantine
from generator.nightly.monitoring import notice, write_textfile
from generator.storage import layout
from generator.storage.builds import live_build_id, open_build
from generator.storage.stores.folder import FolderStore
from tests.nightly.test_gates import of_day
from tests.nightly.test_nightly import night, prometheus
from tests.nightly.test_quarantine import few_prices, prices_of_a_game
from tests.support.commands import run
from tests.support.lake_edits import rewrite
from tests.support.nights import FIRST_DAY, demo_lake, make, published

__all__ = ["few_prices"]
pytestmark = [pytest.mark.xdist_group("nights"), pytest.mark.usefixtures("few_prices")]
TABLES = ("price_guide", "products")
GUIDE_OF = "price_guide/day={}"


def day_of(days: int) -> date:
    return FIRST_DAY + timedelta(days=days - 1)


def newest_days(store: FolderStore, build: str) -> dict[str, date]:
    """Return the newest day of the price guide by game, from the bulk files of a build."""
    opened = open_build(store, build)
    paths = {n: str(store.local_path(f.object)) for n, f in opened.bulk_files.items() if n.endswith(".parquet")}
    guide, products = ([path for name, path in paths.items() if name.startswith(f"{table}-")] for table in TABLES)
    query = f"""
        select p.game, max(day) from read_parquet({guide}) join read_parquet({products}) as p using (id_product)
        where p.game is not null group by 1
    """
    return dict(duckdb.sql(query).fetchall())


def verdicts(store: FolderStore) -> list[tuple[str, str | None, str]]:
    return [(file.day, file.game, file.verdict) for file in read_quarantine(store)]


def test_ten_nights_go_on_while_a_game_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENOUGH_ROWS", 8)
    store, lake, _ = published(tmp_path, 7, 8)
    nights = [
        days for days in range(9, 30) if (demo_lake(tmp_path / "all", 30) / GUIDE_OF.format(day_of(days))).is_dir()
    ]
    first = day_of(nights[0])
    for days in nights[:10]:
        tonight = day_of(days)
        game, _ = prices_of_a_game(demo_lake(lake, days), tonight, "1.5")
        report = night(lake, store, pages=days == nights[9])
        assert (report.outcome, report.data_day) == ("published", str(tonight))
        newest = newest_days(store, report.live or "")
        assert newest.pop(game) == first - timedelta(days=1) and set(newest.values()) == {tonight}
        remarks = {remark.gate: str(remark.figures) for remark in report.judgement.remarks}
        assert "sources-late" not in remarks and game not in remarks.get("columns-unusual", ""), "it is held, not late"
    said = report.held
    assert f"{game}'s prices of 10 days since {first} are held (" in said and ": median of " in said
    content = notice(report, None)["content"]
    assert content.count(said) == 1 and "in quarantine" not in content, "once in a notice"
    assert content.startswith(f"cardpress: {said}; published, live ")
    assert f"`cardpress quarantine accept --game {shlex.quote(game)} " in content
    page = store.get(layout.page_name(report.run, "report.html")).decode()
    assert f"10 days since {first} are held" in page
    write_textfile(tmp_path / "night.prom", report)
    seconds = datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()
    name = f'cardpress_nightly_held_timestamp_seconds{{table="price_guide",game="{game}"}}'
    assert prometheus(tmp_path / "night.prom")[name] == seconds
    told = run("nightly", "--lake", lake, "--store", store.root, "--no-pages").stderr
    assert f"{said}: `cardpress quarantine accept --game " in told
    assert "median of " in run("quarantine", "accept", "--game", game, "--store", store.root).stderr
    assert night(lake, store).outcome == "published" and {file.verdict for file in read_quarantine(store)} == {ACCEPTED}
    whole = make(lake, FolderStore(str(tmp_path / "other")))
    assert live_build_id(store) == whole, "a chain of nights ends as one build does"


@pytest.mark.thorough
def test_two_games_held_on_different_days_end_each_in_its_own_way(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    one, _ = prices_of_a_game(demo_lake(lake, 9), day_of(9), "1.5")
    assert night(lake, store).outcome == "published"
    other, _ = prices_of_a_game(demo_lake(lake, 10), day_of(10), "9", place=1)
    report = night(lake, store)
    assert report.outcome == "published" and one != other
    assert verdicts(store) == [(str(day_of(9)), one, HELD), (str(day_of(10)), other, HELD)]
    assert newest_days(store, report.live or "")[one] == day_of(10), "its good day after the held one comes in"
    assert newest_days(store, report.live or "")[other] == day_of(9)
    run("quarantine", "accept", "--game", one, "--store", store.root)
    refused = run("quarantine", "accept", day_of(10), "--game", other, "--store", store.root, status=1)
    assert re.search(r"× (8.9|9)\S* over", refused.stderr) and "pass --yes" in refused.stderr
    run("quarantine", "drop", day_of(10), "--game", other, "--store", store.root)
    report = night(demo_lake(lake, 11), store)
    assert (report.outcome, report.held) == ("published", "")
    assert set(newest_days(store, report.live or "").values()) == {day_of(11)}
    assert verdicts(store) == [(str(day_of(9)), one, ACCEPTED), (str(day_of(10)), other, DROPPED)]


def test_a_game_of_a_day_that_is_held_whole_is_accepted_alone(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    day, games = day_of(9), []
    demo_lake(lake, 9)
    for place, factor in enumerate(["1.5", "9", "9", "9"]):
        games.append(prices_of_a_game(lake, day, factor, place)[0])
    failed = run("nightly", "--lake", lake, "--store", store.root, "--no-pages", status=1).stderr
    told = re.search(r"; so of (\d) games: (.*?) \(up to", failed.splitlines()[-1])
    assert told and {*games[:2]} <= set(told[2].split(", ")), failed
    [whole] = read_quarantine(store)
    assert whole.game is None and whole.day == str(day)
    unknown = run("quarantine", "accept", day, "--game", "Nothing", "--store", store.root, status=1).stderr
    assert "rows of the game Nothing" in unknown and len(read_quarantine(store)) == 1
    asked = run("quarantine", "accept", day, "--game", games[1], "--store", store.root, status=1).stderr
    assert re.search(r"× (8.9|9)\S* over", asked) and f"({games[1]})" in asked, "its own figures"
    assert "pass --yes" in run("quarantine", "accept", day, "--store", store.root, status=1).stderr
    run("quarantine", "accept", day, "--game", games[0], "--store", store.root)
    assert {game for _, game, verdict in verdicts(store) if verdict == ACCEPTED} == {games[0]}
    report = night(lake, store)
    assert report.outcome == "published"
    newest = newest_days(store, report.live or "")
    assert newest.pop(games[0]) == day and set(newest.values()) == {day - timedelta(days=1)}


def test_days_that_still_wait_after_a_decision_are_said(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    for days in (9, 10):
        game, _ = prices_of_a_game(demo_lake(lake, days), day_of(days), "1.5")
        night(lake, store)
    told = run("quarantine", "accept", day_of(9), "--game", game, "--store", store.root).stderr
    assert f"still left out: price_guide of {day_of(10)} ({game})" in told


@pytest.mark.thorough
def test_a_game_that_the_marketplace_drops_is_said_and_stops_nothing(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    for days in range(9, 14):
        tonight = day_of(days)
        game, ids = prices_of_a_game(demo_lake(lake, days), tonight, "1")
        rewrite(
            of_day(lake, "price_guide", tonight), f"from rows where id_product not in {(*ids, -1)} order by id_product"
        )
        report = night(lake, store)
        assert (report.outcome, report.data_day) == ("published", str(tonight))
    [late] = [remark.message for remark in report.judgement.remarks if remark.gate == "sources-late"]
    assert f"price_guide of {game} (5 days old" in late and late in notice(report, None)["content"].splitlines()[0]


def test_a_list_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    store = FolderStore(str(tmp_path / "store"))
    file = QuarantinedFile("price_guide", "2026-08-24", "0" * 64, HELD, {"prices-scaled": 2.0}, "b", "r", "t")
    known = {name: value for name, value in asdict(file).items() if name != "moved"}
    store.put(layout.QUARANTINE, json.dumps({"format": 1, "files": [known]}).encode())
    assert read_quarantine(store) == [file]
