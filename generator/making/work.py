"""What a task works with: a database over the lake, uploads, the outputs of the tasks that it needs, what it writes.

There is one context for each thread that executes tasks of a build.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from generator.database import Database
from generator.lake.lake import Lake
from generator.making.lake_tables import NO_TABLES, LakeTables, TablesRead
from generator.making.layer import PlannedLayer, Task, define_layer, pattern_of
from generator.pack.layer_writer import Inputs, IntermediateStore, TaskOutput, Uploads
from generator.pack.verify import checked_file
from generator.storage import bodies, layout
from generator.storage.layers import FACTS, Layer, Row, StoredFile, rows_table, to_bytes
from generator.storage.stores.codec import compress, sha256
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.interface import Store
from generator.threads import Resources

PACK_BYTES = 32 * 1024 * 1024
_NAME_DIGITS = 16  # of a file's SHA-256 in its name


class Intermediate(StrEnum):
    """A kind of intermediate files. A task writes one file of a kind for each of its parts."""

    KNOWN_ROWS = "known-rows"  # of an array of histories in a month, of products that the catalogue knows
    UNKNOWN_ROWS = "unknown-rows"  # the same, of products that it does not know
    ROWS_OF_DAY = "rows-of-day"  # of an array, of known products on one day
    NEWEST_ROWS = "newest-rows"  # of a price table: the newest row of each product in a month
    CARDS = "cards"  # of a range of products, by id: their sort keys and the sizes of their texts
    CARD_TEXTS = "card-texts"  # of the same products: their Cards as lines of JSON

    def of(self, *parts: object) -> str:
        """Return the name of a part's file among a task's outputs, such as `rows-of-day price_guide 2026-02-01`."""
        return " ".join(map(str, (self, *parts)))


class StoredLayers:
    """Layers of one store. Each index is read once, and each file is compared with its hash once."""

    def __init__(self, store: Store):
        self._store = store
        self._opened: dict[str, Layer] = {}  # by digest
        self._checked: dict[tuple[str, str], Path] = {}  # by digest of the layer, and stem

    def open(self, name: str, digest: str) -> Layer:
        return self._opened.setdefault(digest, Layer(self._store, name, digest))

    def forget(self, digest: str) -> None:
        """Read a layer again when it is next needed: it was made anew."""
        self._opened.pop(digest, None)

    def checked_file(self, name: str, digest: str, stem: str) -> Path:
        """Return a local copy of a file of a layer of the store. Raise BuildError if it is damaged."""
        key = digest, stem
        if key not in self._checked:
            self._checked[key] = checked_file(self.open(name, digest), stem)
        return self._checked[key]


class BuildContext:
    """What the tasks of a build work with.

    Args:
        resources: What the database may use.
        resend: Upload also what the store already has.
        intermediates: The place of intermediate files. None for the temporary folder of the database.
    """

    def __init__(
        self,
        lake: Lake,
        store: Store,
        resources: Resources,
        *,
        resend: bool = False,
        intermediates: IntermediateStore | None = None,
        product_ids: NDArray[np.int64] | None = None,
        digests: dict[str, str] | None = None,
    ):
        self.lake = lake
        self.store = store
        self.resources = resources
        self.layers = StoredLayers(store)
        self.digests = digests or {}  # of each layer of the build, by name
        self.uploads = Uploads(store, resend)
        self._product_ids = product_ids
        self._intermediates = intermediates
        self._db: Database | None = None

    def split(self, count: int) -> list["BuildContext"]:
        """Give all but one of so many parts of the threads and the memory to new contexts, for other threads."""
        all_threads = self.resources.cores
        part = Resources(all_threads // count, self.db.part_of_memory(count))
        self.resources = replace(part, threads=all_threads - part.cores * (count - 1))
        self.db.limit(self.resources)
        return [
            BuildContext(
                self.lake,
                self.store,
                part,
                resend=self.uploads.resend,
                intermediates=self.intermediates,
                product_ids=self.tables.known_product_ids,
                digests=self.digests,
            )
            for _ in range(count - 1)
        ]

    def interrupt(self) -> None:
        """End the query that runs now in another thread."""
        if self._db:
            self._db.interrupt()

    def close(self) -> None:
        """Stop the uploads and drop the database."""
        self.uploads.close()
        if self._db:
            self._db.close()

    @property
    def db(self) -> Database:
        """The scratch database, with the as-of day set. A build that makes nothing opens none."""
        if self._db is None:
            self._db = Database(self.resources)
            self._db.set(as_of=self.lake.as_of.isoformat())
        return self._db

    @cached_property
    def tables(self) -> LakeTables:
        return LakeTables(self.db, self.lake, self._product_ids)

    @cached_property
    def intermediates(self) -> IntermediateStore:
        return self._intermediates or IntermediateStore(FolderStore(str(self.db.scratch)), "intermediates/")


class Work:
    """The one argument of every task's function, besides the arguments of the task.

    It writes the packs and files of the task. Readers see nothing of them before the layer has an index.
    """

    def __init__(self, context: BuildContext, layer: str, inputs: Inputs):
        self.context, self.layer, self.inputs = context, layer, inputs
        self.lake, self.db, self.tables = context.lake, context.db, context.tables
        self._output = TaskOutput(layer)
        self._rows: list[Row] = []
        self._pack: list[bytes] = []  # the open one
        self._pack_size = 0

    def file(self, layer: str, stem: str, digest: str | None = None) -> Path:
        """Return a local copy of a file of a layer, which one of the inputs has just written or the store has.

        Args:
            digest: Of a layer of that name that is none of this build.
        """
        layers, digest = self.context.layers, digest or self.context.digests[layer]
        written = (file for output in self.inputs.values() if output.layer == layer for file in output.files)
        for file in written:
            if file.name.startswith(f"{stem}-"):
                return layers.open(layer, digest).local(file.name, file.sha256)
        return layers.checked_file(layer, digest, stem)

    def facts(self, layer: str) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.file(layer, FACTS).read_bytes())
        return facts

    def intermediate_files(self, name: str) -> list[Path]:
        """Return the local intermediate files of that name, in the order of the inputs."""
        files = (output.intermediates.get(name) for output in self.inputs.values())
        return [self.context.intermediates.path(file) for file in files if file is not None]

    def add(self, objects: Iterable[tuple[str | int, bytes, bytes]]) -> None:
        """Append objects to the open pack, each given by its logical key or id, its JSON and its gzip member."""
        for key, data, stored in objects:
            if self._pack_size >= PACK_BYTES:
                self._end_pack()
            place = len(self._output.packs), self._pack_size, len(stored)
            self._rows.append((key, *place, sha256(stored), sha256(data), len(data)))
            self._pack.append(stored)
            self._pack_size += len(stored)

    def objects(self, objects: Iterable[tuple[str, bytes]]) -> None:
        """Write objects by their keys."""
        self.add((key, data, compress(data)) for key, data in objects)

    def pages(self, lines: Iterable[str]) -> None:
        """Write lines of JSON as the pages of the layer's list."""
        size = layout.ROWS_PER_PAGE[self.layer]
        self.objects(bodies.paged(lines, size, partial(layout.page_of_rows, self.layer)))

    def add_file(self, name: str, data: bytes) -> StoredFile:
        """Write a file of the layer, and return it. `columns.arrow` becomes `columns-<hash>.arrow`."""
        path = PurePath(name)
        file = self._put(path.stem + "-", path.suffix, data)
        self._output.files.append(file)
        return file

    def add_arrow(self, stem: str, table: pa.Table) -> None:
        """Write a table as an Arrow file, which the shim maps into memory."""
        self.add_file(f"{stem}.arrow", to_bytes(table))

    def add_parquet(self, stem: str, rows: pa.Table, rows_per_group: int | None = None) -> None:
        """Write rows as a Parquet file, in row groups that are small enough to read ranges of it."""
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, compression="zstd", row_group_size=rows_per_group)
        self.add_file(f"{stem}.parquet", sink.getvalue().to_pybytes())

    def add_json(self, stem: str, value: object, **format_: Any) -> None:
        self.add_file(f"{stem}.json", json.dumps(value, **format_).encode())

    def add_intermediate(self, name: str, path: Path) -> None:
        """Move a local file away, for other tasks."""
        self._output.intermediates[name] = self.context.intermediates.add(path)

    def output(self) -> TaskOutput:
        """End the open pack and return what was written."""
        self._end_pack()
        if self._rows:
            self._output.index_rows = rows_table(self._rows, pattern_of(self.layer))
        return self._output

    def _end_pack(self) -> None:
        if self._pack:
            self._output.packs.append(self._put("", ".jsonl.gz", b"".join(self._pack)))
        self._pack, self._pack_size = [], 0

    def _put(self, prefix: str, suffix: str, data: bytes) -> StoredFile:
        digest = hashlib.sha256(data).hexdigest()
        name = f"{prefix}{digest[:_NAME_DIGITS]}{suffix}"
        folder = layout.layer_folder(self.layer, self.context.digests[self.layer])
        self.context.uploads.put(folder + name, data, digest)
        return StoredFile(name, len(data), digest)


