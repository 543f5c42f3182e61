"""A layer of a build: its index, its objects and its files."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from edge_auth.builds import layout
from edge_auth.errors import DamagedObject, StoreError
from edge_auth.store.codec import decompress, sha256
from edge_auth.store.file_cache import FileCache, user_file_cache
from edge_auth.store.interface import Span, Store

if TYPE_CHECKING:
    import pyarrow as pa

    from edge_auth.builds.index import Entry, Index

FACTS = "facts"  # stem of the file with what a layer adds to the status object


class Layer:
    """A layer of a build: its index and its objects.

    Attributes:
        folder: The prefix of its objects in the store.
    """

    def __init__(self, store: Store, name: str, digest: str, file_cache: FileCache | None = None):
        self.store = store
        self.name = name
        self.folder = layout.layer_folder(name, digest)
        self._file_cache = file_cache

    @cached_property
    def index(self) -> "Index":
        """The index, opened at the first use.

        Raises:
            StoreError: It cannot be read.
        """
        from edge_auth.builds.index import INDEX_NAME, Index  # numpy and pyarrow: some commands read no layer

        name = self.folder + INDEX_NAME
        try:
            return Index(self.local(INDEX_NAME))
        except (OSError, KeyError, ValueError) as error:  # pyarrow's errors are ValueErrors
            raise DamagedObject(f"{name} in {self.store.location} cannot be read: {error}") from error

    def require_whole_files(self) -> None:
        """Check that a folder holds every pack and file of the layer at its full size; a power cut may have cut them.

        A store across a network confirms what it has stored, so nothing is checked there.

        Raises:
            StoreError: The index cannot be read, or a file is missing or has another size.
        """
        if self.store.local_path(self.folder) is None:
            return
        for file in (*self.index.packs, *self.index.files):
            size = self.store.stat(self.folder + file.name)
            if size != file.size:
                defect = "is missing" if size is None else f"has {size} bytes, not {file.size}"
                raise DamagedObject(f"{self.folder}{file.name} in {self.store.location} {defect}")

    def span(self, entry: "Entry") -> Span:
        """Return the range of the store that holds an object."""
        return self.folder + entry.pack, entry.offset, entry.length

    def read_member(self, entry: "Entry") -> bytes:
        """Return the gzip member of an object, verified.

        Raises:
            StoreError: It cannot be read, or does not match its hash.
        """
        return self.verified(entry, self.store.get(*self.span(entry)))

    def verified(self, entry: "Entry", member: bytes) -> bytes:
        """Return the gzip member of an object after checking its hash.

        Raises:
            StoreError: It does not match its hash.
        """
        if sha256(member) != entry.stored_sha256:
            raise DamagedObject(f"{self.folder}{entry.pack} at {entry.offset}: the bytes do not match their hash")
        return member

    def read(self, entry: "Entry") -> bytes:
        """Return the JSON of an object."""
        return decompress(self.read_member(entry))

    def file(self, stem: str, inflated_sha256: str | None = None) -> Path:
        """Return the local path of a file of the layer.

        Args:
            stem: The first part of the file's name, such as `columns`.
            inflated_sha256: To inflate a compressed file: the SHA-256 of its content.

        Raises:
            StoreError: The layer has no such file.
        """
        for file in self.index.files:
            if file.name.startswith(stem + "-"):
                return self.local(file.name, file.sha256, inflated_sha256)
        raise StoreError(f"{self.folder} has no file {stem}")

    def table(self, stem: str) -> "pa.Table":
        """Return a file of the layer as an Arrow table, mapped into memory.

        Raises:
            DamagedObject: It is no Arrow file.
            StoreError: The layer has no such file, or it cannot be fetched.
        """
        from edge_auth.builds.index import map_table

        path = self.file(stem)
        try:
            return map_table(path)
        except (OSError, ValueError, KeyError) as error:  # as those of `index`
            raise DamagedObject(f"{path.name} in {self.folder} cannot be read: {error}") from error

    def inflated(self, entry: "Entry") -> Path:
        """Return a local file with the JSON of an object.

        Raises:
            StoreError: The object cannot be read or is damaged, or the file cannot be written.
        """
        file_cache = self._file_cache or user_file_cache()
        return file_cache.inflated(entry.json_sha256.hex(), lambda: self.read_member(entry))

    def local(self, name: str, sha256: str | None = None, inflated_sha256: str | None = None) -> Path:
        """Return a local file with the content of a file of the layer, for mapping into memory.

        Args:
            sha256: The expected hash, or None for a file that contains its own hash, such as the index.
            inflated_sha256: To inflate a compressed file: the SHA-256 of its content.
        """
        path = None if self._file_cache or inflated_sha256 else self.store.local_path(self.folder + name)
        if path:
            return path
        file_cache = self._file_cache or user_file_cache()
        return file_cache.path(self.store, self.folder + name, sha256, inflated_sha256)


def read_members(located: Sequence[tuple[Layer, "Entry"]]) -> list[bytes]:
    """Return the gzip members of several objects.

    Raises:
        StoreError: One cannot be read, or does not match its hash.
    """
    return [layer.read_member(entry) for layer, entry in located]
