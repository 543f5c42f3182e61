"""Copies of what answers need of the builds of a bucket, in a folder of this machine. A shim answers from them alone.

The folder is a store: records and layers have the names that they have in the bucket. A layer is named by what went
into it, so one that is here is never copied again. What was fetched is checked against the hashes in the layer's index.
The index is put in place after the files, and the record after all layers. So a copy that was interrupted goes on.

The processes of a machine share the folder. One copies, the others wait. A process that has opened a build holds a lock
on its record. What no process has opened is deleted.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import time
from typing import BinaryIO

from generator.storage import builds, layout
from generator.storage.builds import Build
from generator.storage.catalogue import CARD_LINES
from generator.storage.errors import DamagedObject, StoreError
from generator.storage.layers import INDEX_NAME, Index, Layer, StoredFile
from generator.storage.stores.disk import LEFTOVER_SECONDS, replace_file, written_beside
from generator.storage.stores.file_cache import checked, sha256_of
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.interface import Store
from generator.storage.stores.remedies import with_remedy

_CHUNK_BYTES = 8 << 20
_FILES_AT_ONCE = 8
_MODE = 0o600
_LOCK_NAME = ".copying"


class OpenCopies(FolderStore):
    """The copies of a build. They stay for as long as this object does."""

    holds_copies = True

    def __init__(self, folder: Path, record: BinaryIO):
        super().__init__(str(folder), private=True)
        self._record = record  # the lock ends with this file


class BuildCopies:
    """The copies of a bucket. `store` is the folder, for small objects beside the builds."""

    def __init__(self, bucket: Store, folder: Path):
        self._bucket = bucket
        self._folder = folder
        self._is_swept = False
        self.store = FolderStore(str(folder), private=True)

    def open(self, id_: str) -> OpenCopies:
        """Return the copies of a build, or raise UnknownBuild. Copy what is not here."""
        if found := self._held(id_):
            return found
        with self._one_process():
            found = self._held(id_)  # another process may have copied it meanwhile
            if found is None:
                self._copy(id_)
                found = self._held(id_)
        assert found is not None, "copies are dropped by one process at a time"
        return found

    def repair(self, id_: str) -> None:
        """Read all copies of a build, and replace those that are damaged."""
        with self._one_process():
            self._copy(id_, again=True)

    def has_all(self, build: Build) -> bool:
        """Return whether no copy of a build that is open is gone."""
        names = [layout.record_name(build.id)]
        for layer in filter(_is_needed, build.layers.values()):
            files = _files_of(layer, layer.index)
            names += [layer.folder + name for name in (INDEX_NAME, *(file.name for file in files))]
        return all(self.store.stat(name) is not None for name in names)

    def drop_unused(self) -> None:
        """Delete the copies that no process needs, unless a process is copying."""
        with self._one_process(waits=False) as is_alone:
            if not is_alone:
                return
            names = list(self.store.list(layout.BUILDS))
            kept = [name for name in names if not self._is_dropped(name)]
            if self._is_swept and kept == names:
                return
            records = (builds.open_build(self.store, id_) for id_ in map(layout.id_of, kept))
            needed = {layer.folder for record in records for layer in record.layers.values()}
            copies = self.store.list(layout.LAYERS)
            self.store.delete([name for name in copies if layout.layer_folder_of(name) not in needed])
            too_old = time() - LEFTOVER_SECONDS
            self.store.delete([file.name for file in self.store.leftovers() if file.modified < too_old])
            self._is_swept = True

    def _held(self, id_: str) -> OpenCopies | None:
        """Return the copies of a build if they are complete, and keep them from being deleted."""
        try:
            record = (self._folder / layout.record_name(id_)).open("rb")
        except FileNotFoundError:
            return None
        fcntl.flock(record, fcntl.LOCK_SH)
        if os.fstat(record.fileno()).st_nlink:
            return OpenCopies(self._folder, record)
        record.close()  # it has just been dropped
        return None

    def _is_dropped(self, name: str) -> bool:
        """Delete a record unless a process has opened its build. Return whether it is gone."""
        path = self._folder / name
        with path.open("rb") as record:
            try:
                fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            path.unlink()
            return True

    def _copy(self, id_: str, *, again: bool = False) -> None:
        """Copy the layers of a build; `again` also those that are here, as far as they are damaged."""
        build = builds.open_build(self._bucket, id_)
        with ThreadPoolExecutor(_FILES_AT_ONCE, "copy") as pool:
            for layer in filter(_is_needed, build.layers.values()):
                if again or self.store.stat(layer.folder + INDEX_NAME) is None:
                    self._copy_layer(layer, pool)
        name, data = layout.record_name(id_), json.dumps(build.record).encode()
        here = self.store.get_versioned(name)
        if here is None or here.data != data:  # processes that have opened the build hold locks on this very file
            self.store.put(name, data)

    def _copy_layer(self, layer: Layer, pool: ThreadPoolExecutor) -> None:
        name = layer.folder + INDEX_NAME
        data = self._bucket.get(name)
        with self._translated_errors(name), written_beside(self._place(name), [data], mode=_MODE) as temporary:
            try:
                index = Index(Path(temporary))
            except (KeyError, ValueError) as error:
                raise DamagedObject(f"{name} in {self._bucket.location} cannot be read: {error}") from error
            list(pool.map(partial(self._copy_file, layer.folder), _files_of(layer, index)))
            self.store.sync()
            os.replace(temporary, self._folder / name)

    def _copy_file(self, folder: str, file: StoredFile) -> None:
        """Copy a file of a layer, unless it is here and whole: an interrupted copy has left it."""
        name = folder + file.name
        with self._translated_errors(name):
            place = self._place(name)
            if not place.exists() or sha256_of(place) != file.sha256:
                starts = range(0, file.size, _CHUNK_BYTES)
                chunks = (self._bucket.get(name, start, min(_CHUNK_BYTES, file.size - start)) for start in starts)
                replace_file(place, checked(chunks, file.sha256, f"{name} in {self._bucket.location}"), mode=_MODE)

    def _place(self, name: str) -> Path:
        place = self._folder / name
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place

    @contextmanager
    def _one_process(self, *, waits: bool = True) -> Iterator[bool]:
        """Let one process copy or delete at a time. Yield whether this is it: without waiting, it may not be."""
        with self._translated_errors(_LOCK_NAME), self._place(_LOCK_NAME).open("ab") as lock:
            is_alone = True
            try:
                fcntl.flock(lock, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                is_alone = False
            yield is_alone

    @contextmanager
    def _translated_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"cannot copy {name} to {self._folder}: {error.strerror or error}"
            raise StoreError(with_remedy(message, error)) from error


def _files_of(layer: Layer, index: Index) -> list[StoredFile]:
    prefix = f"{CARD_LINES}-" if layout.holds_bulk_files(layer.name) else ""
    return [file for file in (*index.packs, *index.files) if file.name.startswith(prefix)]


def _is_needed(layer: Layer) -> bool:
    """Return whether answers need a layer. Bulk files are streamed, but the Cards' lines are one of them."""
    return not layout.holds_bulk_files(layer.name) or layer.name == layout.sublayer(layout.BULK, CARD_LINES)
