"""Each line of docs/static-tree.md about a tree holds. Broken exports and buckets: tests/stores/test_export.py."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.site import pages
from tests.support.commands import build, run
from tests.support.lakes import Rows, write
from tests.support.service import ROOT

pytestmark = [pytest.mark.xdist_group("static tree"), pytest.mark.thorough]  # one process: what they share is made once

DOCUMENT = (ROOT / "docs" / "static-tree.md").read_text("utf-8")
PRODUCTS = [
    {"id_product": n, "name": f"P{n}", "kind": "single", "id_expansion": 1, "number": str(n)} for n in range(1, 131)
]
SLUGS = ("sealed/box", "x", "x.json", ".hidden", "Émber")
GUIDE = [{"id_product": n, "trend": n / 4} for n in range(1, 121)]
LAKE = Rows(
    products=PRODUCTS,
    expansions=[{"id": 1, "name": "One", "game": "Mythgrove"}],
    price_guide={"2026-08-21": GUIDE, "2026-08-22": GUIDE},
    watchlist=[{"slug": slug, "name": slug, "url": f"https://market.example/{n}"} for n, slug in enumerate(SLUGS)],
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("static-tree")
    build(write(LAKE, folder / "lake"), folder / "store")
    return folder / "store"


@pytest.fixture(scope="module")
def tree(store: Path) -> Iterator[Path]:
    run("export", store.parent / "tree", "--store", store)
    yield store.parent / "tree"


def read(tree: Path, name: str) -> object:
    return json.loads((tree / "api" / "v1" / name).read_bytes())


def said(*words: str) -> None:
    """Check that the document says what a test is about to check."""
    flat = " ".join(DOCUMENT.split())
    assert all(word in flat for word in words), words


def test_documents_are_below_the_apis_own_paths_and_the_site_beside_them(tree: Path) -> None:
    said("below `TARGET/api/v1` under the API's own paths", "the site to `TARGET/docs` and `TARGET/explore`")
    assert read(tree, "cards/7.json")["name"] == "P7"
    site = {key for key in pages.documents() if key.startswith(("docs/", "explore/"))}
    assert site <= {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}


def test_lists_have_the_names_of_the_document(tree: Path) -> None:
    said("`market/{by}/{sort}/{n}.json`", "`market/sets/{id}.json`", "`market/games/{n}.json`", "`movers/confirmed/…`")
    (row,) = read(tree, "market/set/value/0.json")["data"]
    assert row["set"] == {"id": 1, "name": "One"} == read(tree, "market/sets/1.json")["set"]
    assert read(tree, "market/games/0.json")["game"] == read(tree, "games/0.json")["data"][0]["name"] == "Mythgrove"
    assert (tree / "api/v1/movers/confirmed/7d/percent/up/all/1/0.json").exists()


def test_slugs_in_file_names(tree: Path) -> None:
    said(
        "every byte of its UTF-8 that is no letter, digit, `-`, `_` or `.` is `~`",
        "`watchlist/sealed~2Fbox.json`",
        "`x~2Ejson`",
    )
    names = {path.name for path in (tree / "api/v1/watchlist").glob("*.json")}
    assert names == {"sealed~2Fbox.json", "x.json", "x~2Ejson.json", "~2Ehidden.json", "~C3~89mber.json"}


def test_lists_json_gives_the_length_of_each_list_and_reads_it_from_its_end(tree: Path) -> None:
    said(
        "`lists.json` says how long each list of pages is (`rows`, `rows_per_page`, `pages`)",
        "`with_key` counts the rows",
    )
    lists = read(tree, "lists.json")
    for folder, entry in lists.items():
        found = [read(tree, f"{folder}/{n}.json")["data"] for n in range(entry["pages"])]
        assert not (tree / "api/v1" / folder / f"{entry['pages']}.json").exists()
        assert [len(page) for page in found[:-1]] == [entry["rows_per_page"]] * (entry["pages"] - 1)
        assert sum(map(len, found)) == entry["rows"], folder
    trend = lists["cards/all/trend"]
    assert (trend["rows"], trend["with_key"]) == (130, 120)


def test_a_second_run_and_the_record(store: Path, tree: Path) -> None:
    said(
        "A second run writes only the files whose content changed", "the build, and every file with its size and hashes"
    )
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*") if path.is_file()}
    run("export", tree, "--store", store)
    after = {path: path.stat().st_mtime_ns for path in tree.rglob("*") if path.is_file()}
    record = tree / ".cardpress-export.json"
    assert {path for path in after if after[path] != before.get(path)} <= {record} and after.keys() == before.keys()
    text = record.read_text()
    assert read(tree, "status.json")["build"]["id"] in text and "api/v1/cards/7.json" in text


def test_what_no_export_wrote_is_left_or_refused(store: Path, tmp_path: Path) -> None:
    said("Files that no export wrote stay as they are", "A TARGET that is not empty and has no record is refused")
    (tmp_path / "mine.txt").write_text("mine")
    assert "is not an empty folder" in run("export", tmp_path, "--store", store, status=1).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_is_plain_and_gzip_is_beside_it(store: Path, tmp_path: Path) -> None:
    said("`--gzip` also writes a `.gz` beside each")
    run("export", tmp_path / "tree", "--store", store, "--gzip")
    plain = list((tmp_path / "tree/api/v1/cards").glob("*.json"))
    assert len(plain) == 130 and all(path.with_name(f"{path.name}.gz").exists() for path in plain)


def test_every_line_has_a_test() -> None:
    """A new line of the document comes with a test: here, or beside the exports that break off."""
    assert len(re.findall("^- ", DOCUMENT, re.MULTILINE)) == 10
