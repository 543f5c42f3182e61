"""Where tasks leave what only other tasks read: in a folder of this process, or in the store for other machines.

    work/<build id>/<content>    in the store; gone when the build is made, or with a prune

Parts are named by their content, as packs are, so a task that is done twice never disturbs who reads the first copy.
"""

import hashlib
import os
import secrets
import shutil
from pathlib import Path

from edge_auth.contract.index import LayerFile
from edge_auth.contract.store.file_cache import FileCache, user_cache
from edge_auth.contract.store.interface import Store

COPIES_BYTES = 32 << 30  # of parts kept on a machine that cannot read them in place


class IntermediateStore:
    """A folder of parts below `prefix` of a store."""

    def __init__(self, store: Store, prefix: str):
        self.store = store
        self.prefix = prefix
        self._copies = FileCache(user_cache() / "parts", COPIES_BYTES)
        self._copied: dict[str, Path] = {}  # found good by this process

    @property
    def in_place(self) -> bool:
        """Whether a reader can map a part where it lies; else it fetches a copy, of what should then be small."""
        return self.store.local_path(self.prefix) is not None

    def keep(self, data: bytes) -> LayerFile:
        """Keep bytes as a part."""
        digest = hashlib.sha256(data).hexdigest()
        self.store.put(self.prefix + digest, data)
        return LayerFile(digest, len(data), digest)

    def keep_file(self, path: Path) -> LayerFile:
        """Make a local file a part; the file is gone then."""
        target_of = self.store.local_path(self.prefix)
        if target_of is None:
            part = self.keep(path.read_bytes())
            path.unlink()
            return part
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size, folder = path.stat().st_size, Path(target_of)
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder / f".writing-{secrets.token_hex(8)}"
        shutil.move(path, beside)  # a rename, or a copy from another file system
        os.replace(beside, folder / digest)
        return LayerFile(digest, size, digest)

    def path(self, part: LayerFile) -> Path:
        """A local file that holds a part.

        Raises:
            StoreError: it cannot be read, or is not what was written.
        """
        name = self.prefix + part.name
        path = self.store.local_path(name) or self._copied.get(name)
        if path is None or not path.exists():
            path = self._copied[name] = self._copies.path(self.store, name, part.sha256)
        return path

    def clear(self) -> None:
        """Delete all parts."""
        self.store.delete(self.store.list(self.prefix))
