"""A layer of a build: its index, its objects and its files. What reads raises StoreError if it cannot.

The index, `index.arrow`, is the table of contents: pack, range and hashes of each object. It is an Arrow IPC file,
sorted by key, that readers map into memory. In layers with one object per product the key is the product's id, and
`pattern` gives the logical key (`cards/{}.json`); in other layers the key is the logical key. The schema's metadata
lists the packs and files of the layer with sizes and hashes. Its entry `content` is a hash over everything else. The
index is written last, so a layer is complete when its index exists.
"""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from generator.storage import layout
from generator.storage.errors import DamagedObject, StoreError
from generator.storage.stores.codec import decompress, decompressed_chunks, sha256
from generator.storage.stores.file_cache import FileCache, user_cache
from generator.storage.stores.interface import Store

FACTS = "facts"  # stem of the file with what a layer adds to the status object
INDEX_NAME = "index.arrow"
_DIGEST_BYTES = 32
_DIGEST = pa.binary(_DIGEST_BYTES)


class Entry(NamedTuple):
    """The location of an object in its layer, the hashes of its member and its JSON, and the bytes of its JSON."""

    pack: str
    offset: int
    length: int
    stored_sha256: bytes
    json_sha256: bytes
    json_size: int


class StoredFile(NamedTuple):
    """A pack or another file of a layer: name, bytes, SHA-256 in hex."""

    name: str
    size: int
    sha256: str


# A row of an index: key, number of the pack, offset, length, SHA-256 of the member and of the JSON, size of the JSON.
Row = tuple[int | str, int, int, int, bytes, bytes, int]
_TYPES = {
    "pack": pa.uint16(),
    "offset": pa.uint64(),
    "length": pa.uint32(),
    "stored_sha256": _DIGEST,
    "json_sha256": _DIGEST,
    "json_size": pa.uint32(),
}


def rows_table(rows: Sequence[Row], pattern: str) -> pa.Table:
    """Return the rows of an index that is being written, in any order of keys."""
    types = {"key": pa.int64() if pattern else pa.string(), **_TYPES}
    columns = zip(*rows, strict=True) if rows else ([] for _ in types)
    return pa.table({name: pa.array(values, types[name]) for name, values in zip(types, columns, strict=True)})


def index_table(rows: pa.Table, pattern: str, packs: list[StoredFile], files: list[StoredFile]) -> pa.Table:
    """Return an index of these rows: sorted by key, with its metadata."""
    table = rows.sort_by("key").combine_chunks()
    metadata = {"pattern": pattern, "packs": json.dumps(packs), "files": json.dumps(files)}
    return table.replace_schema_metadata(metadata | {"content": _content_hash(table, *metadata.values())})


