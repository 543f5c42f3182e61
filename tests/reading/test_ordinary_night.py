"""Whether a night was ordinary: its figures compared with the reports of earlier nights."""

import json
import re
import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest

from generator.compare.comparison import compare
from generator.compare.ordinary import compare_night, count_differences, strange_by_gates
from generator.reading.diff_pages import figures_table
from generator.storage.builds import open_build
from generator.storage.stores.folder import FolderStore
from generator.threads import ONE_THREAD
from tests.support.commands import run
from tests.support.lakes import Rows, write
from tests.support.nights import make, published

TONIGHT = date(2026, 8, 22)


def leave_report(store: FolderStore, days_ago: int, trends: int, outcome: str = "published", **figures: int) -> None:
    day = TONIGHT - timedelta(days=days_ago)
    differences = {"trends_changed": trends, "products_lost": 0, **figures}
    report = {
        "run": f"{day:%Y%m%d}", "outcome": outcome, "record": {"as_of": f"{day}"},
        "judgement": {"against": "some build", "differences": differences},
    }  # fmt: skip
    store.put(f"reports/{day:%Y%m%d}T000000Z-{days_ago}.json", json.dumps(report).encode())


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    """A store with the reports of ten nights; one night was refused."""
    store = FolderStore(str(tmp_path))
    for days_ago in range(1, 11):
        leave_report(store, days_ago, 1000 + days_ago)
    leave_report(store, 4, 90_000, outcome="refused")
    leave_report(store, -1, 70_000)  # a later night
    return store


def test_an_ordinary_night(store: FolderStore) -> None:
    found = compare_night(store, TONIGHT, {"trends_changed": 1500, "products_lost": 3})
    assert found.sentence == "An ordinary night: its figures are like those of the 9 nights before."
    [trends, lost] = found.rows
    assert (trends.tonight, trends.yesterday, trends.last_week) == (1500, 1001, 1007)
    assert trends.ordinary and lost.ordinary


def test_facts_come_first_and_zeros_are_one_line(store: FolderStore) -> None:
    tonight = {"products_lost": 0, "sets_added": 0, "trends_changed": 9_000, "products_added": 4, "lows_changed": 0}
    shown = figures_table(compare_night(store, TONIGHT, tonight))
    assert [row.cells[0].text for row in shown.rows] == ["trends changed", "products added"]
    assert shown.heads == ["Figure", "Now", "2026-08-21", "2026-08-15"]
    assert shown.note == "None, as usual: products lost, sets added, lows changed."


@pytest.mark.parametrize("trends", [0, 400, 5000])
def test_a_night_with_other_figures(store: FolderStore, trends: int) -> None:
    found = compare_night(store, TONIGHT, {"trends_changed": trends, "products_lost": 0})
    said = f"{trends:,} trends changed" if trends else "no price of the guide changed"
    assert found.sentence.startswith(f"Not an ordinary night: {said}.")
    assert [row.ordinary for row in found.rows] == [False, True]


def test_two_nights_are_too_few(tmp_path: Path) -> None:
    store = FolderStore(str(tmp_path))
    leave_report(store, 1, 5)
    leave_report(store, 2, 5)
    found = compare_night(store, TONIGHT, {"trends_changed": 10_000})
    assert "too few earlier nights (2)" in found.sentence and found.rows[0].ordinary
    assert figures_table(found).heads[2:] == ["2026-08-21"], "a page has no column without a figure"


def test_days_of_the_history_are_ordinary_only_as_many_as_before(store: FolderStore) -> None:
    for days_ago in range(1, 4):
        leave_report(store, days_ago, 1000, days_added=1, past_days_changed=0)
    found = compare_night(store, TONIGHT, {"days_added": 1, "past_days_changed": 20})
    assert found.sentence.startswith("Not an ordinary night: 20 past days changed.")
    found = compare_night(store, TONIGHT, {"days_added": 2, "past_days_changed": 0})
    assert found.sentence.startswith("Not an ordinary night: 2 days added.")


def test_what_gates_said_of_the_night_comes_first(store: FolderStore) -> None:
    words = [f"gate {number}" for number in range(4)]
    verdicts = [{"breached": number > 0, "forced": number > 1, "message": word} for number, word in enumerate(words)]
    judgement = {"against": "old", "verdicts": verdicts, "remarks": [{"message": "a remark"}]}
    store.put("gates/new.json", json.dumps(judgement).encode())
    assert strange_by_gates(store, "new", "another") == strange_by_gates(store, "unknown", "old") == []
    strange = strange_by_gates(store, "new", "old")
    assert strange == ["gate 1", "gate 2", "gate 3", "a remark"]
    found = compare_night(store, TONIGHT, {"trends_changed": 1500}, strange)
    assert found.sentence == "Not an ordinary night: gate 1; and 3 more."
    assert found.more == ["gate 2", "gate 3", "a remark"]
    store.put("gates/new.json", b"")
    assert strange_by_gates(store, "new", "old") == [], "a power cut left it empty"


@pytest.mark.thorough
def test_a_guide_that_only_has_a_new_day_changes_no_product(tmp_path: Path) -> None:
    store, lake, [old] = published(tmp_path, 7)
    days = sorted((lake / "price_guide").iterdir())
    tomorrow = date.fromisoformat(days[-1].name.removeprefix("day=")) + timedelta(days=1)
    shutil.copytree(days[-1], lake / "price_guide" / f"day={tomorrow}")
    new = make(lake, store)
    document = json.loads(run("diff", old, new, "--store", store.root, "--json").stdout)
    assert document["item_counts"][0]["changed"] > 40
    text = run("diff", old, new, "--store", store.root).stdout
    assert re.search("^Figures. None, as usual: .*products changed", text, re.MULTILINE)


@pytest.mark.thorough
def test_a_set_is_what_the_lists_call_one(tmp_path: Path) -> None:
    """An expansion that the lake does not name is no set, neither among the figures nor on the list."""
    products = [{"id_product": n, "name": f"P{n}", "kind": "single", "id_expansion": n} for n in (1, 2, 3)]
    guide = {str(TONIGHT): [{"id_product": 1, "trend": 1.0}]}
    store, builds = FolderStore(str(tmp_path / "store")), []
    for names in (["One"], ["One", "Two"]):
        expansions = [{"id": n, "name": name} for n, name in enumerate(names, 1)]
        lake = Rows(products=products, expansions=expansions, price_guide=guide)
        builds.append(make(write(lake, tmp_path / names[-1]), store))
    with compare(*(open_build(store, build) for build in builds), ONE_THREAD) as comparison:
        counted = count_differences(comparison)
    listed = json.loads(run("diff", *builds, "--store", store.root, "--json").stdout)["sets"]
    assert counted["sets_added"] == len(listed["added"]) == 1
