"""Tasks that make the Cards of a range of products, for the layers `catalogue` and `bulk-cards`."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from edge_auth.builds import layer_names
from edge_auth.builds.index import map_table, to_bytes
from generator.making.arrow_text import text_buffer
from generator.making.context import BuildContext, Intermediate
from generator.making.month_tasks import month_tasks, open_newest, task_names
from generator.making.periods import open_month
from generator.making.tasks import BuildScope, ProductRange, Task
from generator.pack.writer import Inputs, Writer

SIZE = "line_bytes"  # a column: the bytes of a Card and its line break


def split_texts(cards: pa.Table) -> tuple[pa.Table, bytes]:
    """Return Cards with the sizes of their lines in place of the column `line`, and the text of all lines."""
    text, starts = text_buffer(cards["line"])
    sizes = pa.array(np.diff(starts).astype(np.uint32))
    return cards.drop_columns("line").append_column(SIZE, sizes), bytes(text[starts[0] : starts[-1]])


class CardTexts:
    """The texts of Cards in files.

    Args:
        paths: The files, one per range of products.
        sizes: The bytes of each text, per file.
    """

    def __init__(self, paths: Sequence[Path], sizes: Sequence[NDArray[np.uint32]]):
        self._files = [path.open("rb", buffering=0) for path in paths]
        self._file = np.repeat(np.arange(len(paths)), [len(of_file) for of_file in sizes])
        self._sizes = np.concatenate(sizes).astype(np.int64)
        self._starts = np.concatenate([np.cumsum(of_file, dtype=np.int64) - of_file for of_file in sizes])

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()

    def read(self, places: NDArray[np.int64]) -> tuple[memoryview, list[int]]:
        """Return the texts at these places, one after the other, and where each begins, with the end of the last."""
        files, starts = self._file[places], self._starts[places]
        ends = starts + self._sizes[places]
        # Neighbours in a file are read at once. Most sets have neighbouring ids.
        firsts = np.flatnonzero(np.diff(files, prepend=-1) | (starts != np.append(-1, ends[:-1])))
        lasts = np.append(firsts[1:], len(places)) - 1
        runs = zip(files[firsts].tolist(), starts[firsts].tolist(), ends[lasts].tolist(), strict=True)
        text = b"".join(os.pread(self._files[file].fileno(), end - start, start) for file, start, end in runs)
        return memoryview(text), np.append(0, np.cumsum(ends - starts)).tolist()


@dataclass(frozen=True)
class CardTasks:
    """The tasks of the open month, and the tasks that make the Cards of each range of products."""

    month: list[Task]
    products: list[Task]

    def __iter__(self) -> Iterator[Task]:
        return iter((*self.month, *self.products))


def card_tasks(scope: BuildScope) -> CardTasks:
    """Return the tasks that every layer with Cards begins with."""
    month, closed = month_tasks(scope, open_month(scope.lake.as_of)), closed_layers(scope)
    needs = (*task_names(month), *(newest_task_name(name) for name in closed if name in scope.missing))
    return CardTasks(month, [_products_task(scope, ids, needs, closed) for ids in scope.ranges])


def card_rows(context: BuildContext, inputs: Inputs) -> pa.Table:
    """Return the sort keys and sizes of the Cards among the inputs, by id, mapped into memory."""
    return pa.concat_tables(map_table(path) for path in context.intermediate_files(inputs, Intermediate.CARDS))


def card_texts(context: BuildContext, inputs: Inputs) -> CardTexts:
    """Open the texts of the Cards among the inputs, which have the order of `card_rows`."""
    sizes = [map_table(path)[SIZE].to_numpy() for path in context.intermediate_files(inputs, Intermediate.CARDS)]
    return CardTexts(context.intermediate_files(inputs, Intermediate.CARD_TEXTS), sizes)


def newest_task_name(layer: str) -> str:
    """Return the name of the task that makes the newest rows of a closed period."""
    return f"{layer} newest rows"


def closed_layers(scope: BuildScope) -> dict[str, str]:
    """Return the digests of the layers of closed periods by name, oldest first."""
    digests, years = {**scope.present, **scope.missing}, layer_names.history_layer("")
    closed = {name for name in digests if name.startswith(years)} - {layer_names.history_layer(layer_names.OPEN_MONTH)}
    return {name: digests[name] for name in sorted(closed)}


def _products_task(scope: BuildScope, ids: ProductRange, needs: tuple[str, ...], closed: dict[str, str]) -> Task:
    return Task(
        f"products {ids}",
        "",
        _products,
        (ids, closed),
        needs,
        rows=ids.count,
    )


def _products(context: BuildContext, writer: Writer, inputs: Inputs, ids: ProductRange, closed: dict[str, str]) -> None:
    context.tables.open_products(ids)
    open_newest(context, inputs, closed, ids)
    context.db.run("views/market_price", "views/cards")
    cards, texts = split_texts(context.db.table("from cards order by id_product"))
    writer.add_intermediate(Intermediate.CARDS, to_bytes(cards))
    writer.add_intermediate(Intermediate.CARD_TEXTS, texts)
    context.db.connection.execute("drop table cards")
