"""The static tree in a folder: what a run writes, what it leaves alone, and what a kill leaves behind."""

import hashlib
import json
import os
import random
import subprocess
from contextlib import suppress
from itertools import count
from pathlib import Path
from urllib.request import urlopen

import pytest

from generator.compare.run_reports import Judgement, newest_report
from generator.nightly import steps
from generator.releases.publish import publish
from generator.storage.builds import live_build_id, open_build
from generator.storage.layout import is_site_file
from generator.storage.stores.folder import FolderStore
from generator.tree import export as exporting
from generator.tree.documents import Documents
from generator.tree.export import Target, export
from tests.support.commands import run
from tests.support.file_server import file_server
from tests.support.lakes import Rows, write
from tests.support.nights import QUIET, make, published

RECORD = ".cardpress-export.json"
pytestmark = [
    pytest.mark.xdist_group("nights"),
    pytest.mark.thorough,
]  # one process: the published builds are made once


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def two(tmp_path: Path) -> tuple[FolderStore, Path, list[str]]:
    """A store with builds of the last day of a month and of two days later, so that a month closes between them."""
    return published(tmp_path, 16, 18)


def content(tree: Path) -> dict[str, bytes]:
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in sorted(tree.rglob("*")) if path.is_file()}


def written(store: FolderStore, build: str, tree: Path, **more) -> int:
    return export(open_build(store, build), str(tree), gzip=more.get("gzip", False), progress=QUIET).written


def same(one: Path, other: Path) -> bool:
    return subprocess.run(["diff", "-r", one, other], capture_output=True).returncode == 0


def test_a_second_night_writes_only_what_changed(two, tmp_path: Path) -> None:
    store, _, (first, second) = two
    tree = tmp_path / "tree"
    written(store, first, tree)
    before = content(tree)
    assert [build[:10] for build in (first, second)] == ["2025-11-30", "2025-12-02"]
    for path in tree.rglob("*"):
        os.utime(path, (0, 0))
    number = written(store, second, tree)
    written(store, second, tmp_path / "fresh")
    after = content(tree)
    assert same(tree, tmp_path / "fresh")
    changed = {name for name in after if after[name] != before.get(name)}
    assert {name for name in after if (tree / name).stat().st_mtime > 0} == changed
    assert number == len(changed - {RECORD}) < len(after)
    assert json.loads(after[RECORD])["build"] == second == json.loads(after["api/v1/status.json"])["build"]["id"]
    assert written(store, second, tree) == 0
    written(store, first, tree)
    assert content(tree) == before


def test_every_object_has_the_file_that_the_contract_names(two, tmp_path: Path) -> None:
    store, _, (_, second) = two
    tree = tmp_path / "tree"
    written(store, second, tree)
    build, files = open_build(store, second), content(tree / "api/v1")
    listed = {f"bulk/{file['name']}": file for file in json.loads(files["bulk.json"])["files"]}
    others = {"lists.json", "bulk/catalog.ducklake"}
    documents = {document.name.removeprefix("api/v1/"): document.key for document in Documents(build)}
    assert {name for name, key in documents.items() if not is_site_file(key)} == files.keys()
    assert listed.keys() | others < files.keys()
    [catalogue] = [name for name in listed if name.startswith("bulk/catalog-")]
    assert files["bulk/catalog.ducklake"] == files[catalogue]
    assert {hashlib.sha256(files[name]).hexdigest() for name in listed} == {file["sha256"] for file in listed.values()}
    assert {"games/0.json", "sets/0.json", "movers/7d/percent/up/all/1/0.json", "fingerprints.json"} <= set(files)
    found = Documents(build)
    assert all(files[name] == found.find(key) for name, key in documents.items() if name in files)


SLUGS = {  # and their names in a tree
    "plain": "plain", "a/b": "a~2Fb", "Épée": "~C3~89p~C3~A9e", ".hidden": "~2Ehidden", "..": "~2E.", "x~y": "x~7Ey",
    "100 %": "100~20~25", "x": "x", "y.json": "y.json", "x.json": "x~2Ejson",
}  # fmt: skip


