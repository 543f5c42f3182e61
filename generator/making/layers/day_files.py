"""The layers `days-<year>`: which day files of the lake a build read, of the closed months of a year.

The record of a build names those of the open month. So it does not grow with the years.
"""

import json
from collections.abc import Iterator

from edge_auth.builds import layer_names
from generator.lake.lake import DAILY_TABLES, Lake
from generator.lake.read_by_builds import DAY_FILES, hashes_by_day
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.making.periods import Period, closed_periods
from generator.pack.writer import Inputs, Writer

RECIPE = 1


def day_files_layers(lake: Lake) -> Iterator[LayerSpec]:
    """Define the layers, oldest year first."""
    for year in closed_periods(lake, DAILY_TABLES):
        name = layer_names.days_layer(year.name)
        content = {"files": year.content(lake, *DAILY_TABLES)}
        yield define_layer(name, one_task(name, _day_files, year), recipe=RECIPE, sql=(), content=content)


def _day_files(context: BuildContext, writer: Writer, inputs: Inputs, year: Period) -> None:
    files = {table: hashes_by_day(context.lake.files_of(table, year.first, year.last)) for table in DAILY_TABLES}
    writer.add_file(f"{DAY_FILES}.json", json.dumps(files, separators=(",", ":")).encode())
