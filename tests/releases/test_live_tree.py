"""`tree/` in a store: the live build as plain objects, brought up to date after the pointer has moved."""

import json
import os
import random
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from generator.clock import utc_now
from generator.compare import gates
from generator.compare.run_reports import Judgement, newest_report
from generator.errors import BuildError, ExportError
from generator.releases import live_tree
from generator.releases.live_tree import update_live_tree, verify_live_tree
from generator.releases.locks import locked
from generator.releases.publish import publish, rollback
from generator.storage import layout
from generator.storage.builds import live_build_id, open_build
from generator.storage.stores.folder import FolderStore
from generator.tree import documents
from generator.tree.documents import Documents
from generator.tree.export import export
from tests.releases.test_export import Killed
from tests.support.commands import run
from tests.support.nights import QUIET, published

pytestmark = pytest.mark.xdist_group("nights")
RECORD = ".cardpress-export.json"


@pytest.fixture
def two(tmp_path: Path) -> tuple[FolderStore, Path, list[str]]:
    """A store with two builds, the second one live, without a tree."""
    return published(tmp_path, 16, 18)


def content(store: FolderStore) -> dict[str, bytes]:
    tree = store.root / "tree"
    files = (path for path in tree.rglob("*") if path.is_file() and path.name != RECORD)
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in files}


def expected(store: FolderStore, build: str, *, hot: bool = False) -> dict[str, bytes]:
    found = Documents(open_build(store, build))
    return {one.name: found.body(one).plain for one in found.objects(hot=hot)}


def update(store: FolderStore, choice: str | None = None) -> live_tree.TreeUpdate:
    return update_live_tree(store, choice, QUIET)


def test_each_command_that_moves_the_pointer_brings_the_tree_up(two, tmp_path: Path) -> None:
    store, lake, (first, second) = two
    at_store = ("--store", store.location)
    published_first = run("publish", first, *at_store)
    assert content(store) == expected(store, first)
    assert published_first.stdout == f"{first}\n"
    objects = len(content(store))
    line = f"tree/: {objects:,} objects (all), {objects:,} written, 0 deleted"
    assert published_first.stderr.splitlines()[-1] == line
    run("rollback", *at_store)
    assert content(store) == expected(store, second)
    run("publish", first, *at_store)
    night = run("nightly", "--lake", lake, *at_store, "--no-pages", "--force", "prices-moved")
    assert newest_report(store)["tree"]["build"] == live_build_id(store) == second
    assert night.stderr.splitlines()[-1].partition("] ")[2].startswith(f"tree/: {objects:,} objects (all), ")
    (store.root / "tree/api/v1/status.json").unlink()
    build = run("build", "--lake", lake, *at_store, "--publish")
    assert (build.stdout, content(store)) == (f"{second}\n", expected(store, second))
    assert build.stderr.splitlines()[-1] == f"tree/: {objects:,} objects (all), 1 written, 0 deleted"
    export(open_build(store, second), str(tmp_path / "exported"), gzip=False, progress=QUIET)
    exported = {path.relative_to(tmp_path / "exported").as_posix() for path in (tmp_path / "exported").rglob("*.*")}
    bulk_files = {name for name in exported if name.startswith("api/v1/bulk/")}
    assert exported - bulk_files - {RECORD} == content(store).keys()


def test_a_night_that_publishes_nothing_completes_the_tree(two) -> None:
    store, lake, (_, second) = two
    run("nightly", "--lake", lake, "--store", store.location, "--no-pages")
    assert newest_report(store)["outcome"] == "unchanged"
    assert content(store) == expected(store, second)


