"""Writes a build as a tree of plain files, one per object, into a folder or a bucket, and keeps the tree up to date.

    api/v1/…                  the documents and the bulk files, under the paths of the API
    docs/…, explore/…         the site's files
    .cardpress-export.json    the record of the tree (`target`): its build, and every file with a hash

Names are claimed in the record before a file is written. So a run that was killed leaves only files that the next run
knows as its own, and a file that is not in the record is never touched.

What cannot be read raises StoreError, what cannot be written ExportError. An export reads a build from end to end.
`ReadAhead` reads its packs in blocks of 4 MB.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath
from threading import Lock
from typing import Any

from edge_auth.builds.builds import Build
from edge_auth.store.interface import Store
from generator.errors import ExportError
from generator.terminal import Progress, ProgressBar
from generator.threads import in_order
from generator.tree.documents import Documents, TreeBody, TreeDocument
from generator.tree.target import Target, TreeFile, TreeRecord

BLOCK_BYTES = 4 << 20  # of a pack that is read ahead
_MAX_BLOCKS = 64
_SECONDS_BETWEEN_RECORDS = 30.0


@dataclass(frozen=True)
class ExportResult:
    """What an export did: the objects of the tree, and how many files it wrote and deleted."""

    objects: int
    written: int
    deleted: int


def export(build: Build, location: str, *, gzip: bool, progress: Progress, plain: bool | None = None) -> ExportResult:
    """Bring the tree at a location to the state of a build. Only files that changed are written.

    Args:
        gzip: Also write a `.gz` beside each file of a folder but the bulk files, for hosts that serve compressed files.
        plain: Whether the objects of a bucket are written without compression; None: as the tree has them.
    """
    with Target(location) as target:
        return _Export(build, target, gzip, plain, progress).run()


class _Export:
    def __init__(self, build: Build, target: Target, gzip: bool, plain: bool | None, progress: Progress):
        self._build, self._target, self._progress = build, target, progress
        self._documents = Documents(build)
        self._suffixes = target.suffixes(gzip)
        self._present = target.files()
        record = target.read_record()
        if record is None and self._present:
            raise ExportError(
                f"{target.location} is not an empty folder and has no record of an export: "
                "export writes into a new folder, or into a tree that it wrote"
            )
        self._old = record or TreeRecord()
        self._plain = self._old.plain if plain is None else plain
        if self._plain != self._old.plain:  # every object is written again
            self._old = replace(self._old, files=dict.fromkeys(self._old.files), plain=self._plain)
        self._files: dict[str, TreeFile | None] = {}
        self._large = Lock()  # bulk files are in memory as a whole, so one at a time

    def run(self) -> ExportResult:
        """Write, then delete, then record."""
        documents = list(self._documents)
        names = {name for document in documents for name in self._names(document)}
        self._check_foreign(names)
        changed = [document for document in documents if not self._is_unchanged(document)]
        gone = sorted(self._old.files.keys() - names)
        self._files = self._old.files | dict.fromkeys(name for document in changed for name in self._names(document))
        if changed or gone:
            self._write_record(complete=False)
        written = self._write(changed)
        self._target.delete([name for name in gone if name in self._present])
        self._files = {name: self._files[name] for name in names}
        self._write_record(complete=True)
        return ExportResult(len(documents), written, len(gone))

    def _names(self, document: TreeDocument) -> list[str]:
        return [document.name + suffix for suffix in self._suffixes_of(document)]

    def _suffixes_of(self, document: TreeDocument) -> tuple[str, ...]:
        return ("",) if document.bulk_file else self._suffixes

    def _check_foreign(self, names: set[str]) -> None:
        """Refuse a target where a file that no export wrote has the name of a file or a folder of the tree."""
        foreign = self._present.keys() - self._old.files.keys()
        folders = {str(folder) for name in names for folder in PurePosixPath(name).parents}
        in_the_way = {
            name
            for name, path in ((name, PurePosixPath(name)) for name in foreign)
            if name in folders or any(str(part) in names for part in (path, *path.parents))
        }
        if in_the_way:
            raise ExportError(
                f"{min(in_the_way)} in {self._target.location} stands in the way, and no export wrote it: "
                "move it, or export to another place"
            )

    def _is_unchanged(self, document: TreeDocument) -> bool:
        """Return whether record and size show that a document need not be read."""
        files = map(self._intact, self._names(document))
        return all(file is not None and file.tag == document.tag for file in files)

    def _intact(self, name: str) -> TreeFile | None:
        """Return what the record says of a file, if the file is there with its size."""
        file = self._old.files.get(name)
        return file if file is not None and self._present.get(name) == file.size else None

    def _write(self, documents: list[TreeDocument]) -> int:
        """Write documents, several at once; those that name the build when all others are there. Count the files."""
        phases = [[one for one in documents if one.names_build is last] for last in (False, True)]
        with ThreadPoolExecutor(self._target.threads) as pool, self._progress.bar("export", len(documents)) as bar:
            return sum(self._write_phase(pool, bar, phase) for phase in phases)

    def _write_phase(self, pool: ThreadPoolExecutor, bar: ProgressBar, documents: list[TreeDocument]) -> int:
        written, saved_at = 0, time.monotonic()
        bodies = ((document, self._documents.body(document)) for document in documents)
        for files, count in in_order(pool, 2 * self._target.threads, lambda item: self._write_one(*item), bodies):
            self._files |= files
            written += count
            bar.update(1)
            if time.monotonic() > saved_at + _SECONDS_BETWEEN_RECORDS:
                self._write_record(complete=False)
                saved_at = time.monotonic()
        return written

    def _write_one(self, document: TreeDocument, body: TreeBody) -> tuple[dict[str, TreeFile], int]:
        """Write the files of a document, unless they have its content. Return what to record, and how many it wrote."""
        files, written = {}, 0
        for suffix in self._suffixes_of(document):
            name = document.name + suffix
            file = self._intact(name)
            if file is None or file.digest != body.digest:
                with self._large if body.is_file else nullcontext():
                    size = self._target.write(name, body, suffix, self._plain)
                file, written = TreeFile(size, document.tag, body.digest), written + 1
            files[name] = file._replace(tag=document.tag)
        return files, written

    def _write_record(self, *, complete: bool) -> None:
        record = TreeRecord(self._build.id if complete else self._old.build, self._files, self._plain)
        self._target.write_record(record)


class ReadAhead:
    """A store for sequential readers: it reads ranges from cached blocks. All other methods are the store's own."""

    def __init__(self, store: Store):
        self._store = store
        self._size = lru_cache(store.stat)
        self._block = lru_cache(_MAX_BLOCKS)(self._read_block)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Return an object, or `length` bytes of it from `offset`; raises what the store raises."""
        if not length or offset + length > (self._size(name) or 0):
            return self._store.get(name, offset, length)
        first, last = offset // BLOCK_BYTES, (offset + length - 1) // BLOCK_BYTES
        data = b"".join(self._block(name, number) for number in range(first, last + 1))
        start = offset - first * BLOCK_BYTES
        return data[start : start + length]

    def _read_block(self, name: str, number: int) -> bytes:
        start = number * BLOCK_BYTES
        return self._store.get(name, start, min(BLOCK_BYTES, (self._size(name) or 0) - start))
