"""The layers `extremes-<period>`: the lowest and the highest market price of each product, and on which days.

A closed year has those of its own days, so that it changes with its prices alone. The open month has those of all days
up to the as-of day: of its own days and of what the closed years have. So a night reads a row for each product and
year, and a corrected or withdrawn day makes its year anew. `edge_auth.builds.series` describes what the shim reads.
"""

from collections.abc import Iterable
from functools import partial

import pyarrow as pa

from edge_auth.builds import layer_names
from edge_auth.builds.index import map_table, to_bytes
from edge_auth.builds.series import EXTREMES
from generator.lake.lake import Lake
from generator.lake.tables import open_table
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task, stored_part
from generator.making.month_rows import GUIDE
from generator.making.periods import Period, closed_periods, open_month
from generator.making.tasks import BuildScope, Task
from generator.pack.writer import Inputs, Writer

RECIPE = 1
_NONE = pa.schema(
    {"id_product": pa.int64(), "low": pa.int64(), "low_day": pa.date32(), "high": pa.int64(), "high_day": pa.date32()}
).empty_table()


def extremes_layers(lake: Lake) -> list[LayerSpec]:
    """Define the layers of the closed years, oldest first, and of the open month. A year without prices has none."""
    closed = [_layer(lake, period.name, period, []) for period in closed_periods(lake) if period.content(lake, GUIDE)]
    return [*closed, _layer(lake, layer_names.OPEN_MONTH, open_month(lake.as_of), closed)]


def _layer(lake: Lake, name: str, days: Period, before: list[LayerSpec]) -> LayerSpec:
    layer, digests = layer_names.extremes_layer(name), {spec.name: spec.digest for spec in before}
    of_year = partial(_tasks_of_year, layer=layer, year=days) if name != layer_names.OPEN_MONTH else None
    return define_layer(
        layer,
        of_year or one_task(layer, partial(_extremes, days=days, before=digests), after=digests),
        recipe=RECIPE,
        sql=("views/market_price", "views/extremes"),
        content={"prices": days.content(lake, GUIDE), "years before": list(digests.values())},
    )


def _tasks_of_year(scope: BuildScope, layer: str, year: Period) -> Iterable[Task]:
    with_rows = [month for month in year.months() if month.content(scope.lake, GUIDE)]
    until = partial(_until, scope.lake, year)
    earlier, later = stored_part(scope, with_rows, until)
    days = Period(year.name, later[0].first, year.last)
    return one_task(layer, partial(_extremes, days=days, before={layer: earlier} if earlier else {}))(scope)


def _until(lake: Lake, year: Period, month: Period) -> LayerSpec:
    return _layer(lake, year.name, year.until(month), [])


def _extremes(context: BuildContext, writer: Writer, inputs: Inputs, days: Period, before: dict[str, str]) -> None:
    open_table(context.db, GUIDE, context.lake.fetch(GUIDE, days.first, days.last))
    context.db.run("views/market_price")
    files = (context.layers.file(inputs, layer, digest, EXTREMES) for layer, digest in before.items())
    with context.db.registered(extremes_before=pa.concat_tables([_NONE, *map(map_table, files)])):
        writer.add_file(f"{EXTREMES}.arrow", to_bytes(context.db.answer("views/extremes")))