def test_any_host_finds_a_slug_under_its_own_name(tmp_path: Path) -> None:
    store, tree = FolderStore(str(tmp_path / "store")), tmp_path / "tree"
    watched = [{"slug": slug, "name": "n", "url": "https://market.example/x"} for slug in SLUGS]
    guide = {"2026-03-01": [{"id_product": 1, "trend": 1.0}]}
    products = [{"id_product": 1, "name": "n", "kind": "single"}]
    build = make(write(Rows(products=products, watchlist=watched, price_guide=guide), tmp_path / "lake"), store)
    written(store, build, tree)
    with file_server(tree) as base:
        for slug, name in SLUGS.items():
            for path in (f"{name}.json", f"{name}/offers.json", f"{name}/history/weekly-30d.json"):
                with urlopen(f"{base}/api/v1/watchlist/{path}") as answer:
                    found = answer.read()
                assert json.loads(found)["slug"] == slug
                location = ("--store", store.location, "--build", build)
                assert run("cat", f"watchlist/{path}", *location).stdout.encode() == found


def test_files_that_are_gone_are_deleted_and_no_others(tmp_path: Path) -> None:
    store, tree = FolderStore(str(tmp_path / "store")), tmp_path / "tree"
    watched = [{"slug": f"slug {n}", "name": "n", "url": f"https://market.example/{n}"} for n in range(2)]
    products = [{"id_product": id_, "name": f"n{id_}", "kind": "single"} for id_ in range(150)]
    guide = {"2026-03-01": [{"id_product": 1, "trend": 1.0}]}
    large = make(write(Rows(products=products, watchlist=watched, price_guide=guide), tmp_path / "large"), store)
    small = make(write(Rows(products=products[:50], watchlist=watched[:1], price_guide=guide), tmp_path / "s"), store)
    written(store, large, tree)
    mine = [tree / "README", tree / "api/v1/cards/mine.txt", tree / "api/v1/watchlist/slug~201/notes/x"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    written(store, small, tree)
    assert all(path.read_text() == "mine" for path in mine)
    for path in mine:
        path.unlink()
    for folder in ("notes", "."):
        (tree / "api/v1/watchlist/slug~201" / folder).resolve().rmdir()
    written(store, small, tmp_path / "fresh")
    assert same(tree, tmp_path / "fresh")


def test_a_foreign_file_is_never_touched(two, tmp_path: Path) -> None:
    store, _, (first, second) = two
    publish(store, first, by_hand=True)
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "file").touch()
    assert "not an empty folder" in run("export", strange, "--store", store.location, status=1).stderr
    assert "is a file" in run("export", strange / "file", "--store", store.location, status=1).stderr
    tree = tmp_path / "tree"
    written(store, first, tree)
    in_the_way(tree, store, second)


def in_the_way(tree: Path, store: FolderStore, build: str) -> None:
    record = json.loads((tree / RECORD).read_text())
    name = "api/v1/movers/7d/percent/up/all/1/0.json"  # as if an older version had not exported it
    del record["files"][name]
    (tree / RECORD).write_text(json.dumps(record))
    before = content(tree)
    refused = run("export", tree, "--store", store.location, "--build", build, status=1).stderr
    assert f"{name} in {tree} stands in the way" in refused
    assert content(tree) == before
    (tree / name).unlink()
    (tree / name).symlink_to(tree / RECORD)
    assert "stands in the way" in run("export", tree, "--store", store.location, "--build", build, status=1).stderr
    (tree / name).unlink()
    run("export", tree, "--store", store.location, "--build", build)


