"""What tasks write into a store: files, outputs, and the index of a layer, which is written last.

Intermediate files, which only other tasks read, are in a folder of this process, or in the store for other machines. In
the store they lie below `work/<build id>/` until the build is made or a prune deletes them. They are named by their
content, so a repeated task does not disturb a task that reads the first copy.
"""

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from generator.storage.layers import StoredFile, index_table, rows_table, to_bytes
from generator.storage.stores.disk import make_folder, move_file
from generator.storage.stores.file_cache import FileCache, sha256_of, user_cache
from generator.storage.stores.interface import Store

THREADS = 4  # each may hold a pack in memory
CACHE_BYTES = 32 << 30  # of intermediate files, for machines that cannot read them in place


class Uploads:
    """Threads that put immutable files into a store. Every method may raise the StoreError of an earlier file.

    With `resend` they also send the files that the store has, since these may be damaged.
    """

    def __init__(self, store: Store, resend: bool = False):
        self.store = store
        self.resend = resend
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="upload")
        self._pending: deque[Future[None]] = deque()

    def put(self, name: str, data: bytes, sha256: str) -> None:
        """Put a file at some time before `finish` returns."""
        while len(self._pending) >= THREADS:
            self._pending.popleft().result()
        self._pending.append(self._pool.submit(self._put, name, data, sha256))

    def finish(self) -> None:
        """Wait until every file is in the store."""
        while self._pending:
            self._pending.popleft().result()

    def close(self) -> None:
        """Drop the files that no thread has begun, and wait for the others."""
        self._pool.shutdown(cancel_futures=True)

    def _put(self, name: str, data: bytes, sha256: str) -> None:
        if self.resend or (self.store.digest(name) or ())[:2] != (len(data), sha256):
            self.store.put(name, data)


class IntermediateStore:
    """The intermediate files below a prefix of a store."""

    def __init__(self, store: Store, prefix: str):
        self.store = store
        self.prefix = prefix
        self._cache = FileCache(user_cache() / "parts", CACHE_BYTES)

    def add(self, path: Path) -> StoredFile:
        """Move a local file into the store."""
        digest, folder = sha256_of(path), self.store.local_path(self.prefix)
        file = StoredFile(digest, path.stat().st_size, digest)
        if folder is None:
            self.store.put(self.prefix + digest, path.read_bytes())
            path.unlink()
        else:
            make_folder(folder)
            move_file(path, folder / digest)
        return file

    def path(self, file: StoredFile) -> Path:
        """Return a local path of an intermediate file."""
        name = self.prefix + file.name
        return self.store.local_path(name) or self._cache.path(self.store, name, file.sha256)


@dataclass
class TaskOutput:
    """What a task has written."""

    layer: str = ""  # '' if it wrote only intermediate files
    index_rows: pa.Table | None = None  # of objects; its packs count from 0
    packs: list[StoredFile] = field(default_factory=list)
    files: list[StoredFile] = field(default_factory=list)
    intermediates: dict[str, StoredFile] = field(default_factory=dict)  # by what they hold


Inputs = dict[str, TaskOutput]  # by the name of the task


def join_index(pattern: str, outputs: Sequence[TaskOutput]) -> bytes:
    """Return the index of a layer from the outputs of its tasks. It does not depend on where the tasks ran."""
    packs: list[StoredFile] = []
    rows = [rows_table([], pattern)]
    for output in outputs:
        if output.index_rows is not None:
            number = pc.add(output.index_rows["pack"], pa.scalar(len(packs), pa.uint16()))
            place = output.index_rows.column_names.index("pack")
            rows.append(output.index_rows.set_column(place, "pack", number))
        packs += output.packs
    files = [file for output in outputs for file in output.files]
    return to_bytes(index_table(pa.concat_tables(rows), pattern, packs, files))
