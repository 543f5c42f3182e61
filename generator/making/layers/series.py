"""The layers `series-<period>`: the weekly prices of the products; see `edge_auth.builds.series`."""

from collections.abc import Iterator
from datetime import date
from functools import partial

from edge_auth.builds import layer_names
from edge_auth.builds.index import to_bytes
from edge_auth.builds.series import PRICES, TO_SUNDAY, weeks_by_period
from generator.lake.lake import Lake
from generator.lake.tables import open_table
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer
from generator.making.periods import Period
from generator.making.tasks import BuildScope, Task
from generator.pack.writer import Inputs, Writer

RECIPE = 1
_GUIDE = "price_guide"


def series_layers(lake: Lake) -> Iterator[LayerSpec]:
    """Define the layers of the weekly prices. A closed year without prices has none."""
    for name, weeks in weeks_by_period(lake.as_of).items():
        is_open = name == layer_names.OPEN_MONTH
        days = Period(name, weeks[0], lake.as_of if is_open else weeks[-1] + TO_SUNDAY)
        content = lake.content(_GUIDE, first=days.first, last=days.last)
        if content or is_open:
            yield define_layer(
                layer_names.series_layer(name),
                partial(_tasks, days=days, weeks=len(weeks)),
                recipe=RECIPE,
                sql=("views/market_price", "views/series"),
                content={"prices": content, "weeks": list(map(date.isoformat, weeks))},
            )


def _tasks(scope: BuildScope, days: Period, weeks: int) -> Iterator[Task]:
    layer = layer_names.series_layer(days.name)
    yield Task(layer, layer, _series, (days, weeks), rows=days.estimated_rows(scope.lake))


def _series(context: BuildContext, writer: Writer, inputs: Inputs, days: Period, weeks: int) -> None:
    open_table(context.db, _GUIDE, context.lake.fetch(_GUIDE, days.first, days.last))
    context.db.set(first_week=days.first.isoformat(), weeks=weeks)
    context.db.run("views/market_price", "views/series")
    writer.add_file(f"{PRICES}.arrow", to_bytes(context.db.table("from series order by id_product")))
