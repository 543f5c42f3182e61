"""Copies of stores that were built once in a run of the tests."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from generator.storage.builds import live_build_id
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.interface import Store
from generator.storage.stores.open import is_folder, open_store
from tests.support.commands import build
from tests.support.lakes import FIXED, write
from tests.support.shared import shared_folder


def copy_objects(source: Store, target: Store, keep: Callable[[str], bool] = lambda name: True) -> None:
    """Copy the objects of a store, or those whose names are to be kept, into another one."""

    def copy(name: str) -> None:
        data = source.get(name)
        assert data is not None
        target.put(name, data)

    with ThreadPoolExecutor(1 if is_folder(target.location) else 4) as pool:
        list(pool.map(copy, filter(keep, source.list(""))))


def copy_of_fixed(store: Path | str) -> str:
    """Make a store with one live build, of the fixed lake, in a folder or on S3. Return the build's id."""
    pattern = shared_folder("fixed-store", lambda folder: build(write(FIXED, folder / "lake"), folder / "store"))
    if is_folder(str(store)):
        shutil.copytree(pattern / "store", store)
    else:
        copy_objects(FolderStore(str(pattern / "store")), open_store(str(store)))
    return live_build_id(FolderStore(str(pattern / "store")))
