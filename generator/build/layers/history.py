"""The layers of closed periods: `history/<period>/{id}.json`, and each price table's newest rows of the period."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from edge_auth.contract import names, pages
from edge_auth.contract.splice import encode_fragments
from generator.build import estimates
from generator.build.arrow_text import text_buffer
from generator.build.context import BuildContext
from generator.build.intermediates import month_tasks, names_of, newest_name, open_history
from generator.build.layers.spec import LayerSpec, define_layer
from generator.build.periods import Period
from generator.build.tasks import BuildScope, ProductRange, Task
from generator.lake.lake import PRICE_TABLES, Lake
from generator.pack.output import Inputs
from generator.pack.writer import EncodedObjects, Writer, hashed

RECIPE = 2
SQL = (*(f"sources/{table}" for table in PRICE_TABLES), "views/month", "views/history")
PRODUCTS_AT_ONCE = 2000
ROWS_PER_GROUP = 25_000  # of newest rows: what a range of products reads of them


def history_layer(lake: Lake, period: Period) -> LayerSpec:
    """The layer of one closed period."""
    layer = names.history_layer(period.name)
    return define_layer(
        layer,
        lambda scope: _tasks(scope, layer, period),
        pattern=names.history_pattern(period.name),
        recipe=RECIPE,
        sql=SQL,
        content={"prices": period.content(lake)},
    )


def _tasks(scope: BuildScope, layer: str, period: Period) -> Iterator[Task]:
    months = [task for month in period.months() if month.content(scope.lake) for task in month_tasks(scope, month)]
    yield from months
    needs, rows = names_of(months), sum(month.rows for month in months)
    newest = scope.products * estimates.NEWEST_ROW
    yield Task(newest_name(layer), layer, _newest, (), needs, 0, len(months) * scope.products, newest, newest)
    for ids in scope.ranges:
        share = rows * ids.count // max(scope.products, 1)
        yield Task(
            f"{layer} {ids}",
            layer,
            _history,
            (ids,),
            needs,
            objects=ids.count,
            rows=share,
            reads=share * estimates.PART_ROW,
            writes=share * estimates.HISTORY_ROW,
        )


def _newest(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    """Keep each price table's newest row per product as a Parquet file of the layer."""
    for table in PRICE_TABLES:
        context.open_files(f"parts_{table}", context.parts(inputs, table))
    context.db.run("views/period")
    for table in PRICE_TABLES:
        rows = context.db.table(f"from period_{table} order by id_product")
        writer.add_file(f"{table}.parquet", parquet(rows, ROWS_PER_GROUP))
        context.db.connection.execute(f"drop table period_{table}")


def _history(context: BuildContext, writer: Writer, inputs: Inputs, ids: ProductRange) -> None:
    open_history(context, inputs, ids)
    found = context.db.table(
        "select distinct id_product from history_sorted "
        f"where id_product between {ids.first} and {ids.last} order by id_product"
    )
    write_in_ranges(context, writer, found[0].to_numpy(), lambda chunk: _objects(context, chunk))


def parquet(rows: pa.Table, rows_per_group: int | None = None) -> bytes:
    """Rows as one Parquet file, in groups small enough for ranges to be read of it."""
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(rows, sink, compression="zstd", row_group_size=rows_per_group)
    return sink.getvalue().to_pybytes()


def write_in_ranges(context: BuildContext, writer: Writer, ids: np.ndarray, objects) -> None:
    """Write the objects of products, ranges of ids in parallel, in the order of ids.

    Args:
        ids: sorted ids of the products to write.
        objects: from a range of ids to its (id, JSON, gzip member).
    """
    ranges = [ids[start : start + PRODUCTS_AT_ONCE] for start in range(0, len(ids), PRODUCTS_AT_ONCE)]
    for made in context.in_order(lambda chunk: hashed(objects(chunk)), ranges):
        writer.add(made)
        context.tick(len(made))


def history_arrays(context: BuildContext, ids: np.ndarray) -> Iterator[list[bytes]]:
    """For each product the rows of its three history arrays in the open period, as text."""
    with context.db.connection.cursor() as cursor:
        rows = context.db.table(
            "select id_product, part, history_json(part, day, a, b, c, d, e, f, n, m) || ',\n' as json "
            f"from history_sorted where id_product between {ids[0]} and {ids[-1]} order by id_product, part, day",
            cursor=cursor,
        ).combine_chunks()
    place = np.searchsorted(ids, rows["id_product"].to_numpy())
    known = ids[np.minimum(place, len(ids) - 1)] == rows["id_product"].to_numpy()
    rows, place = (rows.filter(pa.array(known)), place[known]) if not known.all() else (rows, place)
    array = place * len(pages.HISTORY_ARRAYS) + rows["part"].to_numpy()
    last = np.cumsum(np.bincount(array, minlength=len(ids) * len(pages.HISTORY_ARRAYS)))
    return _slices(rows["json"], np.concatenate(([0], last)))


def _slices(texts: pa.ChunkedArray, ends: np.ndarray) -> Iterator[list[bytes]]:
    """The texts between consecutive ends as one text each, less the last separator, three by three."""
    buffer, offsets = text_buffer(texts)
    cuts = offsets[ends].tolist()
    step = len(pages.HISTORY_ARRAYS)
    for first in range(0, len(cuts) - 1, step):
        bounds = zip(cuts[first : first + step], cuts[first + 1 : first + step + 1], strict=False)
        yield [bytes(buffer[start : max(start, end - len(pages.BETWEEN))]) for start, end in bounds]


def _objects(context: BuildContext, ids: np.ndarray) -> EncodedObjects:
    for id_, arrays in zip(ids.tolist(), history_arrays(context, ids), strict=True):
        yield id_, *encode_fragments(b"", arrays, pages.PERIOD_TAIL)