def to_bytes(table: pa.Table) -> bytes:
    """Return a table as an Arrow IPC file of one batch, uncompressed so that it can be mapped into memory."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


def map_table(path: Path) -> pa.Table:
    """Return a table from a memory-mapped Arrow IPC file. All processes of a machine share its pages."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def only_chunk(table: pa.Table, name: str) -> pa.Array:
    """Return a column of a table that has at most one batch."""
    column = table[name]
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def text_column(table: pa.Table, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all texts of such a column, and where each text begins, with the end of the last one."""
    _, offsets, text = only_chunk(table, name).buffers()
    return np.frombuffer(text or b"", np.uint8), np.frombuffer(offsets or bytes(4), np.int32)


class Index:
    """The index of a layer. `pattern` is the logical key of a product's object, or '' if the keys are logical keys."""

    def __init__(self, path: Path):
        table = map_table(path)
        metadata = table.schema.metadata or {}
        self.pattern, packs, files = texts = [metadata[name].decode() for name in (b"pattern", b"packs", b"files")]
        if _content_hash(table, *texts) != metadata[b"content"].decode():
            raise ValueError("the content does not match its hash")
        self.packs, self.files = ([StoredFile(*fields) for fields in json.loads(text)] for text in (packs, files))
        self._keys: Any = _integers(table, "key") if self.pattern else only_chunk(table, "key")
        self._pack, self._offset, self._length, self._size = (
            _integers(table, name) for name in ("pack", "offset", "length", "json_size")
        )
        digests = (only_chunk(table, name).buffers()[1] for name in ("stored_sha256", "json_sha256"))
        self._stored, self._json = (memoryview(digest or b"") for digest in digests)
        self._prefix, _, self._suffix = self.pattern.partition("{}")

    def __len__(self) -> int:
        return len(self._keys)

    def key(self, position: int) -> str:
        """Return the logical key at a position of the sorted index."""
        key = self._keys[position]
        return self.pattern.format(key) if self.pattern else str(key.as_py())

    def find(self, key: str) -> Entry | None:
        if self.pattern:
            number = key.removeprefix(self._prefix).removesuffix(self._suffix)
            return self.find_id(int(number)) if number.lstrip("-").isdecimal() else None
        position = bisect_left(self._keys, key, key=lambda scalar: scalar.as_py())
        found = position < len(self._keys) and self._keys[position].as_py() == key
        return self.entry(position) if found else None

    def find_id(self, id_: int) -> Entry | None:
        """Return the entry of a product, or None, in a layer with one object per product."""
        position = bisect_left(self._keys, id_)
        found = position < len(self._keys) and self._keys[position] == id_
        return self.entry(position) if found else None

    def ids_between(self, first: int, last: int) -> np.ndarray:
        """Return the ids from `first` to `last`, in a layer with one object per product."""
        ids = np.asarray(self._keys)
        return ids[np.searchsorted(ids, first) : np.searchsorted(ids, last, "right")]

    def in_pack(self, number: int) -> np.ndarray:
        """Return the positions of the objects in a pack, given by its number."""
        return np.flatnonzero(np.asarray(self._pack) == number)

    def entry(self, position: int) -> Entry:
        """Return where the object of a row of the index lies, with its hashes and size."""
        digest = slice(position * _DIGEST_BYTES, (position + 1) * _DIGEST_BYTES)
        return Entry(
            self.packs[self._pack[position]].name,
            self._offset[position],
            self._length[position],
            bytes(self._stored[digest]),
            bytes(self._json[digest]),
            self._size[position],
        )


def _integers(table: pa.Table, name: str) -> memoryview:
    """Return a column of integers. A look-up takes a fifth of numpy's time, which makes an object of each number."""
    return memoryview(only_chunk(table, name).to_numpy())


def _content_hash(table: pa.Table, *metadata: str) -> str:
    """Return the SHA-256 of the columns and the other metadata, in hex."""
    digest = hashlib.sha256("\n".join(metadata).encode())
    for name in table.column_names:
        for buffer in _buffers(only_chunk(table, name)):
            digest.update(buffer)
    return digest.hexdigest()


def _buffers(array: pa.Array) -> list[memoryview]:
    """Return the bytes of a column of fixed width or of text, without the padding that buffers may have."""
    buffers = [memoryview(buffer or b"") for buffer in array.buffers()[1:]]
    if array.type != pa.string():
        return [buffers[0][: len(array) * array.type.bit_width // 8]]
    offsets = buffers[0][: 4 * (len(array) + 1)]
    return [offsets, buffers[1][: offsets.cast("i")[-1]]] if len(array) else []


class Layer:
    """A layer of a build; `folder` is the prefix of its objects in the store."""

    def __init__(self, store: Store, name: str, digest: str, file_cache: FileCache | None = None):
        self.store = store
        self.name = name
        self.folder = layout.layer_folder(name, digest)
        self._file_cache = file_cache

    @cached_property
    def index(self) -> Index:
        """The index, opened at the first use."""
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

    def read_member(self, entry: Entry) -> bytes:
        """Return the gzip member of an object, verified."""
        return self.verified(entry, self.store.get(self.folder + entry.pack, entry.offset, entry.length))

    def verified(self, entry: Entry, member: bytes) -> bytes:
        """Return the gzip member of an object after checking its hash."""
        if sha256(member) != entry.stored_sha256:
            raise DamagedObject(f"{self.folder}{entry.pack} at {entry.offset}: the bytes do not match their hash")
        return member

    def read(self, entry: Entry) -> bytes:
        """Return the JSON of an object."""
        return decompress(self.read_member(entry))

    def file(self, stem: str) -> Path:
        """Return the local path of a file of the layer, by the first part of its name, such as `columns`."""
        found = self.entry_of(stem)
        return self.local(found.name, found.sha256)

    def has_file(self, stem: str) -> bool:
        return any(file.name.startswith(stem + "-") for file in self.index.files)

    def inflated_file(self, stem: str, sha256: str) -> Path:
        """Return a local file with the content of a compressed file of the layer, whose SHA-256 is given."""
        name = self.folder + self.entry_of(stem).name
        where = f"the content of {name} in {self.store.location}"
        return self._cache.file(sha256, lambda: _inflated(self.store.get(name), where), where)

    def entry_of(self, stem: str) -> StoredFile:
        """Return what the index says of a file, by the first part of its name."""
        for file in self.index.files:
            if file.name.startswith(stem + "-"):
                return file
        raise StoreError(f"{self.folder} has no file {stem}")

    def table(self, stem: str) -> pa.Table:
        """Return a file of the layer as an Arrow table, mapped into memory."""
        path = self.file(stem)
        try:
            return map_table(path)
        except (OSError, ValueError, KeyError) as error:  # as those of `index`
            raise DamagedObject(f"{path.name} in {self.folder} cannot be read: {error}") from error

    def inflated(self, entry: Entry) -> Path:
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
        return self._file_cache or FileCache(user_cache() / "copies")


def _inflated(members: bytes, where: str) -> Iterator[bytes]:
    try:
        yield from decompressed_chunks(members)
    except OSError as error:
        raise DamagedObject(f"{where} cannot be inflated: {error}") from error
