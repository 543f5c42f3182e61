"""`index.arrow`, the table of contents of a layer: for each object its pack, its range and its hashes.

An Arrow IPC file, mapped into memory, sorted by key. Layers with an object per product hold the product's id
as key and say in `pattern` what the logical key is (`cards/{}.json`); the others hold the logical keys
themselves. The schema's metadata lists the packs and files of the layer with their sizes and hashes, and vouches for
the whole by `content`, a hash over everything else. The index is written last: a layer without one is not there.
"""

import hashlib
import json
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

INDEX_NAME = "index.arrow"
_MAX_ID = 2**63 - 1
_DIGEST = pa.binary(32)


class Entry(NamedTuple):
    """Where an object lies, and what must be true of it."""

    pack: str
    offset: int
    length: int
    stored_sha256: bytes
    json_sha256: bytes
    json_size: int


class LayerFile(NamedTuple):
    """A pack or another file of a layer."""

    name: str
    size: int
    sha256: str


@dataclass
class IndexRows:
    """The columns of an index while it is being written, in any order of keys."""

    keys: list = field(default_factory=list)
    packs: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    stored: list[bytes] = field(default_factory=list)
    json: list[bytes] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def table(self, pattern: str, packs: list[LayerFile], files: list[LayerFile]) -> pa.Table:
        """The index as an Arrow table, sorted by key."""
        return index_table(self.part(pattern), pattern, packs, files)

    def part(self, pattern: str) -> pa.Table:
        """The rows so far, in the order in which they were added."""
        key_type = pa.int64() if pattern else pa.string()
        columns = {
            "key": pa.array(self.keys, key_type),
            "pack": pa.array(self.packs, pa.uint16()),
            "offset": pa.array(self.offsets, pa.uint64()),
            "length": pa.array(self.lengths, pa.uint32()),
            "stored_sha256": pa.array(self.stored, _DIGEST),
            "json_sha256": pa.array(self.json, _DIGEST),
            "json_size": pa.array(self.sizes, pa.uint32()),
        }
        return pa.table(columns)


def index_table(rows: pa.Table, pattern: str, packs: list[LayerFile], files: list[LayerFile]) -> pa.Table:
    """An index of these rows, in any order of keys: sorted, with what its metadata says of them."""
    table = rows.sort_by("key").combine_chunks()
    metadata = {"pattern": pattern, "packs": json.dumps(packs), "files": json.dumps(files)}
    return table.replace_schema_metadata(metadata | {"content": _content(table, *metadata.values())})


def to_bytes(table: pa.Table) -> bytes:
    """A table as one Arrow IPC file of one batch, uncompressed so that it can be mapped."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


def map_table(path: Path) -> pa.Table:
    """A table from an Arrow IPC file, mapped into memory: all processes of a machine share its pages.

    Raises:
        OSError, pa.ArrowInvalid: the file is missing or is no Arrow file.
    """
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


class Index:
    """A layer's index, opened.

    Raises:
        OSError, pa.ArrowInvalid, KeyError, ValueError: the file is missing, or is not what was written.
    """

    def __init__(self, path: Path):
        table = map_table(path)
        metadata = table.schema.metadata or {}
        said = [metadata[name].decode() for name in (b"pattern", b"packs", b"files")]
        if _content(table, *said) != metadata[b"content"].decode():
            raise ValueError("it is not what was written")
        self.pattern = said[0]
        self.packs, self.files = ([LayerFile(*entry) for entry in json.loads(text)] for text in said[1:])
        columns = {name: _only_chunk(table[name]) for name in table.column_names}
        self._keys = columns["key"].to_numpy() if self.pattern else columns["key"]
        self._pack, self._offset, self._length, self._size = (
            columns[name].to_numpy() for name in ("pack", "offset", "length", "json_size")
        )
        self._stored, self._json = columns["stored_sha256"], columns["json_sha256"]
        self._prefix, _, self._suffix = self.pattern.partition("{}")

    def __len__(self) -> int:
        return len(self._keys)

    def key(self, position: int) -> str:
        """The logical key at a position of the sorted index."""
        key = self._keys[position]
        return self.pattern.format(key) if self.pattern else key.as_py()

    def find(self, key: str) -> Entry | None:
        """The entry of a logical key, or None: the one place that decides that an object does not exist."""
        if self.pattern:
            number = key.removeprefix(self._prefix).removesuffix(self._suffix)
            return self.find_id(int(number)) if number.lstrip("-").isdecimal() else None
        position = bisect_left(self._keys, key, key=lambda scalar: scalar.as_py())
        found = position < len(self._keys) and self._keys[position].as_py() == key
        return self.entry(position) if found else None

    def find_id(self, id_: int) -> Entry | None:
        """The entry of a product, in a layer with an object per product."""
        # numpy takes 10 ms to refuse an integer beyond int64
        if not -_MAX_ID <= id_ <= _MAX_ID:
            return None
        position = int(np.searchsorted(self._keys, np.int64(id_)))
        found = position < len(self._keys) and self._keys[position] == id_
        return self.entry(position) if found else None

    def in_pack(self, number: int) -> np.ndarray:
        """Positions of the objects of the pack of that number."""
        return np.flatnonzero(self._pack == number)

    def entry(self, position: int) -> Entry:
        """The entry at a position of the sorted index."""
        return Entry(
            self.packs[self._pack[position]].name,
            int(self._offset[position]),
            int(self._length[position]),
            self._stored[position].as_py(),
            self._json[position].as_py(),
            int(self._size[position]),
        )


def _content(table: pa.Table, *metadata: str) -> str:
    """A hash over the columns and what the metadata says of them."""
    digest = hashlib.sha256("\n".join(metadata).encode())
    for name in table.column_names:
        for part in _raw(_only_chunk(table[name])):
            digest.update(part)
    return digest.hexdigest()


def _raw(array: pa.Array) -> list[memoryview]:
    """The bytes of a column of fixed width or of text, without the padding that buffers may have."""
    buffers = [memoryview(buffer or b"") for buffer in array.buffers()[1:]]
    if array.type != pa.string():
        return [buffers[0][: len(array) * array.type.bit_width // 8]]
    offsets = buffers[0][: 4 * (len(array) + 1)]
    return [offsets, buffers[1][: offsets.cast("i")[-1]]] if len(array) else []


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
