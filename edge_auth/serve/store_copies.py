"""What an nginx in front of a shim reads in the state folder: the live build, and copies of the list of keys on S3.

Each worker writes the copies. Copies of the shards of keys are written when a shim reads one (`live/key_file`).
"""

import time
from pathlib import Path
from threading import Event

from edge_auth.builds.layout import KEYS
from edge_auth.errors import StoreError
from edge_auth.live.counter import store_name
from edge_auth.live.key_file import open_key_file
from edge_auth.live.log import Log
from edge_auth.store.folder import FolderStore
from edge_auth.store.interface import Store, Versioned
from edge_auth.store.open import open_store

_POLL_SECONDS = 1.0  # after which nginx reads the copies within half a second
READ_AT = "read-at"  # Unix time of the last complete reading


def copies_folder(state: str, store_location: str) -> Path:
    """Return the folder of a store's copies. It holds them under the names that they have in a store."""
    return Path(state) / f"edge-{store_name(store_location)}"


def live_file(state: str, store_location: str) -> Path:
    """Return the file that names the build from which the shim answers."""
    return Path(state) / f"live-{store_name(store_location)}"


class StoreCopies:
    """Writes the copies. A file changes only if its original did, and is replaced whole.

    Args:
        keys: Location of the key records; None for those in the store.
    """

    def __init__(self, store: str, keys: str | None, state: str, timeout_seconds: float):
        opened, key_file = open_store(store, timeout_seconds), open_key_file(store, keys, timeout_seconds)
        self._sources: dict[str, tuple[Store, str]] = {KEYS: (key_file.store, key_file.name)}
        self._copies = FolderStore(str(copies_folder(state, opened.location)), private=True)
        self._known: dict[str, Versioned] = {}
        self._log = Log()

    def follow(self) -> None:
        """Copy what changed, until the process ends."""
        while True:
            try:
                self.update()
            except StoreError as error:
                self._log.once(f"nginx uses the last key records: {error}")
            Event().wait(_POLL_SECONDS)

    def update(self) -> None:
        """Copy what changed.

        Raises:
            StoreError: An original cannot be read, or a copy cannot be written.
        """
        for copy, (store, name) in self._sources.items():
            known = self._known.get(copy)
            found = store.get_versioned(name, known)
            if found is not None and (known is None or found.etag != known.etag):
                self._copies.put(copy, found.data)
                self._known[copy] = found
        self._copies.put(READ_AT, b"%d\n" % time.time())
