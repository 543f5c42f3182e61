"""What a task works with: the context of its thread, the outputs of the tasks that it needs, and what it writes."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from edge_auth.builds import bodies, layout
from edge_auth.builds.layers import FACTS
from generator.lake.lake import Lake
from generator.making.bulk_files import sorted_view, write_entries, write_parquet
from generator.making.context import BuildContext
from generator.making.lake_tables import NO_TABLES, LakeTables, Source
from generator.making.layer import BuildLayer, Task, define_layer, pattern_of
from generator.pack.writer import Inputs, Writer, compress_objects


class Work(Writer):
    """The one argument of every task's function, besides the arguments of the task."""

    def __init__(self, context: BuildContext, layer: str, inputs: Inputs):
        folder = layout.layer_folder(layer, context.digests[layer]) if layer else ""
        super().__init__(context.uploads, context.intermediates, layer, folder, pattern_of(layer))
        self.context, self.inputs = context, inputs
        self.lake, self.db, self.tables = context.lake, context.db, context.tables
        self.in_order = context.in_order

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
        """Return the facts of a layer."""
        facts: dict[str, Any] = json.loads(self.file(layer, FACTS).read_bytes())
        return facts

    def intermediate_files(self, name: str) -> list[Path]:
        """Return the local intermediate files of that name, in the order of the inputs."""
        files = (output.intermediates.get(name) for output in self.inputs.values())
        return [self.intermediates.path(file) for file in files if file is not None]

    def objects(self, objects: Iterable[tuple[str, bytes]]) -> None:
        """Write objects by their keys."""
        self.add(compress_objects(objects))

    def pages(self, lines: Iterable[str]) -> None:
        """Write lines of JSON as the pages of the layer's list."""
        size = layout.ROWS_PER_PAGE[self.layer]
        self.objects(bodies.paged(lines, size, partial(layout.page_of_rows, self.layer)))

    def bulk_tables(self, sorted_by: Mapping[str, tuple[str, ...]]) -> None:
        """Write each view `bulk_<table>` as a bulk file, sorted by columns that no two rows have in common."""
        files = ((name, order, sorted_view(self.db, f"bulk_{name}", order)) for name, order in sorted_by.items())
        write_entries(self, [write_parquet(self, name, name, order, data) for name, order, data in files])


def small_layer(
    lake: Lake,
    name: str,
    write: Callable[[Work], None],
    reads: Source = NO_TABLES,
    views: tuple[str, ...] = (),
    *,
    after: Sequence[BuildLayer] = (),
    content: Mapping[str, list[str] | str] = MappingProxyType({}),
    sql: tuple[str, ...] = (),
    constants: tuple[object, ...] = (),
    recipe: int = 1,
) -> BuildLayer:
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
    """
    names = tuple(layer.name for layer in after)
    layers = {"layers": [layer.digest for layer in after]} if after else {}
    inputs = {part: lake.content(*tables) for part, tables in reads.inputs.items()}
    arguments = write, reads.open, views
    return define_layer(
        name,
        lambda plan: [Task(name, name, _make, arguments, plan.made_of(names), main_thread=reads.main_thread)],
        recipe=recipe,
        sql=(*reads.sql, *views, *sql),
        content={**inputs, **content, **layers},
        constants=constants,
    )


def _make(
    work: Work, write: Callable[[Work], None], open_tables: Callable[[LakeTables], None], views: tuple[str, ...]
) -> None:
    open_tables(work.tables)
    work.db.run(*views)
    write(work)
