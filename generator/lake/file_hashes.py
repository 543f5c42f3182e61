"""A cache of SHA-256 hashes in the user's cache folder, so that an unchanged lake need not be read again.

A hash is valid for one state of a file: size, time of change and inode, or size and ETag. Losing the cache only
costs time.
"""

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from edge_auth.store.disk import delete_abandoned, replace_file
from edge_auth.store.file_cache import user_cache

# A file that changed this recently may change again within the same tick of the file system's clock.
_SETTLED_NS = 2_000_000_000
# Enough for ten years of three daily tables, several times over.
_MAX_ENTRIES = 50_000

State = Sequence[int | str]


class FileHashes:
    """Hashes by name and state of the file. `save` writes them to the cache folder."""

    def __init__(self) -> None:
        self.path = user_cache() / "hashes.json"
        self._stored: dict[str, list[int | str]] = {}  # state and hash, by name
        self._used: dict[str, list[int | str]] = {}
        with suppress(OSError, ValueError):  # an absent or broken cache is empty
            self._stored = json.loads(self.path.read_bytes())

    def find(self, name: str, state: State) -> str | None:
        """Return the hash of a file in this state, if it is known."""
        entry = self._stored.get(name)
        if not entry or entry[:-1] != list(state):
            return None
        self._used[name] = entry
        return str(entry[-1])

    def add(self, name: str, state: State, sha256: str) -> None:
        """Add the hash of a file in this state."""
        self._used[name] = [*state, sha256]

    def of_file(self, path: str) -> str:
        """Return the hash of a local file.

        Args:
            path: Its path, always the same one: the hash is found by it.

        Raises:
            OSError: The file cannot be read.
        """
        stat = os.stat(path)  # noqa: PTH116  (a lake has thousands of files)
        state = [stat.st_size, stat.st_mtime_ns, stat.st_ino]
        sha256 = self.find(path, state)
        if sha256 is None:
            with Path(path).open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            if stat.st_mtime_ns < time.time_ns() - _SETTLED_NS:
                self.add(path, state, sha256)
        return sha256

    def save(self) -> None:
        """Write all hashes that were found or added, and as many of the others as there is room for."""
        if all(self._stored.get(name) == entry for name, entry in self._used.items()):
            return
        others = {name: entry for name, entry in self._stored.items() if name not in self._used}
        newest = dict(list((others | self._used).items())[-max(_MAX_ENTRIES, len(self._used)) :])
        with suppress(OSError):  # without a cache everything still works
            self.path.parent.mkdir(parents=True, exist_ok=True)
            delete_abandoned(self.path.parent)
            replace_file(self.path, [json.dumps(newest).encode()], mode=0o600)  # ten times as fast as json.dump
