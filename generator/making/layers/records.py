"""The layers in which a build says what it is made from: `status` and `days-<year>`.

`status` has `status.json`, joined from the facts that the layers `catalogue` and `watchlist` store. `days-<year>` names
the day files of the lake that the build read, of the closed months of a year. The record of a build names those of the
open month, so it does not grow with the years.
"""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from edge_auth.builds import layout
from generator.lake.files import DAY_FILES, hashes_by_day
from generator.lake.lake import DAILY_TABLES, Lake
from generator.making.layer import BuildLayer
from generator.making.periods import Period, closed_periods
from generator.making.work import Work, small_layer


def status_layer(lake: Lake, catalogue: BuildLayer, watchlist: BuildLayer) -> BuildLayer:
    """Define the layer of the status object, which changes when one of the two layers does."""
    return small_layer(lake, layout.STATUS, _status, after=[catalogue, watchlist])


def _status(work: Work) -> None:
    status: dict[str, Any] = {}
    for name in (layout.WATCHLIST, layout.CATALOGUE):
        status |= work.facts(name)["status"]
    text = json.dumps(status, ensure_ascii=False, separators=(",", ":"))
    work.objects([(layout.STATUS_KEY, text.encode() + b"\n")])


def day_files_layers(lake: Lake) -> Iterator[BuildLayer]:
    """Define the layers, oldest year first."""
    for year in closed_periods(lake, DAILY_TABLES):
        content = {"files": year.content(lake, *DAILY_TABLES)}
        yield small_layer(
            lake, layout.sublayer(layout.DAYS, year.name), partial(_day_files, year=year), content=content
        )


def _day_files(work: Work, year: Period) -> None:
    files = {table: hashes_by_day(work.lake.files_of(table, year.first, year.last)) for table in DAILY_TABLES}
    work.add_file(f"{DAY_FILES}.json", json.dumps(files, separators=(",", ":")).encode())
