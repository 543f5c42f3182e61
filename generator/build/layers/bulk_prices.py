"""The layers `bulk-<month>` and `bulk-<day>`: the bulk files of the price tables, per closed month and per later day.

A file holds the rows of known products. So a layer also depends on the ids that its days name and the catalogue does
not know; `generator.build.unknown_products` finds them. A new product without earlier prices changes no closed month.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from edge_auth.contract import names
from generator.build import estimates
from generator.build.bulk_files import CONSTANTS, write_entries, write_table
from generator.build.context import BuildContext
from generator.build.lake_tables import PRICE_SQL
from generator.build.layers.history import to_parquet
from generator.build.layers.spec import LayerSpec, define_layer
from generator.build.month_tasks import SORTED_BY, known_rows, month_tasks, row_files, task_names
from generator.build.periods import Period, closed_periods, open_month
from generator.build.tasks import BuildScope, Task
from generator.build.unknown_products import IDS, PRICES, UNKNOWN, UnknownProducts
from generator.lake.lake import PRICE_TABLES, Lake
from generator.pack.output import Inputs
from generator.pack.writer import Writer

RECIPE = 1
_SQL = (
    "sources/products",
    *PRICE_SQL,
    *("views/month_rows", "views/day_rows", "views/bulk_prices"),
)
# The tables of bulk files, and the arrays of a history whose rows they hold.
_ARRAYS = {"price_guide": "price_guide", "listings": "listing", "filtered": "filtered"}
_MAX_ROWS_TOGETHER = 1_000_000  # of days that are read together


def bulk_price_layers(lake: Lake, unknown: UnknownProducts) -> Iterator[LayerSpec]:
    """Define the layers of the days with prices: each closed month, then each day of the as-of day's month."""
    months = [month for period in closed_periods(lake) for month in period.months()]
    days = open_month(lake.as_of).days()
    prices = {span: content for span in (*months, *days) if (content := span.content(lake))}
    digests = unknown.digests(prices)
    for span, content in prices.items():
        yield define_layer(
            names.bulk_layer(span.span),
            partial(_month_tasks, month=span) if span in months else partial(_day_tasks, day=span),
            recipe=RECIPE,
            sql=_SQL,
            content={PRICES: content, UNKNOWN: digests[span]},
            constants=CONSTANTS,
        )


def _month_tasks(scope: BuildScope, month: Period) -> Iterable[Task]:
    """Return the tasks of a closed month. Its history needs the same rows."""
    tasks = month_tasks(scope, month)
    yield from tasks
    layer = names.bulk_layer(month.span)
    yield Task(layer, layer, _month, (month,), task_names(tasks), rows=sum(task.rows for task in tasks))


def _day_tasks(scope: BuildScope, day: Period) -> Iterable[Task]:
    layer = names.bulk_layer(day.span)
    reads = scope.lake.size(*PRICE_TABLES, first=day.first, last=day.last)
    yield Task(layer, layer, _day, (day, _read_together(scope, day)), reads=reads)


def _read_together(scope: BuildScope, day: Period) -> Period:
    """Return the days that are read together with a day: many days of a small lake, one day of a large one."""
    missing = [other for other in open_month(scope.lake.as_of).days() if names.bulk_layer(other.span) in scope.missing]
    days = Period(day.name, missing[0].first, missing[-1].last)
    rows = estimates.rows(scope.lake, days.first, days.last)
    spans = days.split(-(-rows // _MAX_ROWS_TOGETHER))
    return next(span for span in spans if span.first <= day.first <= span.last)


def _month(context: BuildContext, writer: Writer, inputs: Inputs, month: Period) -> None:
    for array in _ARRAYS.values():
        context.tables.open_files(f"rows_{array}", row_files(context, inputs, array))
    rows = {table: known_rows(context, inputs, array) for table, array in _ARRAYS.items()}
    _write(context, writer, month.span, {table: files[0] for table, files in rows.items() if len(files) == 1})


def _day(context: BuildContext, writer: Writer, inputs: Inputs, day: Period, together: Period) -> None:
    context.tables.open_day_rows(together)
    for array in _ARRAYS.values():
        rows = f"select * from day_rows_{array} where day = date '{day.first}'"
        context.db.connection.execute(f"create or replace view rows_{array} as {rows}")
    _write(context, writer, day.span)


def _write(context: BuildContext, writer: Writer, span: str, ready: Mapping[str, Path] = MappingProxyType({})) -> None:
    """Write the bulk files of a span of days.

    Args:
        ready: The files of tables that the task of the month has made already.
    """
    context.tables.open_bulk_prices()
    entries = [
        write_table(context.db, writer, table, f"{table}-{span}", SORTED_BY, ready.get(table)) for table in _ARRAYS
    ]
    write_entries(writer, [entry for entry in entries if entry["records"]])
    writer.add_file(f"{IDS}.parquet", to_parquet(context.db.table("from bulk_ids order by id_product")))
