"""Lakes with nothing, with no product and with one product: right answers, or one clear line."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.lakes import Rows, write
from tests.support.nights import assert_whole
from tests.support.oracle import Oracle, bulk
from tests.support.shim_clients import open_client

DAY = "2026-03-01"
ONE = Rows(
    products=[{"id_product": 7, "name": "Only", "kind": "single", "id_expansion": 3}],
    expansions=[{"id": 3, "name": "Base"}],
    price_guide={DAY: [{"id_product": 7, "low": 1.0, "trend": 2.5}]},
)
EMPTY = Rows(products=[], price_guide={DAY: []})
SEARCHES = (
    *("names", "names?game=a", "facets", "facets?q=a", "facets?kind=sealed&game=a", "facets?min_price=1&max_price=2.5"),
    *("facets?set=3", "cards?sort=match&q=a", "cards?sort=match&q=only&kind=single&min_price=1", "cards?sort=match"),
)


def night(lake: Path, store: Path, *options: str, status: int = 0) -> dict:
    return json.loads(run("nightly", "--lake", lake, "--store", store, "--json", *options, status=status).stdout)


@pytest.mark.parametrize(
    "rows", [pytest.param(EMPTY, id="empty"), pytest.param(ONE, id="one product", marks=pytest.mark.thorough)]
)
@pytest.mark.thorough
def test_every_command_and_answer(rows: Rows, tmp_path: Path) -> None:
    lake, store = write(rows, tmp_path / "lake"), tmp_path / "store"
    report = night(lake, store)
    assert report["outcome"] == "published"
    assert night(lake, store)["outcome"] == "unchanged"
    assert_whole(FolderStore(str(store)))
    oracle = Oracle(lake, None, report["build"])
    with open_client(str(store), str(tmp_path / "state"), 1000) as shim:
        manifest = shim.get("/api/v1/bulk").json
        cards = shim.get("/api/v1/cards").json["data"]
        for path in ("sets", "movers", "watchlist", "changes", "status", "games"):
            assert shim.get(f"/api/v1/{path}").status == 200, path
        week = shim.get("/explore/week.json").json
        assert (week["steps"], week["changes"], week["days"], week["then"]) == ([], [], [], [])
        for target in SEARCHES:
            answer = shim.get(f"/api/v1/{target}")
            status, expected = oracle.ask(f"/api/v1/{target}")
            found = answer.json if status == 200 else answer.json["error"]["code"]
            assert (answer.status, found) == (status, expected), target
    run("export", tmp_path / "tree", "--store", store)
    tree = tmp_path / "tree" / "api" / "v1"
    assert json.loads((tree / "bulk.json").read_bytes()) == manifest
    for table in bulk.COLUMNS:
        files = [file for file in manifest["files"] if file["table"] == table]
        parts = [pq.read_table(tree / "bulk" / file["name"]).to_pylist() for file in files]
        assert [row for part in parts for row in part] == bulk.rows(oracle.lake, table), table
        assert sum(file["records"] for file in files) == len(bulk.rows(oracle.lake, table))
    assert cards == [oracle.cards.card(id_) for id_ in oracle.lake.products]
    [lines] = [file for file in manifest["files"] if file["table"] == "cards"]
    assert lines["records"] == len(rows.products)
    run("show", "--store", store)
    run("doctor", "--store", store, "--lake", lake, "--read-only", "--state", tmp_path / "state")


def test_a_lake_without_anything_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    for command in ("nightly", "build"):
        refused = run(command, "--lake", tmp_path / "lake", "--store", tmp_path / "store", status=1)
        assert "has no products*.parquet, the one table that a build cannot do without" in refused.stderr
    for words in (("export", tmp_path / "tree"), ("report",), ("verify",), ("diff", "live", "previous")):
        refused = run(*words, "--store", tmp_path / "store", status=1)
        [line] = refused.stderr.splitlines()
        assert line.startswith("cardpress: no build is live in ") and refused.stdout == ""
