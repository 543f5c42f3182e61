"""The layers of the history: `history/<period>/{id}.json` for each closed year and for the open month.

A product without rows in a period has no object in its layer. The layer of a closed period also has the newest row of
each product per price table.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import date

from edge_auth.builds import layer_names, object_keys
from generator.lake.lake import PRICE_TABLES, Lake
from generator.making.card_tasks import newest_task_name
from generator.making.context import BuildContext
from generator.making.history_rows import write_histories
from generator.making.intermediates import Intermediate
from generator.making.layers.shared import HISTORY_CONSTANTS, HISTORY_SQL, to_parquet
from generator.making.layers.spec import LayerSpec, define_layer
from generator.making.month_tasks import month_tasks, open_history, task_names
from generator.making.periods import Period, open_month
from generator.making.tasks import BuildScope, ProductRange, Task
from generator.pack.output import Inputs
from generator.pack.writer import Writer

RECIPE = 3
_ROWS_PER_GROUP = 25_000  # of newest rows: a range of products reads little beyond its own


def history_layer(lake: Lake, period: Period) -> LayerSpec:
    """Define the layer of one closed period."""
    return _define(lake, period.name, period, lambda scope: _closed_period(scope, period))


def open_month_layer(lake: Lake) -> LayerSpec:
    """Define the layer of the open month, which each night makes anew."""
    month = open_month(lake.as_of)
    return _define(lake, layer_names.OPEN_MONTH, month, lambda scope: _open_month(scope, month))


def _define(lake: Lake, name: str, period: Period, tasks: Callable[[BuildScope], Iterable[Task]]) -> LayerSpec:
    return define_layer(
        layer_names.history_layer(name),
        tasks,
        pattern=object_keys.history_pattern(name),
        recipe=RECIPE,
        sql=HISTORY_SQL,
        content={"prices": period.content(lake)},
        constants=HISTORY_CONSTANTS,
    )


def _open_month(scope: BuildScope, month: Period) -> Iterator[Task]:
    months = month_tasks(scope, month)
    yield from months
    # Many small objects: two threads that encode them would wait for each other.
    yield from _range_tasks(
        scope, layer_names.history_layer(layer_names.OPEN_MONTH), months, month.first, len(month), main_thread=True
    )


def _closed_period(scope: BuildScope, period: Period) -> Iterator[Task]:
    with_rows = [month for month in period.months() if month.content(scope.lake)]
    months = [task for month in with_rows for task in month_tasks(scope, month)]
    yield from months
    layer, needs = layer_names.history_layer(period.name), task_names(months)
    yield Task(newest_task_name(layer), layer, _newest, needs=needs, rows=len(months) * scope.products)
    yield from _range_tasks(scope, layer, months, period.first, sum(map(len, with_rows)))


def _range_tasks(
    scope: BuildScope, layer: str, months: list[Task], first: date, days: int, main_thread: bool = False
) -> Iterator[Task]:
    needs, rows, ranges = task_names(months), sum(task.rows for task in months), scope.history_ranges(first)
    products = sum(ids.count for ids in ranges)
    for ids in ranges:
        yield Task(
            f"{layer} {ids}",
            layer,
            _history,
            (ids, days),
            needs,
            objects=ids.count,
            rows=rows * ids.count // max(products, 1),
            main_thread=main_thread,
        )


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
    write_histories(context, writer, products[0].to_numpy(), days, ahead=min(context.threads - 1, 1))
