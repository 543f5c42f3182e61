"""Intermediate files, which only other tasks read: in a folder of this process, or in the store for other machines.

In the store they lie below `work/<build id>/` until the build is made or a prune deletes them. They are named by their
content, so a repeated task does not disturb a task that reads the first copy.
"""

import hashlib
from pathlib import Path

from edge_auth.builds.index import LayerFile
from edge_auth.store.disk import move_file
from edge_auth.store.file_cache import FileCache, user_cache
from edge_auth.store.interface import Store

CACHE_BYTES = 32 << 30  # for machines that cannot read the files in place


class IntermediateStore:
    """The intermediate files below a prefix of a store."""

    def __init__(self, store: Store, prefix: str):
        self.store = store
        self.prefix = prefix
        self._cache = FileCache(user_cache() / "parts", CACHE_BYTES)
        self._verified: dict[str, Path] = {}  # copies that this process has checked

    @property
    def in_place(self) -> bool:
        """Whether a task can map a file where it lies. If not, it fetches a copy, which should then be small."""
        return self.store.local_path(self.prefix) is not None

    def add(self, data: bytes) -> LayerFile:
        """Store bytes as an intermediate file."""
        digest = hashlib.sha256(data).hexdigest()
        self.store.put(self.prefix + digest, data)
        return LayerFile(digest, len(data), digest)

    def add_file(self, path: Path) -> LayerFile:
        """Move a local file into the store."""
        folder = self.store.local_path(self.prefix)
        if folder is None:
            file = self.add(path.read_bytes())
            path.unlink()
            return file
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        size = path.stat().st_size
        folder.mkdir(parents=True, exist_ok=True)
        move_file(path, folder / digest)
        return LayerFile(digest, size, digest)

    def path(self, file: LayerFile) -> Path:
        """Return a local path of an intermediate file.

        Raises:
            StoreError: It cannot be read, or its content has another hash.
        """
        name = self.prefix + file.name
        path = self.store.local_path(name) or self._verified.get(name)
        if path is None or not path.exists():
            path = self._verified[name] = self._cache.path(self.store, name, file.sha256)
        return path

    def clear(self) -> None:
        """Delete all intermediate files."""
        self.store.delete(self.store.list(self.prefix))
