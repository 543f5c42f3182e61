"""Objects into packs, packs into layers: compressed, hashed, named by content, the index written last."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from edge_auth.contract.codec import compress, sha256
from edge_auth.contract.index import IndexRows, LayerFile, index_table, to_bytes
from generator.pack.intermediate_store import IntermediateStore
from generator.pack.output import TaskOutput
from generator.pack.uploads import Uploads

PACK_BYTES = 32 * 1024 * 1024
_Task, _Result = TypeVar("_Task"), TypeVar("_Result")
Objects = Iterable[tuple[str | int, bytes]]
EncodedObjects = Iterable[tuple[int, bytes, bytes]]


@dataclass(frozen=True)
class Member:
    """One object, compressed and hashed, ready to be appended to a pack."""

    key: str | int
    stored: bytes
    stored_sha256: bytes
    json_sha256: bytes
    json_size: int


@dataclass
class Writer:
    """Writes the packs and files of one task; nothing of it is visible before its layer has an index.

    Args:
        uploads: what puts them into the store.
        scratch: where parts for other tasks go.
        layer: the layer's name, or '' of a task that makes parts only.
        folder: the layer's folder, `layers/<name>/<digest>/`.
        pattern: how the index turns a product's id into a logical key, or '' where keys are text.
    """

    uploads: Uploads
    scratch: IntermediateStore
    layer: str
    folder: str
    pattern: str = ""
    _rows: IndexRows = field(default_factory=IndexRows)
    _made: TaskOutput = field(default_factory=TaskOutput)
    _buffer: list[bytes] = field(default_factory=list)
    _size: int = 0

    def add(self, members: Iterable[Member]) -> None:
        """Append objects to the open pack."""
        rows = self._rows
        for member in members:
            if self._size >= PACK_BYTES:
                self._end_pack()
            rows.keys.append(member.key)
            rows.packs.append(len(self._made.packs))
            rows.offsets.append(self._size)
            rows.lengths.append(len(member.stored))
            rows.stored.append(member.stored_sha256)
            rows.json.append(member.json_sha256)
            rows.sizes.append(member.json_size)
            self._buffer.append(member.stored)
            self._size += len(member.stored)

    def add_file(self, name: str, data: bytes) -> None:
        """Write a file of the layer, such as `columns.arrow`, as `columns-<content>.arrow`."""
        path = PurePath(name)
        self._made.files.append(self._put(path.stem + "-", path.suffix, data))

    def add_part(self, name: str, content: bytes | Path) -> None:
        """Leave bytes or a local file, which is moved, for other tasks."""
        keep = self.scratch.keep_file if isinstance(content, Path) else self.scratch.keep
        self._made.parts[name] = keep(content)

    def made(self) -> TaskOutput:
        """What was written, the last pack included."""
        self._end_pack()
        self._made.layer = self.layer
        if self._rows.keys:
            self._made.rows = self._rows.unsorted_table(self.pattern)
        return self._made

    def _end_pack(self) -> None:
        """Write the open pack, if it holds anything, under the name of its content."""
        if self._buffer:
            self._made.packs.append(self._put("", ".jsonl.gz", b"".join(self._buffer)))
        self._buffer, self._size = [], 0

    def _put(self, prefix: str, suffix: str, data: bytes) -> LayerFile:
        digest = hashlib.sha256(data).hexdigest()
        name = f"{prefix}{digest[:16]}{suffix}"
        self.uploads.put(self.folder + name, data, digest)
        return LayerFile(name, len(data), digest)


def index_of(pattern: str, made: Sequence[TaskOutput]) -> bytes:
    """The index of a layer out of what its tasks have made: the same whoever made them."""
    packs: list[LayerFile] = []
    rows = [IndexRows().unsorted_table(pattern)]
    for part in made:
        if part.rows is not None:
            number = pc.add(part.rows["pack"], pa.scalar(len(packs), pa.uint16()))
            rows.append(part.rows.set_column(part.rows.column_names.index("pack"), "pack", number))
        packs += part.packs
    files = [file for part in made for file in part.files]
    return to_bytes(index_table(pa.concat_tables(rows), pattern, packs, files))


def members(objects: Objects) -> list[Member]:
    """Compress and hash objects, each given as (key, JSON)."""
    return hashed((key, data, compress(data)) for key, data in objects)


def hashed(objects: EncodedObjects) -> list[Member]:
    """Hash objects, each given as (key, JSON, gzip member)."""
    return [Member(key, stored, sha256(stored), sha256(data), len(data)) for key, data, stored in objects]
