"""A folder that may not be read is refused, in a lake and in a store: it must not be taken for an empty one."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.errors import LakeError
from generator.lake.lake import open_lake
from generator.storage.errors import StoreError
from generator.storage.stores.folder import FolderStore
from tests.support.nights import published
from tests.support.service import run

pytestmark = pytest.mark.xdist_group("diff")


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes a folder unreadable, also for root."""

    def lock(folder: Path) -> None:
        def refused(listing: Callable) -> Callable:
            def checked(path: object = "."):
                if os.fspath(path) == str(folder):
                    raise PermissionError(13, "Permission denied", str(path))
                return listing(path)

            return checked

        monkeypatch.setattr(os, "scandir", refused(os.scandir))
        monkeypatch.setattr(os, "listdir", refused(os.listdir))

    return lock


@pytest.mark.parametrize("folder", ["", "listings", "listings/day=2025-11-20"])
def test_of_a_lake(tmp_path: Path, lock: Callable[[Path], None], folder: str) -> None:
    _, lake, _ = published(tmp_path, 7, 8)
    open_lake(str(lake))
    lock(lake / folder)
    with pytest.raises(LakeError, match=r"cannot be read: Permission denied"):
        open_lake(str(lake))


@pytest.mark.parametrize("folder", ["", "price_guide/day=2025-11-20/"])
def test_a_name_that_is_no_text(tmp_path: Path, folder: str) -> None:
    _, lake, _ = published(tmp_path, 7, 8)
    os.link(lake / "products.parquet", os.fsencode(lake / folder) + b"/products\xff.parquet")
    said = run("build", "--lake", lake, "--store", tmp_path / "other", status=1).stderr.strip()
    why = "the name of the file is no UTF-8; give it another one"
    assert said == rf"cardpress: {lake}/{folder}products\xff.parquet: {why}"


def test_of_a_store(tmp_path: Path, lock: Callable[[Path], None]) -> None:
    store = FolderStore(str(tmp_path))
    store.put("builds/a/b.json", b"{}")
    assert list(store.list("builds/")) == ["builds/a/b.json"]
    lock(tmp_path / "builds" / "a")
    with pytest.raises(StoreError, match="Permission denied"):
        list(store.list("builds/"))


def test_a_file_in_the_place_of_a_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = run("builds", "--store", tmp_path / "file", status=1).stderr.strip()
    why = "is a file: name the folder that holds the builds, or a new one"
    assert said == f"cardpress: store {tmp_path / 'file'} {why}"
