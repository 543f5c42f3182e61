"""What only a store in a folder has: modes of its files, and files that lose bytes."""

import itertools
import os
from pathlib import Path

import pytest

from generator.storage.builds import open_build
from generator.storage.keys import issue, open_key_file
from generator.storage.stores.disk import TEMPORARY_PREFIX
from generator.storage.stores.folder import FolderStore
from tests.support.nights import demo_lake, published
from tests.support.selection import mostly_thorough
from tests.support.service import PLENTY, run, until
from tests.support.shim_clients import WsgiClient


def modes(folder: Path) -> set[tuple[str, int]]:
    return {
        ("folder" if path.is_dir() else "file", path.stat().st_mode & 0o777) for path in (folder, *folder.rglob("*"))
    }


@pytest.fixture
def loose_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.thorough
def test_only_the_owner_reads_what_is_private(tmp_path: Path, loose_umask: None) -> None:
    published(tmp_path, 7)
    store = tmp_path / "store"
    run("keys", "issue", "--store", store, "--name", "n")
    run("nightly", "--store", store, "--lake", demo_lake(tmp_path / "lake", 8))
    assert {path.name for path in (store / "private").iterdir()} >= {"keys.json", "nights", ".nightly.lock"}
    assert modes(store / "private") == {("folder", 0o700), ("file", 0o600)}
    assert ("file", 0o644) in modes(store / "layers"), "a web server may serve the rest"


@pytest.mark.parametrize("location", ["elsewhere", "elsewhere/api-keys.json"])
def test_so_are_keys_that_lie_elsewhere(tmp_path: Path, loose_umask: None, location: str) -> None:
    run("keys", "issue", "--store", tmp_path / "store", "--keys", tmp_path / location, "--name", "n")
    [file] = (tmp_path / "elsewhere").glob("*.json")
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.fixture
def disk_steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The order in which files and folders are forced to the disk and renamed."""
    steps: list[tuple[str, str]] = []
    fsync, replace = os.fsync, os.replace

    def recorded_fsync(handle: int) -> None:
        path = str(Path(f"/proc/self/fd/{handle}").readlink())
        steps.append(("sync", "a new file" if TEMPORARY_PREFIX in path else path))
        fsync(handle)

    def recorded_replace(old: str, new: Path) -> None:
        steps.append(("rename", str(new)))
        replace(old, new)

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "replace", recorded_replace)
    return steps


@pytest.mark.parametrize("name", ["current.json", "private/keys.json"])
def test_a_swap_is_on_the_disk_when_it_returns(tmp_path: Path, disk_steps: list[tuple[str, str]], name: str) -> None:
    FolderStore(str(tmp_path)).swap(name, b"1", None)
    file = tmp_path / name
    assert disk_steps[:3] == [("sync", "a new file"), ("rename", str(file)), ("sync", str(file.parent))]
    assert ("sync", str(tmp_path)) in disk_steps, "the folder of a new folder too"


def test_a_revoked_key_is_on_the_disk(tmp_path: Path, disk_steps: list[tuple[str, str]]) -> None:
    keys = open_key_file(str(tmp_path))
    _, record = issue("n", ("cards:read",), 1, None, 0)
    keys.add(record)
    disk_steps.clear()
    keys.update(record.id, revoked=True)
    file = tmp_path / keys.object_of(record.sha256)
    assert disk_steps[:3] == [("sync", "a new file"), ("rename", str(file)), ("sync", str(file.parent))]


LOSSES = {"truncated": lambda data: data[: len(data) // 2], "empty": lambda data: b""}
ASKED = ("status", "cards?limit=1", "watchlist", "sets")


def shared_names(store: FolderStore, build: str) -> set[str]:
    """The names of what a build consists of, and of what belongs to no build."""
    folders = [layer.folder for layer in open_build(store, build).layers.values()]
    loose = [name for name in store.list("") if not name.startswith(("layers/", "builds/"))]
    return {f"builds/{build}.json", *loose, *(name for folder in folders for name in store.list(folder))}


@pytest.mark.shim_only("starts an application in this process for each file")
@pytest.mark.parametrize(
    ("kind", "loss"),
    mostly_thorough(
        itertools.product([".gz", "index.arrow", ".arrow", ".json"], LOSSES), (".gz", "truncated"), (".json", "empty")
    ),
)
@pytest.mark.thorough
def test_a_build_that_lost_data_does_not_answer(tmp_path: Path, kind: str, loss: str) -> None:
    """Of the files that no other build shares, one of each layer loses bytes in both ways, each other one in one."""
    store, _, (before, live) = published(tmp_path / "place", 7, 8)
    files = [name for name in store.list("") if name.endswith(kind) and name not in shared_names(store, before)]
    assert files
    first = {name.split("/")[1]: name for name in reversed(files)}.values()
    turn = [*LOSSES].index(loss)
    files = [name for number, name in enumerate(files) if name in first or number % len(LOSSES) == turn]
    for number, name in enumerate(files):
        content = store.get(name)
        store.put(name, LOSSES[loss](content))
        client = WsgiClient(str(store.root), str(tmp_path / str(number)), PLENTY)
        answers = [client.get(f"/api/v1/{path}") for path in ASKED]
        assert {(answer.status, answer.headers["X-Build"]) for answer in answers} == {(200, before)}, name
        store.put(name, content)
    until(lambda: client.get("/api/v1/status").headers["X-Build"] == live, 60, "the live build is whole again")
