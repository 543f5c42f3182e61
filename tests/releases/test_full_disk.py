"""A disk that is full: a build says so before or gives the room back, and `rollback`, `publish` and `prune` work."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from generator.clock import utc_now
from generator.compare.run_reports import newest_report
from generator.releases.locks import current_holder, locked
from generator.storage.builds import live_build_id
from generator.storage.layers import INDEX_NAME
from generator.storage.layout import NIGHTLY_LOCK, RESERVE, layer_folder_of
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.disks import fill, small_disk
from tests.support.nights import assert_whole, demo_lake, names, published
from tests.support.service import ROOT, environment

pytestmark = [pytest.mark.xdist_group("nights"), pytest.mark.thorough]


def free(disk: Path) -> int:
    return shutil.disk_usage(disk).free


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 16 << 20) as folder:
        yield folder


@pytest.fixture
def full(disk: Path, tmp_path: Path) -> tuple[FolderStore, Path, list[str]]:
    """A store with two published builds and its reserve on a full disk, and a lake that has grown since."""
    _, lake, ids = published(tmp_path / "origin", 7, 8)
    store = FolderStore(str(disk / "store"))
    shutil.copytree(tmp_path / "origin" / "store", store.root)
    run("prune", "--store", store.root)
    assert store.stat(RESERVE)
    fill(disk)
    return store, demo_lake(lake, 9), ids


def test_a_night_without_room_says_so_and_writes_no_layer(full, disk: Path) -> None:
    store, lake, ids = full
    layers = names(store, lambda name: name.startswith("layers/"))
    refused = run("nightly", "--lake", lake, "--store", store.root, "--no-pages", status=1)
    assert "this run prunes, then tries again" in refused.stderr
    assert "MB free, but this build needs about" in refused.stderr.splitlines()[-1]
    assert names(store, lambda name: name.startswith("layers/")) == layers
    assert live_build_id(store) == ids[1]
    (disk / "filler").unlink()
    run("nightly", "--lake", lake, "--store", store.root, "--no-pages")
    assert store.stat(RESERVE), "the reserve is back"
    assert_whole(store)


def test_rollback_works_at_0_bytes(full, disk: Path) -> None:
    store, _, ids = full
    assert free(disk) == 0
    rolled_back = run("rollback", "--store", store.root, status=1)
    assert rolled_back.stdout.strip() == ids[0] and f"{ids[0]} is live, but tree/" in rolled_back.stderr
    assert live_build_id(store) == ids[0] and store.stat(RESERVE) is None
    fill(disk)
    refused = run("publish", ids[1], "--store", store.root, status=1)  # the reserve was used
    assert "No space left on device" in refused.stderr and live_build_id(store) == ids[0]


def test_a_night_that_meets_0_bytes_reports_and_releases_its_lock(full, disk: Path) -> None:
    store, lake, ids = full
    (disk / "filler").unlink()

    def until_full(*_: object, **__: object) -> None:
        fill(disk)

    with patch("generator.nightly.steps.verify", side_effect=until_full):
        failed = run("nightly", "--lake", lake, "--store", store.root, "--no-pages", status=1)
    assert "the step gates failed: " in failed.stderr.splitlines()[-1] and "No space left" in failed.stderr
    report = newest_report(store)
    assert report and (report["failed_step"], report["live"]) == ("gates", ids[1])
    assert current_holder(store, NIGHTLY_LOCK, utc_now) is None
    (disk / "filler").unlink()
    run("nightly", "--lake", lake, "--store", store.root, "--no-pages")
    assert_whole(store)


def test_a_lock_is_released_at_0_bytes_without_a_reserve(full, disk: Path) -> None:
    store, _, _ = full
    (disk / "filler").unlink()
    with locked(store, NIGHTLY_LOCK, run="late", clock=utc_now, seconds=60):
        store.delete([RESERVE])
        fill(disk)
    assert current_holder(store, NIGHTLY_LOCK, utc_now) is None


def test_keys_are_issued_at_0_bytes(full, disk: Path) -> None:
    store, _, _ = full
    key = json.loads(run("keys", "issue", "--store", store.root, "--name", "late").stderr)
    assert store.stat(RESERVE) is None
    [record] = json.loads(run("keys", "list", "--store", store.root, "--json").stdout)
    assert record["id"] == key["id"]


def test_publish_works_at_0_bytes(full, disk: Path) -> None:
    store, _, ids = full
    result = run("publish", ids[0], "--store", store.root, status=1)
    assert result.stdout.strip() == ids[0] == live_build_id(store)
    assert f"{ids[0]} is live, but tree/" in result.stderr


def test_prune_works_at_0_bytes(disk: Path, tmp_path: Path) -> None:
    _, _, ids = published(tmp_path / "origin", 5, 6, 7)
    store = FolderStore(str(disk / "store"))
    shutil.copytree(tmp_path / "origin" / "store", store.root)
    run("prune", "--store", store.root)
    fill(disk)
    with patch("generator.settings.PRUNE_WAIT_SECONDS", 0):
        result = run("prune", "--store", store.root, "--keep", "2", "--grace", "0")
    assert ids[0] in result.stdout and free(disk) > 0 and store.stat(RESERVE)
    assert_whole(store)


def test_a_disk_that_gets_full_during_a_build_gets_its_room_back(tmp_path: Path) -> None:
    lake = demo_lake(tmp_path / "lake", 8)
    writing: list[bool] = []  # whether threads write while the room is given back
    delete_objects = FolderStore.delete

    def delete(store: FolderStore, objects: list[str]) -> None:
        writing.append(any(thread.name.startswith("upload") for thread in threading.enumerate()))
        delete_objects(store, objects)

    with small_disk(tmp_path / "disk", 256 << 10) as disk, patch.object(FolderStore, "delete", delete):
        refused = run("build", "--lake", lake, "--store", disk / "store", status=1)
        assert f"cardpress: {disk / 'store'} is full; the unfinished layers were deleted" in refused.stderr
        files = names(FolderStore(str(disk / "store")), lambda name: name.startswith("layers/"))
        assert all((disk / "store" / layer_folder_of(name) / INDEX_NAME).exists() for name in files)
        assert free(disk) >= 4 << 10
    assert writing and not any(writing)


@pytest.mark.parametrize("size", [16 << 10, 64 << 10, 192 << 10])
def test_a_full_temporary_folder_is_not_the_lakes_fault(size: int, tmp_path: Path) -> None:
    lake = demo_lake(tmp_path / "lake", 8)
    with small_disk(tmp_path / "disk", size) as temporary:
        command = ["build", "--lake", str(lake), "--store", str(tmp_path / "store")]
        result = subprocess.run(
            [sys.executable, "-m", "generator", *command],
            cwd=ROOT, env=environment() | {"TMPDIR": str(temporary)}, capture_output=True, text=True,
        )  # fmt: skip
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last == f"cardpress: the folder of temporary files {temporary} is full: free some space there, or set TMPDIR"
