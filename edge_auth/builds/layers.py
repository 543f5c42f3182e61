"""A layer of a build: its index, its objects and its files. What reads raises StoreError if it cannot."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from edge_auth.builds import layout
from edge_auth.errors import DamagedObject, StoreError
from edge_auth.store.codec import decompress, decompressed_chunks, sha256
from edge_auth.store.file_cache import FileCache, user_file_cache
from edge_auth.store.interface import Store

if TYPE_CHECKING:
    import pyarrow as pa

    from edge_auth.builds.index import Entry, Index, LayerFile

FACTS = "facts"  # stem of the file with what a layer adds to the status object


class Layer:
    """A layer of a build; `folder` is the prefix of its objects in the store."""

    def __init__(self, store: Store, name: str, digest: str, file_cache: FileCache | None = None):
        self.store = store
        self.name = name
        self.folder = layout.layer_folder(name, digest)
        self._file_cache = file_cache

    @cached_property
    def index(self) -> "Index":
        """The index, opened at the first use."""
        from edge_auth.builds.index import INDEX_NAME, Index  # numpy and pyarrow: some commands read no layer

        name = self.folder + INDEX_NAME
        try:
            return Index(self.local(INDEX_NAME))
        except (OSError, KeyError, ValueError) as error:  # pyarrow's errors are ValueErrors
            raise DamagedObject(f"{name} in {self.store.location} cannot be read: {error}") from error

    def require_whole_files(self) -> None:
        """Check that a folder holds every pack and file of the layer at its full size; a power cut may cut them."""
        if self.store.local_path(self.folder) is None:  # a store across a network has confirmed what it stored
            return
        for file in (*self.index.packs, *self.index.files):
            size = self.store.stat(self.folder + file.name)
            if size != file.size:
                defect = "is missing" if size is None else f"has {size} bytes, not {file.size}"
                raise DamagedObject(f"{self.folder}{file.name} in {self.store.location} {defect}")

    def read_member(self, entry: "Entry") -> bytes:
        """Return the gzip member of an object, verified."""
        return self.verified(entry, self.store.get(self.folder + entry.pack, entry.offset, entry.length))

    def verified(self, entry: "Entry", member: bytes) -> bytes:
        """Return the gzip member of an object after checking its hash."""
        if sha256(member) != entry.stored_sha256:
            raise DamagedObject(f"{self.folder}{entry.pack} at {entry.offset}: the bytes do not match their hash")
        return member

    def read(self, entry: "Entry") -> bytes:
        """Return the JSON of an object."""
        return decompress(self.read_member(entry))

    def file(self, stem: str) -> Path:
        """Return the local path of a file of the layer, by the first part of its name, such as `columns`."""
        found = self._entry_of(stem)
        return self.local(found.name, found.sha256)

    def inflated_file(self, stem: str, sha256: str) -> Path:
        """Return a local file with the content of a compressed file of the layer, whose SHA-256 is given."""
        name = self.folder + self._entry_of(stem).name
        where = f"the content of {name} in {self.store.location}"
        return self._cache.file(sha256, lambda: _inflated(self.store.get(name), where), where)

    def _entry_of(self, stem: str) -> "LayerFile":
        for file in self.index.files:
            if file.name.startswith(stem + "-"):
                return file
        raise StoreError(f"{self.folder} has no file {stem}")

    def table(self, stem: str) -> "pa.Table":
        """Return a file of the layer as an Arrow table, mapped into memory."""
        from edge_auth.builds.index import map_table

        path = self.file(stem)
        try:
            return map_table(path)
        except (OSError, ValueError, KeyError) as error:  # as those of `index`
            raise DamagedObject(f"{path.name} in {self.folder} cannot be read: {error}") from error

    def inflated(self, entry: "Entry") -> Path:
        """Return a local file with the JSON of an object."""
        where = f"{self.folder}{entry.pack} at {entry.offset}"
        return self._cache.file(entry.json_sha256.hex(), lambda: _inflated(self.read_member(entry), where), where)

    def local(self, name: str, sha256: str | None = None) -> Path:
        """Return a local file with the content of a file of the layer, for mapping into memory.

        A shim maps copies: a file of a store that is cut or overwritten would end its processes, or give wrong answers.
        Commands map a file of a folder where it lies. The index has no `sha256`: it contains its own hash.
        """
        path = self.store.local_path(self.folder + name)
        if path is None or (self._file_cache and not self.store.holds_copies):
            return self._cache.path(self.store, self.folder + name, sha256)
        if sha256 and self._file_cache:
            self._file_cache.require_whole(path, sha256)
        return path

    @property
    def _cache(self) -> FileCache:
        return self._file_cache or user_file_cache()


def _inflated(members: bytes, where: str) -> Iterator[bytes]:
    try:
        yield from decompressed_chunks(members)
    except OSError as error:
        raise DamagedObject(f"{where} cannot be inflated: {error}") from error
