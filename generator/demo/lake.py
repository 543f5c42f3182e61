"""Writes a whole demo lake: the catalogue first, then day after day, so that memory does not grow with the days.

Each file is replaced as a whole, and only if its bytes change. `demo.json` at the top of the folder marks the lake as a
demo and holds the arguments. Folders that hold tables of others are refused.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.store.disk import replace_file
from generator.demo.draw import date_of, moved
from generator.demo.fingerprints import RECIPE, make_fingerprints
from generator.demo.identifiers import make_identifiers
from generator.demo.prices import FilteredChecks, Listings, PriceGuide
from generator.demo.products import make_catalogue, make_expansions
from generator.demo.watchlist import WatchChecks, make_watchlist
from generator.errors import LakeError
from generator.lake.lake import DAILY_TABLES, FLAT_TABLES, RECIPE_NAME

# Writes the files of a demo lake, and refuses folders that hold tables of others.

_MARKER = "demo.json"
_DAY_FILE = "demo.parquet"
# Every option that affects the bytes, so that a new default of the library changes nothing.
_WRITER_OPTIONS = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": "zstd",
    "compression_level": 1,
    "use_dictionary": True,
    "write_statistics": True,
    "store_schema": False,
    "coerce_timestamps": "us",
    "row_group_size": 131_072,
}


class Demo(NamedTuple):
    """The arguments of a demo lake. `end` is its last day."""

    products: int
    days: int
    seed: int
    end: date


def older_demo(lake: Path) -> Demo | None:
    """Return the demo that a folder holds, or None if it holds none."""
    try:
        written = json.loads((lake / _MARKER).read_bytes())
        products, days, seed = (int(written[name]) for name in ("products", "days", "seed"))
        return Demo(products, days, seed, date.fromisoformat(written.get("end") or str(date_of(days - 1))))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def claim(lake: Path, demo: Demo) -> None:
    """Mark a folder as a demo lake.

    Raises:
        LakeError: The folder holds tables that `demo` did not write.
    """
    if lake.exists() and not lake.is_dir():
        raise LakeError(f"{lake} is a file; name a folder for the demo lake")
    other = _file_of_others(lake)
    if other:
        raise LakeError(f"{lake} is no demo lake: it holds {other}, which `demo` did not write; name another folder")
    lake.mkdir(parents=True, exist_ok=True)
    write_json(lake / _MARKER, {"made_by": "cardpress demo", **demo._asdict(), "end": str(demo.end)})


def _file_of_others(lake: Path) -> str | None:
    """Return a file of the lake's tables that `demo` did not write. Without the marker it wrote none."""
    paths = [*lake.glob("*.parquet"), *lake.glob(RECIPE_NAME)]
    for table in DAILY_TABLES:
        paths += (lake / table).rglob("*.parquet")
    names = sorted(path.relative_to(lake).as_posix() for path in paths)
    is_demo = (lake / _MARKER).exists()
    return next((name for name in names if not (is_demo and _is_demo_file(name))), None)


def _is_demo_file(name: str) -> bool:
    if "/" in name:
        return fnmatch(name, f"*/day=*/{_DAY_FILE}")
    return name == RECIPE_NAME or name.removesuffix(".parquet") in FLAT_TABLES


def day_file(lake: Path, table: str, day: date) -> Path:
    """Return the path of a table's file of one day."""
    return lake / table / f"day={day}" / _DAY_FILE


def remove_other_days(lake: Path, table: str, days: Iterable[date]) -> None:
    """Remove files of earlier runs for days that this run does not have."""
    current = {f"day={day}" for day in days}
    for path in (lake / table).glob(f"day=*/{_DAY_FILE}"):
        if path.parent.name not in current:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table as Parquet. The same rows give the same bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **_WRITER_OPTIONS)
    _write_of_files(path, sink.getvalue().to_pybytes())


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a small JSON file."""
    _write_of_files(path, (json.dumps(content, indent=2) + "\n").encode())


def _write_of_files(path: Path, content: bytes) -> None:
    if _has_content(path, content):
        return  # its time of change stays, so a build need not read it again
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [content])


def _has_content(path: Path, content: bytes) -> bool:
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except FileNotFoundError:
        return False


# Writes a whole demo lake: the catalogue first, then day after day, so that memory does not grow with the days.


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
        claim(lake, Demo(products, days, seed, last))
        return _write_of_lake(lake, products, seed, progress(range(days)), (last - date_of(days - 1)).days)
    except OSError as error:
        raise LakeError(f"the demo lake cannot be written: {error.filename or lake}: {error.strerror}") from error


def _write_of_lake(lake: Path, products: int, seed: int, days: Iterable[int], shift: int) -> dict[str, TableSize]:
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
        write_table(lake / f"{name}.parquet", moved(table, shift))
    write_json(lake / RECIPE_NAME, RECIPE)
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
                write_table(day_file(lake, name, date_), moved(table, shift))
                rows[name][date_] = table.num_rows
    for name, by_day in rows.items():
        remove_other_days(lake, name, by_day)
    return {name: TableSize(sum(by_day.values()), len(by_day)) for name, by_day in rows.items()}
