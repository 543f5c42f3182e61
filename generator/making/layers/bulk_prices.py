"""The layers `bulk-<month>` and `bulk-<day>`: the bulk files of the price tables, per closed month and per later day.

A file holds the rows of known products. So a layer also depends on the ids that its days name and the catalogue does
not know; `generator.making.unknown_products` finds them. A new product without earlier prices changes no closed month.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from edge_auth.builds import layer_names
from generator.lake.lake import Lake
from generator.making.bulk_files import CONSTANTS, write_entries, write_table
from generator.making.context import BuildContext
from generator.making.lake_tables import PRICE_SQL
from generator.making.layers.shared import to_parquet
from generator.making.layers.spec import LayerSpec, define_layer
from generator.making.month_rows import SORTED_BY
from generator.making.month_tasks import known_rows, month_tasks, task_names, unknown_rows
from generator.making.named_products import IDS, PRICES
from generator.making.periods import Period, closed_periods, open_month
from generator.making.tasks import BuildScope, Task
from generator.making.unknown_products import UNKNOWN, UnknownProducts
from generator.pack.writer import Inputs, Writer

RECIPE = 1
_SQL = ("sources/products", *PRICE_SQL, "views/month_rows", "views/bulk_ids")
# The tables of bulk files, and the arrays of a history whose rows they hold.
_ARRAYS = {"price_guide": "price_guide", "listings": "listing", "filtered": "filtered"}


def bulk_price_layers(lake: Lake, unknown: UnknownProducts) -> Iterator[LayerSpec]:
    """Define the layers of the days with prices: each closed month, then each day of the as-of day's month."""
    months = [month for period in closed_periods(lake) for month in period.months()]
    month = open_month(lake.as_of)
    prices = {span: content for span in (*months, *month.days()) if (content := span.content(lake))}
    digests = unknown.digests(prices)
    for span, content in prices.items():
        yield define_layer(
            layer_names.bulk_layer(span.span),
            partial(_tasks, month=span if span in months else month, span=span),
            recipe=RECIPE,
            sql=_SQL,
            content={PRICES: content, UNKNOWN: digests[span]},
            constants=CONSTANTS,
        )


def _tasks(scope: BuildScope, month: Period, span: Period) -> Iterable[Task]:
    """Return the tasks of a span of a month. Its history needs the same rows."""
    tasks = month_tasks(scope, month)
    yield from tasks
    layer = layer_names.bulk_layer(span.span)
    yield Task(layer, layer, _bulk_files, (span,), task_names(tasks), rows=span.estimated_rows(scope.lake))


def _bulk_files(context: BuildContext, writer: Writer, inputs: Inputs, span: Period) -> None:
    entries = []
    for table, array in _ARRAYS.items():
        known = known_rows(context, inputs, array, span)
        context.tables.open_files(f"bulk_{table}", known)
        context.tables.open_files(f"unknown_{table}", unknown_rows(context, inputs, array))
        ready = known[0] if len(known) == 1 else None
        entries.append(write_table(context.db, writer, table, f"{table}-{span.span}", SORTED_BY, ready))
    write_entries(writer, [entry for entry in entries if entry["records"]])
    context.db.set(first_day=str(span.first), last_day=str(span.last))
    context.db.run("views/bulk_ids")
    writer.add_file(f"{IDS}.parquet", to_parquet(context.db.table("from bulk_ids order by id_product")))
