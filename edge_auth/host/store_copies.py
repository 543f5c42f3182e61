"""Copies of the pointer and the key records in the state folder, for an nginx in front of a store on S3.

One process of a shim writes them, as often as the workers read the originals.
"""

import os
from pathlib import Path

from edge_auth.contract.layout import KEYS, POINTER
from edge_auth.contract.store.interface import Store
from edge_auth.host.file_counter import store_name


def copies_folder(state: str, store_location: str) -> Path:
    """Return the folder of a store's copies. It holds them under the names that they have in the store."""
    return Path(state) / f"edge-{store_name(store_location)}"


class StoreCopies:
    """Writes the copies. Files change only if the originals did; a file is replaced whole."""

    def __init__(self, store: Store, folder: Path):
        self._store = store
        self._folder = folder
        self._versions: dict[str, str] = {}

    def update(self) -> None:
        """Copy what changed.

        Raises:
            StoreError: An original cannot be read.
            OSError: A copy cannot be written.
        """
        for name in (POINTER, KEYS):
            found = self._store.get_versioned(name)
            if found is not None and self._versions.get(name) != found.etag:
                self._write(self._folder / name, found.data)
                self._versions[name] = found.etag

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        beside.replace(path)
