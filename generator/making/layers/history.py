"""The layers of closed periods: `history/<period>/{id}.json`, and the newest rows of the period per price table."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from edge_auth.contract import layer_names, object_keys, pages
from edge_auth.contract.splice import encode_fragments
from generator.lake.lake import PRICE_TABLES, Lake
from generator.making.card_tasks import newest_task_name
from generator.making.context import BuildContext
from generator.making.history_rows import HistoryRows, write_objects
from generator.making.intermediates import Intermediate
from generator.making.layers.shared import HISTORY_CONSTANTS, HISTORY_SQL, to_parquet
from generator.making.layers.spec import LayerSpec, define_layer
from generator.making.month_tasks import month_tasks, open_history, task_names
from generator.making.periods import Period
from generator.making.tasks import BuildScope, ProductRange, Task
from generator.pack.output import Inputs
from generator.pack.writer import EncodedObjects, Writer

RECIPE = 2
_ROWS_PER_GROUP = 25_000  # of newest rows: a range of products reads little beyond its own


def history_layer(lake: Lake, period: Period) -> LayerSpec:
    """Define the layer of one closed period."""
    layer = layer_names.history_layer(period.name)
    return define_layer(
        layer,
        lambda scope: _tasks(scope, layer, period),
        pattern=object_keys.history_pattern(period.name),
        recipe=RECIPE,
        sql=HISTORY_SQL,
        content={"prices": period.content(lake)},
        constants=HISTORY_CONSTANTS,
    )


def _tasks(scope: BuildScope, layer: str, period: Period) -> Iterator[Task]:
    with_rows = [month for month in period.months() if month.content(scope.lake)]
    months = [task for month in with_rows for task in month_tasks(scope, month)]
    yield from months
    needs, rows, days = task_names(months), sum(task.rows for task in months), sum(map(len, with_rows))
    yield Task(newest_task_name(layer), layer, _newest, needs=needs, rows=len(months) * scope.products)
    for ids in scope.ranges:
        rows_of_range = rows * ids.count // max(scope.products, 1)
        yield Task(f"{layer} {ids}", layer, _history, (ids, days), needs, objects=ids.count, rows=rows_of_range)


def _newest(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    """Write the newest row of each product as one Parquet file per price table."""
    for table in PRICE_TABLES:
        months = context.intermediate_files(inputs, Intermediate.NEWEST_ROWS.of(table))
        context.tables.open_files(f"months_{table}", months)
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


def _objects(ids: NDArray[np.int64], rows: HistoryRows) -> EncodedObjects:
    for id_, arrays in zip(ids.tolist(), rows, strict=True):
        yield id_, *encode_fragments(b"", arrays, pages.PERIOD_TAIL)
