"""Commands below a folder whose name has quotes, spaces and an umlaut, with their temporary files there."""

import json
import tempfile
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.imports import write_list
from tests.support.nights import demo_lake


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of that name with a lake of a week; temporary files go below it too."""
    place = tmp_path / "it's a 'test' ü"
    (place / "tmp").mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(place / "tmp"))
    monkeypatch.setenv("TMPDIR", str(place / "tmp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    return place


@pytest.mark.thorough
def test_build_night_report_and_diff(place: Path) -> None:
    lake, store = demo_lake(place / "lake", 7), place / "store"
    first = run("build", "--lake", lake, "--store", store, "--publish", "--memory", "300MB").stdout.split()[-1]
    demo_lake(lake, 8)
    second = run("nightly", "--lake", lake, "--store", store).stdout.strip()
    report = place / "a 'report'.html"
    run("report", "--store", store, "--out", report)
    assert second in report.read_text("utf-8")
    changes = json.loads(run("diff", first, second, "--store", store, "--format", "json").stdout)
    assert {changes["old"]["id"], changes["new"]["id"]} == {first, second}


@pytest.mark.thorough
def test_ingest(place: Path) -> None:
    lake = place / "a 'lake'"
    products = [{"idProduct": 1, "name": "O'Card", "idCategory": 1, "categoryName": "x", "idExpansion": 3}]
    singles = write_list(place / "it's singles.json", "products", products)
    (place / "offers.jsonl").write_text('{"id_product":1,"checked_at":"2026-07-26T12:00:00Z","offers":0}\n')
    run("ingest", "cardmarket", "--lake", lake, "--singles", singles)
    run("ingest", "offers", "--lake", lake, place / "offers.jsonl")
    built = run("build", "--lake", lake, "--store", place / "a 'store'", "--publish")
    assert built.stdout.split()[-1].startswith("2026-07-26-")
