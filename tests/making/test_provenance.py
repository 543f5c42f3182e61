"""The record of a build names its inputs and its code by hash, and `show BUILD` prints them with the gates."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from generator.lake.quarantine import files_read
from generator.storage.builds import open_build
from tests.support.commands import run
from tests.support.lake_edits import rewrite
from tests.support.nights import FIRST_DAY, demo_lake, make, published

pytestmark = pytest.mark.xdist_group("nights")


@pytest.mark.thorough
def test_inputs_that_differ_have_other_hashes(tmp_path: Path) -> None:
    store, lake, ids = published(tmp_path, 7, 8)
    first = open_build(store, ids[0]).record["provenance"]
    second = open_build(store, ids[1]).record["provenance"]
    assert first["code"] == second["code"] and len(first["code"]["sha256"]) == 64
    assert first["inputs"]["products"] == second["inputs"]["products"]
    guide = first["inputs"]["price_guide"]
    assert (guide["files"], guide["first_day"]) == (7, str(FIRST_DAY))
    assert second["inputs"]["price_guide"]["bytes"] == sum(f.stat().st_size for f in lake.glob("price_guide/*/*"))
    assert guide["sha256"] != second["inputs"]["price_guide"]["sha256"]
    assert len(first["inputs"]["fingerprints.json"]["sha256"]) == 64


@pytest.mark.thorough
def test_a_record_names_the_files_of_the_open_month_alone(tmp_path: Path) -> None:
    """The files of closed months stand in layers of years, so that a record does not grow with the years."""
    store, lake, ids = published(tmp_path, 7, 48)  # to the first day of January
    build = open_build(store, ids[1])
    assert build.as_of.isoformat() == "2026-01-01"
    guide = build.record["provenance"]["inputs"]["price_guide"]
    assert (guide["first_day"], list(guide["days"])) == (str(FIRST_DAY), ["2026-01-01"])
    read = {key.day for key in files_read(build) if key.table == "price_guide"}
    assert read == {path.name.removeprefix("day=") for path in lake.glob("price_guide/day=*")}
    assert len(read) == guide["files"]
    changed = "2025-11-20"
    [file] = (lake / f"price_guide/day={changed}").iterdir()
    rewrite(file, "from rows order by id_product limit 5")
    corrected = open_build(store, make(lake, store))
    unread = files_read(corrected) - files_read(build)
    assert {(key.table, key.day) for key in unread} == {("price_guide", changed)}


@pytest.mark.thorough
def test_show_prints_where_a_build_comes_from(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    rewrite(lake / "watchlist.parquet", "from rows limit 0")
    run("nightly", "--lake", lake, "--store", store.root, "--no-pages", "--force", "tables-emptied")
    record = json.loads(run("show", "live", "--store", store.root, "--json").stdout)["record"]
    text = run("show", "live", "--store", store.root).stdout
    assert all(table["sha256"] in text for table in record["provenance"]["inputs"].values())
    assert f"code: cardpress {version('cardpress')}, SHA-256 {record['provenance']['code']['sha256']}" in text
    assert any(line.startswith("  tables-emptied  forced: ") for line in text.splitlines())
    assert record["provenance"]["gates"] == f"gates/{record['id']}.json"