@pytest.mark.parametrize("first_run", [True, False])
def test_an_export_that_dies_anywhere_is_completed_by_the_next(
    two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first_run: bool
) -> None:
    store, _, (first, second) = two
    tree, rng, replace = tmp_path / "tree", random.Random(3), os.replace
    if not first_run:
        written(store, first, tree)
    for _ in range(6):
        number, last = count(), rng.choice((0, 1, 2, rng.randint(3, 400)))

        def dying(old, new, number=number, last=last) -> None:
            if next(number) >= last:
                raise Killed
            replace(old, new)

        with monkeypatch.context() as context:
            context.setattr(os, "replace", dying)
            context.setattr(exporting, "_SECONDS_BETWEEN_RECORDS", rng.choice((0.0, 30.0)))
            with suppress(Killed):
                written(store, second, tree)
        for path in tree.rglob("*.json"):  # a reader never sees half a file
            json.loads(path.read_bytes())
    written(store, second, tree)
    written(store, second, tmp_path / "fresh")
    assert same(tree, tmp_path / "fresh")


def test_the_documents_that_name_the_build_are_written_last(
    two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _, (_, second) = two
    names: list[str] = []
    write_file = Target.write
    monkeypatch.setattr(Target, "write", lambda self, name, *rest: names.append(name) or write_file(self, name, *rest))
    written(store, second, tmp_path / "tree")
    assert set(names[-2:]) == {"api/v1/status.json", "api/v1/bulk.json"}


def test_what_was_lost_or_cut_is_written_again(two, tmp_path: Path) -> None:
    store, _, (first, _) = two
    tree = tmp_path / "tree"
    written(store, first, tree, gzip=True)
    before = content(tree)
    (tree / "api/v1/status.json").unlink()
    (tree / "api/v1/sets/0.json.gz").write_bytes(b"cut")
    for path in (tree / "api/v1/games").iterdir():
        path.unlink()
    assert written(store, first, tree, gzip=True) == 4
    assert content(tree) == before
    assert written(store, first, tree) == 0
    assert not any(name.endswith(".json.gz") for name in content(tree))


def test_two_exports_at_once_are_refused(two, tmp_path: Path) -> None:
    store, _, (first, _) = two
    with Target(str(tmp_path / "tree")):
        run("export", tmp_path / "tree", "--store", store.location, status=1)
    assert written(store, first, tmp_path / "tree")


def test_a_night_keeps_a_tree_up_to_date(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 16)
    tree = tmp_path / "tree"
    night = ("nightly", "--lake", lake, "--store", store.location, "--export", tree, "--no-pages")
    run(*night)
    assert newest_report(store)["outcome"] == "unchanged"
    assert json.loads((tree / RECORD).read_text())["build"] == live_build_id(store)
    (tree / RECORD).write_text("{}")
    failed = run(*night, status=1)
    assert "was not brought up to date" in failed.stderr
    assert newest_report(store)["outcome"] == "not exported"


def test_an_export_that_fails_leaves_the_new_build_live(two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, lake, (first, second) = two
    publish(store, first, by_hand=True)
    (tmp_path / "file").touch()
    monkeypatch.setattr(steps.gates, "judge", lambda *_, **__: Judgement(first, [], {}, []))
    failed = run("nightly", "--lake", lake, "--store", store.location, "--export", tmp_path / "file", status=1)
    assert f"{second} is live, but" in failed.stderr
    assert live_build_id(store) == second
    assert newest_report(store)["outcome"] == "not exported"


def test_a_late_correction_of_a_closed_month_reaches_the_tree(tmp_path: Path) -> None:
    store, trees = FolderStore(str(tmp_path / "store")), (tmp_path / "tree", tmp_path / "fresh")
    for number, price in enumerate((1.0, 2.0)):
        days = {"2026-02-10": [{"id_product": 1, "trend": price}], "2026-03-01": [{"id_product": 1, "trend": 3.0}]}
        rows = Rows(products=[{"id_product": 1, "name": "n", "kind": "single"}], price_guide=days)
        build = make(write(rows, tmp_path / f"lake-{number}"), store)
        written(store, build, trees[0])
    written(store, build, trees[1])
    assert same(*trees)
    assert b'"trend":2.0' in (trees[0] / "api/v1/cards/1.json").read_bytes()
