"""Copies of what answers need of the builds of a bucket, in a folder of this machine. A shim answers from them alone.

The folder is a store: records and layers have the names that they have in the bucket. A layer is named by what went
into it, so one that is here is never copied again. What was fetched is checked against the hashes in the layer's index.
The index is put in place after the files, and the record after all layers. So a copy that was interrupted goes on.

The processes of a machine share the folder. One copies, the others wait. A process that has opened a build holds a lock
on its record. What no process has opened is deleted.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from edge_auth.builds import builds, layer_names, layout
from edge_auth.builds.catalogue import CARD_LINES
from edge_auth.builds.index import INDEX_NAME, Index, LayerFile
from edge_auth.builds.layers import Layer
from edge_auth.errors import DamagedObject, StoreError
from edge_auth.store.disk import replace_file, tolerated, written_beside
from edge_auth.store.file_cache import FileCache
from edge_auth.store.folder import FolderStore
from edge_auth.store.interface import Store
from edge_auth.store.remedies import with_remedy

_CHUNK_BYTES = 8 << 20
_FILES_AT_ONCE = 8
_MODE = 0o600
_LOCK_NAME = ".copying"


class OpenCopies(FolderStore):
    """The copies of a build. They stay for as long as this object does."""

    def __init__(self, folder: Path, record: BinaryIO):
        super().__init__(str(folder), private=True)
        self._record = record  # the lock ends with this file


class BuildCopies:
    """The copies of a bucket.

    Attributes:
        store: The folder, for small objects beside the builds.
    """

    def __init__(self, bucket: Store, folder: Path):
        self._bucket = bucket
        self._folder = folder
        self._is_swept = False
        self.store = FolderStore(str(folder), private=True)

    def open(self, id_: str) -> OpenCopies:
        """Return the copies of a build. Copy what is not here.

        Raises:
            UnknownBuild: The bucket does not hold the build.
            StoreError: The bucket cannot be read, or a copy cannot be written.
        """
        found = self._held(id_)
        if found is None:
            with self._one_process():
                found = self._held(id_)  # another process may have copied it meanwhile
                if found is None:
                    self._copy(id_)
                    found = self._held(id_)
        if found is None:
            raise StoreError(f"the copy of build {id_} in {self._folder} was deleted")
        return found

    def repair(self, id_: str) -> None:
        """Read all copies of a build, and replace those that are damaged.

        Raises:
            UnknownBuild, StoreError: As for `open`.
        """
        with self._one_process():
            self._copy(id_, again=True)

    def drop_unused(self) -> None:
        """Delete the copies that no process needs, unless a process is copying.

        Raises:
            StoreError: The folder cannot be read.
        """
        with self._one_process(waits=False) as is_alone:
            if not is_alone:
                return
            names = list(self.store.list(layout.BUILDS))
            kept = [name for name in names if not self._is_dropped(name)]
            if self._is_swept and kept == names:
                return
            records = (builds.open_build(self.store, id_) for id_ in layout.build_ids(kept))
            needed = {layer.folder for record in records for layer in record.layers.values()}
            copies = self.store.list(layout.LAYERS)
            self.store.delete([name for name in copies if layout.layer_folder_of(name) not in needed])
            self.store.delete([file.name for file in self.store.leftovers()])
            self._is_swept = True

    def _held(self, id_: str) -> OpenCopies | None:
        """Return the copies of a build if they are complete, and keep them from being deleted."""
        try:
            record = (self._folder / layout.record_name(id_)).open("rb")
        except FileNotFoundError:
            return None
        with tolerated():
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
        """Copy the layers of a build.

        Args:
            again: Also those that are here, as far as they are damaged.
        """
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
        place = self._place(name)
        with self._translated_errors(name), written_beside(place, [data], mode=_MODE) as temporary:
            try:
                index = Index(Path(temporary))
            except (KeyError, ValueError) as error:
                raise DamagedObject(f"{name} in {self._bucket.location} cannot be read: {error}") from error
            for _ in pool.map(lambda file: self._copy_file(layer.folder, file), _needed_files(layer, index)):
                pass
            self.store.sync()
            os.replace(temporary, place)

    def _copy_file(self, folder: str, file: LayerFile) -> None:
        """Copy a file of a layer, unless it is here and whole: an interrupted copy has left it."""
        place = self._place(folder + file.name)
        with self._translated_errors(folder + file.name):
            if _sha256_of(place) != file.sha256:
                replace_file(place, self._checked_chunks(folder + file.name, file), mode=_MODE)

    def _checked_chunks(self, name: str, file: LayerFile) -> Iterator[bytes]:
        """Yield the bytes of a file of the bucket. In the end raise DamagedObject if they do not match its hash."""
        digest = hashlib.sha256()
        for start in range(0, file.size, _CHUNK_BYTES):
            chunk = self._bucket.get(name, start, min(_CHUNK_BYTES, file.size - start))
            digest.update(chunk)
            yield chunk
        if digest.hexdigest() != file.sha256:
            raise DamagedObject(f"{name} in {self._bucket.location} does not match its hash")

    def _place(self, name: str) -> Path:
        place = self._folder / name
        with self._translated_errors(name):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place

    @contextmanager
    def _one_process(self, *, waits: bool = True) -> Iterator[bool]:
        """Let one process copy or delete at a time. Yield whether this is it: without waiting, it may not be."""
        with self._translated_errors(_LOCK_NAME), self._place(_LOCK_NAME).open("ab") as lock:
            is_alone = True
            with tolerated():  # without locks two processes may copy the same
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


class FilesInPlace(FileCache):
    """A file cache for copies, which never change: they are mapped where they are. It holds inflated files alone."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self._whole: set[tuple[str, int, int]] = set()  # path, inode and time of change of copies with the right hash

    def path(self, store: Store, name: str, sha256: str | None = None, inflated_sha256: str | None = None) -> Path:
        """Return a copy, or an inflated one.

        Raises:
            DamagedObject: The copy is missing, or does not match its hash.
            StoreError: As for any file cache.
        """
        place = None if inflated_sha256 else store.local_path(name)
        if place is None:
            return super().path(store, name, sha256, inflated_sha256)
        if sha256 is not None:
            self._require_whole(place, sha256)
        return place

    def _require_whole(self, place: Path, sha256: str) -> None:
        """Hash a copy, unless the same file was hashed before."""
        try:
            stat = place.stat()
            state = (str(place), stat.st_ino, stat.st_mtime_ns)
            if state not in self._whole and _sha256_of(place) != sha256:
                raise DamagedObject(f"the copy {place} does not match its hash")
        except OSError as error:
            raise DamagedObject(f"the copy {place} cannot be read: {error.strerror}") from error
        self._whole.add(state)


def _is_needed(layer: Layer) -> bool:
    """Return whether answers need a layer. Bulk files are streamed, but the Cards' lines are one of them."""
    return not layer_names.holds_bulk_files(layer.name) or layer.name == layer_names.bulk_layer(CARD_LINES)


def _needed_files(layer: Layer, index: Index) -> list[LayerFile]:
    files = [*index.packs, *index.files]
    if layer_names.holds_bulk_files(layer.name):
        return [file for file in files if file.name.startswith(f"{CARD_LINES}-")]
    return files


def _sha256_of(path: Path) -> str | None:
    """Return the hash of a file, or None if there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
