"""The layers of closed periods: `history/<period>/{id}.json`, and each price table's newest rows of the period."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from edge_auth.contract import names, pages
from edge_auth.contract.spliced import cut_member
from generator import estimates
from generator.columns import text_buffer
from generator.lake import PRICE_TABLES, Lake
from generator.layers.spec import LayerPlan, plan
from generator.packs import CutObjects, Writer, hashed
from generator.parts import month_tasks, names_of, newest_name, open_history
from generator.periods import Period
from generator.tasks import Given, Range, Scope, Task
from generator.workshop import Workshop

RECIPE = 2
SQL = (*(f"sources/{table}" for table in PRICE_TABLES), "views/month", "views/history")
PRODUCTS_AT_ONCE = 2000
ROWS_PER_GROUP = 25_000  # of newest rows: what a range of products reads of them


def plan_history(lake: Lake, period: Period) -> LayerPlan:
    """The layer of one closed period."""
    layer = names.history_layer(period.name)
    return plan(
        layer,
        lambda scope: _tasks(scope, layer, period),
        pattern=names.history_pattern(period.name),
        recipe=RECIPE,
        sql=SQL,
        content={"prices": period.content(lake)},
    )


def _tasks(scope: Scope, layer: str, period: Period) -> Iterator[Task]:
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


def _newest(workshop: Workshop, writer: Writer, given: Given) -> None:
    """Keep each price table's newest row per product as a Parquet file of the layer."""
    for table in PRICE_TABLES:
        workshop.open_files(f"parts_{table}", workshop.parts(given, table))
    workshop.db.run("views/period")
    for table in PRICE_TABLES:
        rows = workshop.db.table(f"from period_{table} order by id_product")
        writer.add_file(f"{table}.parquet", parquet(rows, ROWS_PER_GROUP))
        workshop.db.connection.execute(f"drop table period_{table}")


def _history(workshop: Workshop, writer: Writer, given: Given, ids: Range) -> None:
    open_history(workshop, given, ids)
    found = workshop.db.table(
        "select distinct id_product from history_sorted "
        f"where id_product between {ids.first} and {ids.last} order by id_product"
    )
    write_in_ranges(workshop, writer, found[0].to_numpy(), lambda chunk: _objects(workshop, chunk))


def parquet(rows: pa.Table, rows_per_group: int | None = None) -> bytes:
    """Rows as one Parquet file, in groups small enough for ranges to be read of it."""
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(rows, sink, compression="zstd", row_group_size=rows_per_group)
    return sink.getvalue().to_pybytes()


def write_in_ranges(workshop: Workshop, writer: Writer, ids: np.ndarray, objects) -> None:
    """Write the objects of products, ranges of ids in parallel, in the order of ids.

    Args:
        ids: sorted ids of the products to write.
        objects: from a range of ids to its (id, JSON, gzip member).
    """
    ranges = [ids[start : start + PRODUCTS_AT_ONCE] for start in range(0, len(ids), PRODUCTS_AT_ONCE)]
    for made in workshop.in_order(lambda chunk: hashed(objects(chunk)), ranges):
        writer.add(made)
        workshop.tick(len(made))


def history_arrays(workshop: Workshop, ids: np.ndarray) -> Iterator[list[bytes]]:
    """For each product the rows of its three history arrays in the open period, as text."""
    with workshop.db.connection.cursor() as cursor:
        rows = workshop.db.table(
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


def _objects(workshop: Workshop, ids: np.ndarray) -> CutObjects:
    for id_, arrays in zip(ids.tolist(), history_arrays(workshop, ids), strict=True):
        yield id_, *cut_member(b"", arrays, pages.PERIOD_TAIL)
