"""Writes a whole demo lake: the catalogue first, then day after day, so that memory does not grow with the days."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from generator.demo import files
from generator.demo.columns import date_of, moved
from generator.demo.expansions import make_expansions
from generator.demo.filtered_checks import FilteredChecks
from generator.demo.fingerprints import RECIPE, make_fingerprints
from generator.demo.identifiers import make_identifiers
from generator.demo.listings import Listings
from generator.demo.price_guide import PriceGuide
from generator.demo.products import make_catalogue
from generator.demo.watch_checks import WatchChecks
from generator.demo.watchlist import make_watchlist
from generator.errors import LakeError
from generator.lake.lake import RECIPE_NAME


class DayMaker(Protocol):
    """Makes a daily table. `day` is called for every day in turn, from 0 on."""

    def day(self, day: int) -> pa.Table | None:
        """Return the day's rows, or None if the table has no such day."""


class TableSize(NamedTuple):
    """How many rows a table of the lake has, and on how many days. `days` is None for a table without days."""

    rows: int
    days: int | None


def write_demo(
    lake: Path,
    products: int,
    days: int,
    seed: int,
    progress: Callable[[Iterable[int]], Iterable[int]] = lambda days: days,
    end: date | None = None,
) -> dict[str, TableSize]:
    """Write a demo lake, or change an existing one to these arguments. Files that stay the same are not touched.

    Args:
        progress: Wraps the numbers of the days, to show progress.
        end: The last day. None: the first day is 2025-11-15.

    Returns:
        The size of each table, by name.

    Raises:
        LakeError: The folder holds other tables or cannot be written.
    """
    try:
        last = end or date_of(days - 1)
        files.claim(lake, files.Demo(products, days, seed, last))
        return _write(lake, products, seed, progress(range(days)), (last - date_of(days - 1)).days)
    except OSError as error:
        raise LakeError(f"the demo lake cannot be written: {error.filename or lake}: {error.strerror}") from error


def _write(lake: Path, products: int, seed: int, days: Iterable[int], shift: int) -> dict[str, TableSize]:
    catalogue = make_catalogue(seed, products, make_expansions(seed, products))
    watchlist = make_watchlist(catalogue)
    flat = {
        "expansions": catalogue.expansions.table,
        "products": catalogue.table,
        "watchlist": watchlist.table,
        "fingerprints": make_fingerprints(catalogue),
        "identifiers": make_identifiers(seed, catalogue),
    }
    for name, table in flat.items():
        files.write_table(lake / f"{name}.parquet", moved(table, shift))
    files.write_json(lake / RECIPE_NAME, RECIPE)
    daily: dict[str, DayMaker] = {
        "price_guide": PriceGuide(seed, catalogue),
        "listings": Listings(seed, catalogue),
        "filtered_checks": FilteredChecks(seed, catalogue),
        "watch_checks": WatchChecks(seed, watchlist),
    }
    return {name: TableSize(table.num_rows, None) for name, table in flat.items()} | _write_days(
        lake, daily, days, shift
    )


def _write_days(lake: Path, makers: Mapping[str, DayMaker], days: Iterable[int], shift: int) -> dict[str, TableSize]:
    rows: dict[str, dict[date, int]] = {name: {} for name in makers}
    for day in days:
        date_ = date_of(day) + timedelta(days=shift)
        for name, maker in makers.items():
            table = maker.day(day)
            if table is not None:
                files.write_table(files.day_file(lake, name, date_), moved(table, shift))
                rows[name][date_] = table.num_rows
    for name, by_day in rows.items():
        files.remove_other_days(lake, name, by_day)
    return {name: TableSize(sum(by_day.values()), len(by_day)) for name, by_day in rows.items()}