def test_hot_has_the_first_pages_of_rankings_and_the_details_of_their_products(
    two, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _, (_, second) = two
    monkeypatch.setattr(documents, "CARDS_PER_PAGE", 5)
    monkeypatch.setattr(documents, "HOT_PAGES", 1)
    every = expected(store, second)
    update(store, "hot")
    hot = content(store)
    pages = {
        name for name in every if name.startswith(("api/v1/cards/all/", "api/v1/cards/s")) and "/sets/" not in name
    }
    first = {name for name in pages if name.endswith("/0.json")}
    details = {name for name in every if name.startswith("api/v1/cards/") and name.count("/") == 3}
    products = {card["id_product"] for name in first for card in json.loads(every[name])["data"]}
    asked_for = {f"api/v1/cards/{id_}.json" for id_ in products}
    assert asked_for < details and first < pages
    assert any(name.startswith("api/v1/cards/sets/") and name.endswith("/1.json") for name in hot), "sets are whole"
    assert hot.keys() == every.keys() - (pages - first) - (details - asked_for)
    assert all(every[name] == body for name, body in hot.items())


def test_what_a_store_has_is_its_default(two, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _, (first, second) = two
    monkeypatch.setattr(live_tree, "_MOST_FOR_ALL", 10)
    monkeypatch.setattr(documents, "HOT_PAGES", 0)
    assert update(store).kind == "hot" and content(store) == expected(store, second, hot=True)
    assert update(store, "all").kind == update(store).kind == "all"
    before = content(store)
    assert before == expected(store, second)
    assert update(store, "none").kind == "none"
    publish(store, first, by_hand=True)
    assert update(store).kind == "none" and content(store) == before
    assert verify_live_tree(open_build(store, first), QUIET) == 0
    assert update(store, "auto").kind == "hot" and content(store) == expected(store, first, hot=True)


def test_none_at_first_writes_no_object(two) -> None:
    store, _, (first, _) = two
    assert run("publish", first, "--objects", "none", "--store", store.location).stderr.endswith("(--objects none)\n")
    run("rollback", "--store", store.location)
    assert content(store) == {}


def test_an_update_that_dies_anywhere_is_completed_by_the_next(two, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _, (first, second) = two
    rng, replace = random.Random(5), os.replace
    bodies = {name: {body} for name, body in expected(store, second).items()}
    for name, body in expected(store, first).items():
        bodies.setdefault(name, set()).add(body)
    for number in range(6):
        publish(store, (first, second)[number % 2], by_hand=True)
        places, last = count(), rng.choice((0, 1, 2, rng.randint(3, 400)))

        def dying(old, new, places=places, last=last) -> None:
            if "/tree/" in str(new) and next(places) >= last:
                raise Killed
            replace(old, new)

        with monkeypatch.context() as context, suppress(Killed):
            context.setattr(os, "replace", dying)
            update(store)
        found = content(store)
        assert all(body in bodies[name] for name, body in found.items()), "a reader never sees half a file"
    update(store)
    assert content(store) == expected(store, second)


def test_a_full_disk_leaves_the_build_live_and_the_next_run_completes_the_tree(
    two, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, lake, (first, second) = two
    publish(store, first, by_hand=True)
    replace, places = os.replace, count()

    def full(old, new) -> None:
        if "/tree/" in str(new) and next(places) > 50:
            raise OSError(28, "No space left on device", str(new))
        replace(old, new)

    monkeypatch.setattr(gates, "judge", lambda *_, **__: Judgement(first, [], {}, []))
    night = ("nightly", "--lake", lake, "--store", store.location, "--no-pages")
    with monkeypatch.context() as context:
        context.setattr(os, "replace", full)
        failed = run(*night, status=1)
    assert f"{second} is live, but tree/ in {store.location} is not up to date" in failed.stderr
    assert "No space left on device" in failed.stderr
    assert live_build_id(store) == second
    assert newest_report(store)["outcome"] == "not exported"
    with pytest.raises(BuildError, match="is not complete"):
        verify_live_tree(open_build(store, second), QUIET)
    run(*night)
    assert content(store) == expected(store, second)


def test_of_two_at_once_one_is_refused_and_the_other_writes_the_newest(two, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _, (first, second) = two
    with locked(store, layout.TREE_LOCK, run="other", clock=utc_now, seconds=60):
        refused = run("publish", first, "--store", store.location, status=1)
    assert f"{first} is live, but tree/" in refused.stderr and "run other on" in refused.stderr
    moved = []

    writer = live_tree._bring_up

    def bring_up(*given):
        done = writer(*given)
        if not moved:
            moved.append(rollback(store))
        return done

    monkeypatch.setattr(live_tree, "_bring_up", bring_up)
    assert update(store).build == second == moved[0]
    assert content(store) == expected(store, second)


def test_verify_names_what_is_damaged_missing_or_foreign(two) -> None:
    store, _, (_, second) = two
    update(store)
    at_store, tree = ("--store", store.location), store.root / "tree"
    assert f"{len(content(store)):,} in tree/" in run("verify", *at_store).stdout
    publish = f"`cardpress publish {second}`"

    def verify(said: str, way_out: str) -> None:
        assert f": tree/{said} in {store.location}: {way_out}" in run("verify", *at_store, status=1).stderr

    (tree / "api/v1/sets/0.json").unlink()
    body = (tree / "api/v1/status.json").read_bytes()
    (tree / "api/v1/status.json").write_bytes(body.replace(b"0", b"1"))
    verify("api/v1/sets/0.json is missing (and 1 more)", f"{publish} writes it again")
    run("publish", second, *at_store)
    verify("api/v1/status.json differs from the build", f"delete it, then {publish} writes it again")
    (tree / "api/v1/status.json").unlink()
    (tree / "api/v1/mine.json").write_text("{}")
    (tree / ".nojekyll").touch()
    run("publish", second, *at_store)
    verify("api/v1/mine.json was written by no export", "move it away, because readers get it")
    (tree / "api/v1/mine.json").unlink()
    run("verify", *at_store)
    (tree / RECORD).rename(tree / "api/v1/.old")
    lost = f": tree/ in {store.location} has files but no record, {RECORD}: move that folder away, then {publish}"
    assert lost in run("verify", *at_store, status=1).stderr


def test_other_commands_leave_the_tree_alone(two) -> None:
    store, _, (_, second) = two
    update(store)
    before = content(store)
    for command in (("prune", "--keep", "1"), ("show",), ("builds",), ("doctor",)):
        run(*command, "--store", store.location)
    assert content(store) == before == expected(store, second)


def test_a_foreign_file_in_the_tree_is_never_touched(two) -> None:
    store, _, _ = two
    (store.root / "tree").mkdir()
    (store.root / "tree/mine").write_text("mine")
    with pytest.raises(ExportError, match="is not an empty folder"):
        update(store)
    assert (store.root / "tree/mine").read_text() == "mine"
