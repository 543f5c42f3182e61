"""What a task works with: the context of its thread, the outputs of the tasks that it needs, and what it writes."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from edge_auth.builds import bodies, layer_names, layout
from edge_auth.builds.layers import FACTS
from generator.database import Database
from generator.lake.lake import Lake
from generator.making.bulk_files import write_entries, write_table
from generator.making.context import BuildContext
from generator.making.lake_tables import LakeTables
from generator.making.layer import pattern_of
from generator.pack.writer import Inputs, Writer, compress_objects

_Input = TypeVar("_Input")
_Result = TypeVar("_Result")


class Work(Writer):
    """The one argument of every task's function, besides the arguments of the task.

    Args:
        layer: The layer whose objects or files the task writes, '' if it writes only intermediate files.
        inputs: The outputs of the tasks that the task needs.
    """

    def __init__(self, context: BuildContext, layer: str, inputs: Inputs):
        folder = layout.layer_folder(layer, context.digests[layer]) if layer else ""
        super().__init__(context.uploads, context.intermediates, layer, folder, pattern_of(layer))
        self.context, self.inputs = context, inputs

    @property
    def lake(self) -> Lake:
        """The lake of the build."""
        return self.context.lake

    @property
    def db(self) -> Database:
        """The scratch database of this thread."""
        return self.context.db

    @property
    def tables(self) -> LakeTables:
        """The tables of the lake in the database."""
        return self.context.tables

    def file(self, layer: str, stem: str, digest: str | None = None) -> Path:
        """Return a local copy of a file of a layer, which one of the inputs has just written or the store has.

        Args:
            digest: Of a layer of that name that is none of this build.

        Raises:
            BuildError: The file in the store is damaged.
            StoreError: It cannot be read.
        """
        layers = self.context.layers
        stored = layers.open(layer, digest or self.context.digests[layer])
        written = (file for output in self.inputs.values() if output.layer == layer for file in output.files)
        for file in written:
            if file.name.startswith(f"{stem}-"):
                return stored.local(file.name, file.sha256)
        return layers.checked_file(stored, stem)

    def facts(self, layer: str) -> dict[str, Any]:
        """Return the facts of a layer."""
        facts: dict[str, Any] = json.loads(self.file(layer, FACTS).read_bytes())
        return facts

    def intermediate_files(self, name: str) -> list[Path]:
        """Return the local intermediate files of that name, in the order of the inputs."""
        files = (output.intermediates.get(name) for output in self.inputs.values())
        return [self.intermediates.path(file) for file in files if file is not None]

    def registered(self, **tables: pa.Table) -> AbstractContextManager[None]:
        """Read Arrow tables by name in the database while the body runs."""
        return self.db.registered(**tables)

    def in_order(self, work: Callable[[_Input], _Result], inputs: Iterable[_Input]) -> Iterator[_Result]:
        """Run `work` over inputs on the threads of the context, with results in input order."""
        return self.context.in_order(work, inputs)

    def objects(self, objects: Iterable[tuple[str, bytes]]) -> None:
        """Write objects by their keys."""
        self.add(compress_objects(objects))

    def pages(self, lines: Iterable[str]) -> None:
        """Write lines of JSON as the pages of the layer's list."""
        size = layer_names.ROWS_PER_PAGE[self.layer]
        self.objects(bodies.paged(lines, size, partial(layout.page_of_rows, self.layer)))

    def bulk_tables(self, sorted_by: Mapping[str, tuple[str, ...]]) -> None:
        """Write each view `bulk_<table>` as a bulk file.

        Args:
            sorted_by: By table, columns that no two rows have in common.
        """
        write_entries(self, [write_table(self.db, self, name, name, order) for name, order in sorted_by.items()])