def small_layer(
    lake: Lake,
    name: str,
    write: Callable[[Work], None],
    reads: TablesRead = NO_TABLES,
    views: tuple[str, ...] = (),
    *,
    after: Sequence[PlannedLayer] = (),
    content: Mapping[str, list[str] | str] = MappingProxyType({}),
    sql: tuple[str, ...] = (),
    constants: tuple[object, ...] = (),
    recipe: int = 1,
    needs: Iterable[str] = (),
    rows: int = 0,
) -> PlannedLayer:
    """Define a layer that one task makes. The task has the name of the layer.

    Args:
        write: Writes its objects or files. Its tables and views are open.
        reads: The tables of the lake that it reads.
        views: The files of `build/` that make its views.
        after: The layers that it is made from, besides or instead of tables. It changes when one of them does.
        content: What else goes into its digest, by name: as lines, or as their hash.
        sql: The files of `build/` that `write` runs.
        constants: The constants of its format, such as a page size.
        recipe: Raise it when other Python code changes the layer's bytes.
        needs: The names of further layers that `write` reads. `content` says what the digest has of them.
        rows: About as many are read; see `Task`.
    """
    names = (*(layer.name for layer in after), *needs)
    layers = {"layers": [layer.digest for layer in after]} if after else {}
    inputs = {part: lake.content(*tables) for part, tables in reads.inputs.items()}
    task = Task(name, name, _make, (write, reads, views), rows=rows, main_thread=reads.main_thread)
    return define_layer(
        name,
        lambda plan: [replace(task, needs=plan.made_of(names))],
        recipe=recipe,
        sql=(*reads.sql, *views, *sql),
        content={**inputs, **content, **layers},
        constants=constants,
    )


def _make(work: Work, write: Callable[[Work], None], reads: TablesRead, views: tuple[str, ...]) -> None:
    work.tables.open(reads)
    work.db.run(*views)
    write(work)
