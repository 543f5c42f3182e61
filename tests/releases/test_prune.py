"""Pruning: which builds stay, which are deleted, and runs that build and publish at the same time."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from generator import settings
from generator.errors import BusyError, PublishError
from generator.releases.locks import declare_intent, locked
from generator.releases.prune import RetentionRules, find_deletions, prune
from generator.releases.publish import publish, rollback
from generator.storage import layout
from generator.storage.builds import live_build_id, read_pointer
from generator.storage.errors import UnknownBuild
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.nights import assert_whole, in_hours, make, names, published
from tests.support.service import until

pytestmark = pytest.mark.xdist_group("nights")  # one process: the published builds are made once
TWO = RetentionRules(keep=2, grace=timedelta(hours=48))
AT_ONCE = RetentionRules(keep=2, grace=timedelta())
NOW, LATER = in_hours(0), in_hours(49)


def sweep(store: FolderStore, rules: RetentionRules = TWO, clock=LATER, wait=lambda seconds: None):
    return prune(store, rules, clock=clock, wait=wait)


def builds(store: FolderStore) -> list[str]:
    return [name.removeprefix("builds/").removesuffix(".json") for name in store.list("builds/")]


@pytest.fixture
def four(tmp_path: Path) -> tuple[FolderStore, Path, list[str]]:
    return published(tmp_path, 5, 6, 7, 8)


def test_keeps_as_many_as_asked_and_deletes_the_rest(four) -> None:
    store, _, ids = four
    deleted = sweep(store)
    assert deleted.builds == ids[:2]
    assert builds(store) == ids[2:]
    assert_whole(store, ids[2])
    assert_whole(store, ids[3])
    assert sweep(store).empty


def test_leaves_no_empty_folder_and_touches_nothing_else(four) -> None:
    store, _, _ = four
    store.put("private/keys.json", b"{}")
    (store.root / "README.md").write_text("kept")
    sweep(store)
    assert {"private/keys.json", "README.md"} <= names(store)
    assert [path for path in store.root.rglob("*") if path.is_dir() and not any(path.iterdir())] == []


def test_what_is_left_is_what_the_kept_builds_need(tmp_path: Path) -> None:
    store, _, _ = published(tmp_path / "many", 5, 6, 7, 8)
    only, _, _ = published(tmp_path / "few", 7, 8)
    sweep(store)
    mutable = ("private/", layout.POINTER, layout.CHANGES)  # documents of steps outlive the builds
    assert names(store, lambda n: not n.startswith(mutable)) == names(only, lambda n: not n.startswith(mutable))


def test_a_rollback_has_somewhere_to_go_even_with_keep_1(four) -> None:
    store, _, ids = four
    sweep(store, RetentionRules(keep=1, grace=timedelta(hours=48)))
    assert builds(store) == ids[2:]
    assert run("rollback", "--store", store.root).stdout.strip() == ids[2]
    assert_whole(store)
    with pytest.raises(PublishError, match=f"{ids[1]} was pruned"):
        rollback(store)
    assert live_build_id(store) == ids[2]


def test_a_build_that_was_live_lately_stays_for_those_pinned_to_it(four) -> None:
    store, _, ids = four
    for name in names(store):
        os.utime(store.root / name, (0, 0))  # so that age alone would let everything go
    pointer = json.loads(store.get(layout.POINTER))
    ended = pointer["ended"]
    assert set(ended) == set(ids[:3])
    assert find_deletions(store, TWO, in_hours(47)).builds == []
    assert find_deletions(store, TWO, in_hours(49)).builds == ids[:2]


def test_a_build_that_was_rolled_back_stays_as_long(four) -> None:
    store, _, ids = four
    assert rollback(store) == ids[2]
    assert ids[3] not in find_deletions(store, TWO, in_hours(47)).builds
    publish(store, ids[2], by_hand=True)
    assert set(read_pointer(store)[0].ended) == {ids[0], ids[1], ids[3]}


def test_unpublished_builds_count_from_the_newest_once_they_are_old(tmp_path: Path) -> None:
    store, _, ids = published(tmp_path, 5, 6, 7)
    store.delete([layout.POINTER])
    assert find_deletions(store, TWO, in_hours(1)).empty
    assert find_deletions(store, TWO, LATER).builds == ids[:1]


def test_dry_run_says_what_a_run_deletes_and_deletes_nothing(four, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "PRUNE_WAIT_SECONDS", 0)  # no other process uses the store
    store, _, ids = four
    before = names(store)
    dry = run("prune", "--store", store.root, "--keep", 2, "--grace", 0, "--dry-run").stdout.splitlines()
    assert names(store) == before
    assert dry[:2] == ids[:2]
    gone = run("prune", "--store", store.root, "--keep", 2, "--grace", 0).stdout.splitlines()
    assert gone == dry
    assert run("prune", "--store", store.root, "--keep", 2).stdout == ""


def test_finds_what_killed_runs_left(four) -> None:
    store, _, _ = four
    sweep(store)
    whole = names(store)
    layer = next(name for name in whole if name.startswith("layers/history-open/")).rpartition("/")[0]
    left = {
        f"{layer}/0123456789abcdef.jsonl.gz",
        "layers/lists/0123456789abcdef01234567/0123456789abcdef.jsonl.gz",
        "gates/2020-01-01-0123456789ab.json",
        "intents/2020-01-01-0123456789ab/0123456789abcdef.json",
    }
    for name in left:
        (store.root / name).parent.mkdir(parents=True, exist_ok=True)
        (store.root / name).write_bytes(b"{}")
    assert find_deletions(store, TWO, in_hours(0)).empty, "what is young may still be in the making"
    sweep(store)
    assert names(store) == whole
    assert_whole(store)


def test_a_layer_whose_index_cannot_be_read_is_left_alone(four) -> None:
    store, _, _ = four
    sweep(store)
    index = next(
        name for name in names(store) if name.startswith("layers/history-open/") and name.endswith("index.arrow")
    )
    store.put(index, b"torn")
    assert find_deletions(store, TWO, in_hours(200)).empty


def test_a_record_that_cannot_be_read_stops_it_before_anything_goes(four) -> None:
    store, _, ids = four
    store.put(f"builds/{ids[3]}.json", b"torn")
    before = names(store)
    assert "record of build" in run("prune", "--store", store.root, "--keep", 1, "--grace", 0, status=1).stderr
    assert names(store) == before


def test_an_intent_protects_a_build_and_its_layers_until_it_is_old(four) -> None:
    store, _, ids = four
    first = [f"layers/{name}/" for name in {n.split("/", 2)[1] for n in names(store) if n.startswith("layers/")}]
    folder = next(n.rpartition("/")[0] + "/" for n in sorted(names(store)) if n.startswith(first[0]))
    with declare_intent(store, ids[0], [folder], in_hours(0)):
        assert ids[0] not in find_deletions(store, RetentionRules(1, timedelta()), in_hours(1)).builds
        assert ids[0] in find_deletions(store, RetentionRules(1, timedelta()), in_hours(25)).builds
    assert not [name for name in names(store) if name.startswith("intents/")]
    assert ids[0] in find_deletions(store, RetentionRules(1, timedelta()), in_hours(1)).builds


def test_a_doomed_build_that_is_published_meanwhile_stays(four) -> None:
    store, _, ids = four
    with ThreadPoolExecutor(1) as pool:

        def publish_now(_: float) -> None:
            pool.submit(publish, store, ids[0], by_hand=True)
            until(lambda: [*store.list("intents/")] or live_build_id(store) == ids[0], 60, "the publisher is at work")

        deleted = sweep(store, AT_ONCE, NOW, wait=publish_now)
    assert ids[0] not in deleted.builds
    assert live_build_id(store) == ids[0]
    assert_whole(store)


def test_a_build_that_reuses_doomed_layers_meanwhile_is_whole(four) -> None:
    store, lake, ids = four
    for path in (lake / "price_guide").parent.glob("*/day=*"):
        if path.name > f"day={ids[0][:10]}":
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
    store.delete([f"builds/{ids[0]}.json"])
    with ThreadPoolExecutor(1) as pool:

        def build_now(_: float) -> None:
            built.append(pool.submit(make, lake, store))
            until(lambda: [*store.list("intents/")] or built[0].done(), 60, "the builder is at work")

        built: list = []
        sweep(store, AT_ONCE, NOW, wait=build_now)
        assert_whole(store, built[0].result())


def test_whoever_comes_while_a_build_is_deleted_waits_and_is_told(four) -> None:
    store, _, ids = four
    with locked(store, layout.PRUNE_LOCK, run="r", clock=in_hours(0), seconds=60) as lease:
        lease.announce([ids[0]])
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(publish, store, ids[0], by_hand=True)
            until(lambda: [*store.list("intents/")], 60, "the publisher says what it wants")
            assert not waiting.done()
            store.delete([f"builds/{ids[0]}.json"])
            lease.announce([])
            with pytest.raises(UnknownBuild):
                waiting.result(60)
    assert live_build_id(store) == ids[3]


def test_a_lock_left_behind_in_a_bucket_ends_by_itself(four, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _, ids = four
    monkeypatch.setattr(FolderStore, "local_path", lambda *_: None)
    lease = locked(store, layout.PRUNE_LOCK, run="killed", clock=LATER, seconds=120)
    lock = lease.__enter__()
    lock._stop.set()  # as after a kill: the lease is neither renewed nor released
    with pytest.raises(BusyError, match="run killed"):
        sweep(store)
    sweep(store, clock=in_hours(49.1))
    assert builds(store) == ids[2:]
    with pytest.raises(BusyError, match="lost its lock"):
        lock.announce([])
