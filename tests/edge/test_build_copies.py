"""The copies of a bucket's builds on the machine of a shim. A folder stands for the bucket here."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from edge_auth.live import build_copies as module
from edge_auth.live.build_copies import BuildCopies
from generator.storage.builds import open_build
from generator.storage.errors import StoreError
from generator.storage.layout import layer_folder_of
from generator.storage.stores.folder import FolderStore
from tests.support import small_store

RECORD = "builds/"


class ReadBucket(FolderStore):
    """Notes which objects of layers were read, and fails to read some."""

    def __init__(self, root: Path):
        super().__init__(str(root))
        self.read: list[str] = []
        self.fails_at = 1_000_000

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        if name.startswith("layers/"):
            if len(self.read) >= self.fails_at:
                raise StoreError("the bucket fails")
            self.read.append(name)
        return super().get(name, offset, length)

    def local_path(self, name: str) -> None:  # type: ignore[override]  # a bucket has no files
        return None


@pytest.fixture
def bucket(tmp_path: Path) -> ReadBucket:
    return ReadBucket(tmp_path / "bucket")


@pytest.fixture
def build(bucket: ReadBucket) -> str:
    return add_build(bucket, 50)


def add_build(bucket: ReadBucket, products: int) -> str:
    build = small_store.add_build(bucket, products)
    bucket.read.clear()  # what the publisher has read
    return build


@pytest.fixture
def copies(bucket: ReadBucket, tmp_path: Path) -> BuildCopies:
    return BuildCopies(bucket, tmp_path / "copies")


def files(copies: BuildCopies) -> set[str]:
    return set(copies.store.list("layers/"))


def test_a_build_is_answered_from_copies_alone(
    bucket: ReadBucket, build: str, copies: BuildCopies, tmp_path: Path
) -> None:
    here = open_build(copies.open(build), build)
    there = {name for name in bucket.list("layers/") if not name.startswith("layers/bulk-")}
    assert there <= files(copies)
    lines = files(copies) - there
    assert len(lines) == 2 and {name.split("/")[1] for name in lines} == {"bulk-cards"}  # its index and the lines
    Path(bucket.location).rename(tmp_path / "aside")
    ids = here.catalogue.ids.tolist()
    assert [here.card(id_) is not None for id_ in ids] == [True] * 50


def test_what_is_here_is_never_copied_again(bucket: ReadBucket, build: str, copies: BuildCopies) -> None:
    copies.open(build)
    first = set(bucket.read)
    assert len(bucket.read) == len(first)
    copies.open(build)
    BuildCopies(bucket, Path(copies.store.location)).open(build)
    assert len(bucket.read) == len(first)
    copies.open(add_build(bucket, 20))
    assert {layer_folder_of(name) for name in bucket.read} & set(map(layer_folder_of, first)) == set()


def test_a_copy_that_was_interrupted_goes_on(bucket: ReadBucket, build: str, copies: BuildCopies) -> None:
    bucket.fails_at = 12
    with pytest.raises(StoreError, match="the bucket fails"):
        copies.open(build)
    assert not list(copies.store.list(RECORD))
    whole = files(copies)
    bucket.fails_at = 1_000_000
    bucket.read.clear()
    copies.open(build)
    assert whole and set(bucket.read) & whole == set()


def test_a_file_that_a_power_cut_left_empty_is_copied_again(
    bucket: ReadBucket, build: str, copies: BuildCopies
) -> None:
    copies.open(build)
    largest = max(files(copies), key=copies.store.stat)
    path = Path(copies.store.location, largest)
    os.truncate(path, 0)
    bucket.read.clear()
    copies.repair(build)
    assert path.read_bytes() == (Path(bucket.location) / largest).read_bytes()
    assert {name for name in bucket.read if not name.endswith("index.arrow")} == {largest}


def test_bytes_that_differ_from_their_hash_are_refused(bucket: ReadBucket, build: str, copies: BuildCopies) -> None:
    pack = next(name for name in bucket.list("layers/sets/") if not name.endswith("index.arrow"))
    path = Path(bucket.location, pack)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(StoreError, match="does not match its hash"):
        copies.open(build)
    path.write_bytes(data)
    copies.open(build)


def test_several_workers_copy_once(bucket: ReadBucket, build: str, tmp_path: Path) -> None:
    workers = [BuildCopies(bucket, tmp_path / "copies") for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda copies: copies.open(build), workers))
    assert len(opened) == 4 and len(bucket.read) == len(set(bucket.read))


def test_what_no_process_has_open_is_deleted(bucket: ReadBucket, build: str, copies: BuildCopies) -> None:
    other = add_build(bucket, 20)
    held, of_another = copies.open(build), BuildCopies(bucket, Path(copies.store.location)).open(other)
    copies.drop_unused()
    assert len(list(copies.store.list(RECORD))) == 2
    del of_another
    copies.drop_unused()
    assert list(copies.store.list(RECORD)) == [f"builds/{build}.json"]
    needed = {layer.folder for layer in open_build(held, build).layers.values()}
    assert {layer_folder_of(name) for name in files(copies)} <= needed
    assert open_build(copies.open(other), other).catalogue.ids.size == 20  # it comes back


def test_a_full_disk_leaves_no_half_build(
    bucket: ReadBucket, build: str, copies: BuildCopies, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(module, "replace_file", full)
        with pytest.raises(StoreError, match="No space left on device"):
            copies.open(build)
    assert not list(copies.store.list(RECORD))
    copies.open(build)
