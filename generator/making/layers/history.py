"""The layers of closed periods: `history/<period>/{id}.json`, and the newest rows of the period per price table."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from edge_auth.contract import names, pages
from edge_auth.contract.splice import encode_fragments
from generator.lake.lake import PRICE_TABLES, Lake
from generator.making import estimates
from generator.making.arrow_text import text_buffer
from generator.making.card_tasks import newest_task_name
from generator.making.context import BuildContext
from generator.making.lake_tables import PRICE_SQL
from generator.making.layers.spec import LayerSpec, define_layer
from generator.making.month_tasks import month_tasks, open_history, task_names
from generator.making.periods import Period
from generator.making.tasks import BuildScope, ProductRange, Task
from generator.pack.output import Inputs
from generator.pack.writer import EncodedObjects, Writer, hash_objects

RECIPE = 2
SQL = (
    *PRICE_SQL,
    *("views/month_rows", "views/month_newest", "views/period", "views/history"),
)
CONSTANTS = (pages.BETWEEN, pages.HISTORY_MARKS, pages.PERIOD_TAIL)
_ROWS_PER_CHUNK = 366_000  # of an array, if each product has one every day
_ROWS_PER_ARROW_CHUNK = 10_000_000  # more than a chunk has, so that no text is copied into one column
_DAY_BITS = 32  # of a key of product and day
_ROWS_PER_GROUP = 25_000  # of newest rows: a range of products reads little beyond its own


def history_layer(lake: Lake, period: Period) -> LayerSpec:
    """Define the layer of one closed period."""
    layer = names.history_layer(period.name)
    return define_layer(
        layer,
        lambda scope: _tasks(scope, layer, period),
        pattern=names.history_pattern(period.name),
        recipe=RECIPE,
        sql=SQL,
        content={"prices": period.content(lake)},
        constants=CONSTANTS,
    )


def _tasks(scope: BuildScope, layer: str, period: Period) -> Iterator[Task]:
    with_rows = [month for month in period.months() if month.content(scope.lake)]
    months = [task for month in with_rows for task in month_tasks(scope, month)]
    yield from months
    needs, rows, days = task_names(months), sum(task.rows for task in months), sum(map(len, with_rows))
    newest_bytes = scope.products * estimates.NEWEST_ROW_BYTES
    yield Task(
        newest_task_name(layer),
        layer,
        _newest,
        needs=needs,
        rows=len(months) * scope.products,
        reads=newest_bytes,
        writes=newest_bytes,
    )
    for ids in scope.ranges:
        rows_of_range = rows * ids.count // max(scope.products, 1)
        yield Task(
            f"{layer} {ids}",
            layer,
            _history,
            (ids, days),
            needs,
            objects=ids.count,
            rows=rows_of_range,
            reads=rows_of_range * estimates.HISTORY_ROW_BYTES,
            writes=rows_of_range * estimates.STORED_HISTORY_ROW_BYTES,
        )


def _newest(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    """Write the newest row of each product as one Parquet file per price table."""
    for table in PRICE_TABLES:
        context.tables.open_files(f"months_{table}", context.intermediate_files(inputs, table))
    context.db.run("views/period")
    for table in PRICE_TABLES:
        rows = context.db.table(f"from newest_in_period_{table} order by id_product")
        writer.add_file(f"{table}.parquet", to_parquet(rows, _ROWS_PER_GROUP))
        context.db.connection.execute(f"drop table newest_in_period_{table}")


def _history(context: BuildContext, writer: Writer, inputs: Inputs, ids: ProductRange, days: int) -> None:
    open_history(context, inputs, ids)
    products = context.db.table(f"from history_products where {ids.condition} order by id_product")
    # With one thread per database, another thread executes another task meanwhile.
    write_objects(context, writer, products[0].to_numpy(), _objects, days, ahead=min(context.threads - 1, 1))


def _objects(ids: NDArray[np.int64], rows: "HistoryRows") -> EncodedObjects:
    for id_, arrays in zip(ids.tolist(), rows, strict=True):
        yield id_, *encode_fragments(b"", arrays, pages.PERIOD_TAIL)


def to_parquet(rows: pa.Table, rows_per_group: int | None = None) -> bytes:
    """Return rows as a Parquet file, in row groups that are small enough to read ranges of it."""
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(rows, sink, compression="zstd", row_group_size=rows_per_group)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def write_objects(
    context: BuildContext,
    writer: Writer,
    ids: NDArray[np.int64],
    make_objects: Callable[[NDArray[np.int64], "HistoryRows"], EncodedObjects],
    days: int,
    ahead: int,
) -> None:
    """Write the objects of products in the order of their ids, a chunk of products at a time.

    Args:
        ids: The sorted ids of the products.
        make_objects: Makes the objects of consecutive ids from the rows of their histories.
        days: The most rows that a product has in an array.
        ahead: How many chunks are read in another thread while one is encoded. Each takes memory.
    """
    step = max(1, _ROWS_PER_CHUNK // days)
    chunks = [ids[start : start + step] for start in range(0, len(ids), step)]
    with context.db.kept_footers():
        for chunk, rows in zip(chunks, context.in_order(partial(HistoryRows, context), chunks, ahead), strict=True):
            members = hash_objects(make_objects(chunk, rows))
            writer.add(members)
            context.tick(len(members))


class HistoryRows:
    """The rows of the histories of some products as JSON, in memory.

    Iterating gives for each product the rows of its arrays, in the order of `pages.HISTORY_ARRAYS`. The rows of an
    array are joined by `pages.BETWEEN`.

    Args:
        ids: The sorted ids of the products.
    """

    def __init__(self, context: BuildContext, ids: NDArray[np.int64]):
        self._arrays = [_rows_of_products(context, array, ids) for array in pages.HISTORY_ARRAYS]

    def __iter__(self) -> Iterator[tuple[bytes, ...]]:
        return zip(*(_texts(buffer, cuts) for buffer, cuts in self._arrays), strict=True)


def _texts(buffer: memoryview, cuts: list[int]) -> Iterator[bytes]:
    for start, end in itertools.pairwise(cuts):
        yield bytes(buffer[start : max(start, end - len(pages.BETWEEN))])


def _rows_of_products(context: BuildContext, array: str, ids: NDArray[np.int64]) -> tuple[memoryview, list[int]]:
    """Return the rows of one array, each followed by `pages.BETWEEN`, and where the rows of each product begin."""
    with context.db.connection.cursor() as cursor:
        found = cursor.sql(f"from history_{array} where id_product between {ids[0]} and {ids[-1]}")
        rows = found.to_arrow_table(_ROWS_PER_ARROW_CHUNK).combine_chunks()
    place = np.searchsorted(ids, rows["id_product"].to_numpy())
    known = ids[np.minimum(place, len(ids) - 1)] == rows["id_product"].to_numpy()
    if not known.all():  # rows of products that the lake does not know
        rows, place = rows.filter(pa.array(known)), place[known]
    key, lines = (place << _DAY_BITS) + rows["day"].cast(pa.int32()).to_numpy(), rows["line"]
    if (key[1:] < key[:-1]).any():  # of several files, each in order: many times faster than an order by in SQL
        lines = lines.take(pa.array(np.argsort(key, kind="stable")))
    ends = np.cumsum(np.bincount(place, minlength=len(ids)))
    buffer, offsets = text_buffer(lines)
    return buffer, offsets[np.concatenate(([0], ends))].tolist()
