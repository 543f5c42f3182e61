"""Writes a whole demo lake: the catalogue first, then day after day; memory does not grow with the days."""

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from generator.demo import files
from generator.demo.expansions import make_expansions
from generator.demo.filtered_checks import FilteredChecks
from generator.demo.fingerprints import RECIPE, make_fingerprints
from generator.demo.listings import Listings
from generator.demo.price_guide import PriceGuide
from generator.demo.products import make_catalogue
from generator.demo.times import date_of
from generator.demo.watch_checks import WatchChecks
from generator.demo.watchlist import make_watchlist
from generator.errors import LakeError

Progress = Callable[[Iterable[int]], Iterable[int]]


class DailyTable(Protocol):
    """A table made day by day, every day from 0 on in turn."""

    def day(self, day: int) -> pa.Table | None:
        """The day's rows; None where the day is missing."""


class Written(NamedTuple):
    """What a lake's table holds now: its rows, and on how many days (None: not a daily table)."""

    rows: int
    days: int | None


def write_demo(
    lake: Path, products: int, days: int, seed: int, progress: Progress = lambda days: days
) -> dict[str, Written]:
    """Make `lake` a demo lake of so many products and days, and tell what each table holds.

    A demo lake that is there already is brought to the new arguments; files that stay the same are not
    touched. `progress` is handed the numbers of the days and hands them back one by one. Raises LakeError
    where the folder holds other tables or cannot be written.
    """
    try:
        files.claim(lake, {"products": products, "days": days, "seed": seed})
        return _write(lake, products, days, seed, progress)
    except OSError as error:
        raise LakeError(f"the demo lake cannot be written: {error.filename or lake}: {error.strerror}") from error


def _write(lake: Path, products: int, days: int, seed: int, progress: Progress) -> dict[str, Written]:
    catalogue = make_catalogue(seed, products, make_expansions(seed, products))
    watchlist = make_watchlist(catalogue)
    whole = {
        "expansions": catalogue.expansions.table,
        "products": catalogue.table,
        "watchlist": watchlist.table,
        "fingerprints": make_fingerprints(seed, catalogue),
    }
    for name, table in whole.items():
        files.write_table(lake / f"{name}.parquet", table)
    files.write_json(lake / files.RECIPE_FILE, RECIPE)
    daily = {
        "price_guide": PriceGuide(seed, catalogue),
        "listings": Listings(seed, catalogue),
        "filtered_checks": FilteredChecks(seed, catalogue),
        "watch_checks": WatchChecks(seed, watchlist),
    }
    written = _write_days(lake, daily, progress(range(days)))
    return {name: Written(table.num_rows, None) for name, table in whole.items()} | written


def _write_days(lake: Path, daily: dict[str, DailyTable], days: Iterable[int]) -> dict[str, Written]:
    rows: dict[str, dict[date, int]] = {name: {} for name in daily}
    for day in days:
        for name, maker in daily.items():
            table = maker.day(day)
            if table is not None:
                files.write_table(files.part(lake, name, date_of(day)), table)
                rows[name][date_of(day)] = table.num_rows
    for name, by_day in rows.items():
        files.remove_other_days(lake, name, by_day)
    return {name: Written(sum(by_day.values()), len(by_day)) for name, by_day in rows.items()}
