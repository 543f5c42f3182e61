"""`cardpress report` and the pages of a night: their numbers against the Cards, counted one by one."""

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from generator.compare.run_reports import prune_run_reports
from generator.errors import GateError
from generator.reading.report import pages_of
from generator.releases.publish import publish
from generator.storage.builds import open_build
from generator.storage.errors import StoreError
from generator.storage.stores.folder import FolderStore
from generator.threads import ONE_THREAD
from tests.nightly.test_nightly import night as one_night
from tests.support.commands import run
from tests.support.lake_edits import empty
from tests.support.nights import QUIET, at, demo_lake, names, published
from tests.support.pages import Page

pytestmark = pytest.mark.xdist_group("diff")


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> tuple[FolderStore, Path, dict]:
    """A store after a night over its grown lake, the lake, and the night's report."""
    store, lake, _ = published(tmp_path_factory.mktemp("report"), 7, 8)
    said = run("nightly", "--lake", demo_lake(lake, 9), "--store", store.root, "--json")
    return store, lake, json.loads(said.stdout)


def page(store: FolderStore, run_id: str, name: str = "report.html") -> str:
    return store.get(f"private/nights/{run_id}/{name}").decode()


def coverage(store: FolderStore, lake: Path, build: str) -> dict[tuple[str, str], Counter]:
    """Per game and kind how many products have each price, out of the Cards and the lake's expansions."""
    opened = open_build(store, build)
    games = {row["id"]: row["game"] for row in pq.read_table(lake / "expansions.parquet").to_pylist()}
    counts: dict[tuple[str, str], Counter] = {}
    for line in opened.catalogue.card_lines.lines(np.arange(len(opened.catalogue.ids))):
        card = json.loads(bytes(line))
        guide, listing, filtered = (card[name] or {} for name in ("price_guide", "listing", "filtered_price"))
        prices = {
            **{name: guide.get(name) for name in ("trend", "low", "avg")},
            "checked": card["filtered_price"],
            "filtered": filtered.get("lowest"),
            "from_price": listing.get("from_price"),
        }
        game = games.get(card["set"]["id"]) or "no game named"
        for key in ((g, k) for g in ("all games", game) for k in ("all", card["kind"])):
            counts.setdefault(key, Counter())["products"] += 1
            counts[key] += Counter(name for name, price in prices.items() if price is not None)
    return counts


@pytest.mark.thorough
def test_counts_and_coverage_are_those_of_the_cards(night: tuple[FolderStore, Path, dict]) -> None:
    store, lake, said = night
    expected = coverage(store, lake, said["build"])
    rows = Page(page(store, said["run"])).rows
    start = next(at for at, row in enumerate(rows) if row[:1] == ["Game"]) + 1
    shown = {(row[0], row[1]): row[2:] for row in rows[start : start + len(expected)]}
    for key, counts in expected.items():
        columns = [counts[name] for name in ("trend", "low", "avg", "checked", "filtered", "from_price")]
        shares = (100 * many / counts["products"] for many in columns)
        wanted = [f"{share:.0f} %" if share in (0, 100) else f"{share:.1f} %" for share in shares]
        assert shown[key] == [str(counts["products"]), *wanted]
    bands = rows[rows.index(["Euros", "Trend", "Low", "Lowest under the seller filter"]) + 1 :][:12]
    assert sum(int(row[1]) for row in bands) == expected["all games", "all"]["trend"]


def test_a_night_leaves_two_pages_that_link_to_each_other(night: tuple[FolderStore, Path, dict]) -> None:
    store, _, said = night
    report, changes = page(store, said["run"]), page(store, said["run"], "diff.html")
    assert "diff.html" in Page(report).links and "report.html" in Page(changes).links
    rows = {row[0]: row for row in Page(report).rows if row}
    assert rows["Price guide"][-2] == "2025-11-23"
    assert rows["products-lost"] == ["products-lost", "0", "0.01"]
    assert float(rows["catalogue"][-1]) == pytest.approx(said["layer_seconds"]["catalogue"], abs=0.06)
    layers = [row[0] for row in Page(report).rows if row and row[0] in said["layer_seconds"]]
    assert layers == sorted(layers, key=lambda layer: -said["layer_seconds"][layer])
    assert f"pages of the last night: private/nights/{said['run']}/" in run("show", "--store", store.root).stdout


def without_ages(page: str) -> str:
    """A page without the table of ages, which depends on the clock."""
    return re.sub(r"(?s)<h2>Freshness at .*?</section>", "", page, count=1)


def test_the_same_build_gives_the_same_page(night: tuple[FolderStore, Path, dict], tmp_path: Path) -> None:
    store, _, said = night
    before = names(store)
    again = run("report", said["build"], "--store", store.root, "--out", tmp_path / "r.html", "--against", "previous")
    assert again.stdout.split() == [str(tmp_path / "diff.html"), str(tmp_path / "r.html")]
    assert without_ages((tmp_path / "r.html").read_text()) == without_ages(page(store, said["run"]))
    assert 'href="r.html"' in (tmp_path / "diff.html").read_text()
    assert names(store) == before


def test_ages_count_up_to_the_clock_and_bands_up_to_the_as_of_day(night: tuple[FolderStore, Path, dict]) -> None:
    store, _, said = night
    clock = at(datetime(2025, 12, 24, 6, 30, tzinfo=UTC))
    pages = pages_of(open_build(store, said["build"]), None, clock, ONE_THREAD, QUIET)
    once = pages["report.html"].decode()
    [guide] = [row for row in Page(once).rows if row and row[0] == "Price guide"]
    assert guide[-2:] == ["2025-11-23", "30 d"]  # and 6.5 hours since the end of that day
    assert "Freshness at 2025-12-24 06:30 UTC" in once


@pytest.fixture
def before(tmp_path: Path) -> tuple[FolderStore, Path]:
    """A store in which the build of the lake is made, but the one before is live."""
    store, lake, ids = published(tmp_path, 7, 8)
    publish(store, ids[0], by_hand=True)
    return store, lake


@pytest.mark.thorough
def test_a_refused_night_says_why_on_its_page(before: tuple[FolderStore, Path]) -> None:
    store, lake = before
    empty("watchlist")(lake)
    with pytest.raises(GateError):
        one_night(lake, store, pages=True)
    [name] = (name for name in store.list("private/nights/") if name.endswith("report.html"))
    shown = store.get(name).decode()
    assert "1 breached" in shown and "breached: nothing is left of the tables" in shown and "refused" in shown


@pytest.mark.thorough
def test_a_page_that_cannot_be_written_fails_no_night(
    before: tuple[FolderStore, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, lake = before

    def refuse(name: str, data: bytes, put=store.put) -> None:
        if name.endswith(".html"):
            raise StoreError("the disk is full")
        put(name, data)

    monkeypatch.setattr(store, "put", refuse)
    assert one_night(lake, store, pages=True).outcome == "published"
    assert [*store.list("private/nights/")] == []


def test_only_the_newest_pages_are_kept(tmp_path: Path) -> None:
    store = FolderStore(str(tmp_path))
    for number in range(5):
        store.put(f"reports/{number}.json", b"{}")
        store.put(f"private/nights/{number}/report.html", b"")
    prune_run_reports(store, max_reports=4, max_pages=2)
    assert sorted(names(store)) == [
        "private/nights/3/report.html",
        "private/nights/4/report.html",
        *(f"reports/{number}.json" for number in range(1, 5)),
    ]
