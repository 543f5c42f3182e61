"""Writes a demo lake: the catalogue first, then day after day, so that memory does not grow with the days.

Each file is replaced as a whole, and only if its bytes change. `demo.json` at the top of the folder marks the lake as a
demo and holds the arguments. Folders that hold tables of others are refused.
"""

import json
from collections.abc import Mapping
from datetime import date, timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from generator.demo import prices
from generator.demo.draw import FIRST_DAY
from generator.demo.products import RECIPE, make_catalogue, make_fingerprints, make_identifiers
from generator.errors import LakeError
from generator.lake.lake import DAILY_TABLES, DEMO_NAME, FLAT_TABLES, RECIPE_NAME
from generator.storage.stores.disk import make_folder, replace_file
from generator.terminal import Progress, ProgressBar

_DAY_FILE = "demo.parquet"
_WRITER_OPTIONS = {"compression": "zstd", "compression_level": 1, "store_schema": False, "row_group_size": 131_072}


class Demo(NamedTuple):
    """The arguments of a demo lake. `end` is its last day."""

    products: int
    days: int
    seed: int
    end: date

    @property
    def moved(self) -> timedelta:
        """How much later all times are than in a demo that begins on the first day."""
        return self.end - FIRST_DAY - timedelta(days=self.days - 1)


def older_demo(lake: Path) -> Demo | None:
    try:
        written = json.loads((lake / DEMO_NAME).read_bytes())
        products, days, seed = (int(written[name]) for name in ("products", "days", "seed"))
        return Demo(products, days, seed, date.fromisoformat(written["end"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_demo(
    lake: Path, products: int, days: int, seed: int, end: date | None = None, progress: Progress | None = None
) -> dict[str, list[int]]:
    """Write a demo lake, or change an existing one to these arguments. Return how many rows each file of a table has.

    Files that stay the same are not touched. Without `end` the first day is 2025-11-15. A LakeError says that the
    folder holds other tables or cannot be written.
    """
    demo = Demo(products, days, seed, end or FIRST_DAY + timedelta(days=days - 1))
    try:
        _claim(lake, demo)
        return _write_tables(lake, demo, progress or Progress(quiet=True))
    except OSError as error:
        raise LakeError(f"the demo lake cannot be written: {error.filename or lake}: {error.strerror}") from error


def _claim(lake: Path, demo: Demo) -> None:
    if lake.exists() and not lake.is_dir():
        raise LakeError(f"{lake} is a file; name a folder for the demo lake")
    paths = [*lake.glob("*.parquet"), *lake.glob(RECIPE_NAME)]
    paths += [path for table in DAILY_TABLES for path in (lake / table).rglob("*.parquet")]
    names = sorted(path.relative_to(lake).as_posix() for path in paths)
    if (lake / DEMO_NAME).exists():
        ours = (RECIPE_NAME, *(f"{table}.parquet" for table in FLAT_TABLES), f"*/day=*/{_DAY_FILE}")
        names = [name for name in names if not any(fnmatch(name, pattern) for pattern in ours)]
    if names:
        raise LakeError(f"{lake} is no demo lake: it holds {names[0]}, which `demo` did not write; name another folder")
    make_folder(lake)
    _write_json(lake / DEMO_NAME, {"made_by": "cardpress demo", **demo._asdict(), "end": str(demo.end)})


def _write_tables(lake: Path, demo: Demo, progress: Progress) -> dict[str, list[int]]:
    catalogue = make_catalogue(demo.seed, demo.products)
    watchlist, cents = prices.make_watchlist(catalogue)
    flat = {
        "expansions": catalogue.expansions,
        "products": catalogue.table,
        "watchlist": watchlist,
        "fingerprints": make_fingerprints(catalogue),
        "identifiers": make_identifiers(demo.seed, catalogue),
    }
    for name, table in flat.items():
        _write_table(lake / f"{name}.parquet", table, demo.moved)
    _write_json(lake / RECIPE_NAME, RECIPE)
    daily = {
        "price_guide": prices.price_guide(demo.seed, catalogue),
        "listings": prices.listings(demo.seed, catalogue),
        "filtered_checks": prices.filtered_checks(demo.seed, catalogue),
        "watch_checks": prices.watch_checks(demo.seed, watchlist, cents),
    }
    with progress.bar("days", demo.days) as bar:
        written = _write_days(lake, daily, demo, bar)
    return {name: [len(table)] for name, table in flat.items()} | written


def _write_days(lake: Path, daily: Mapping[str, prices.Days], demo: Demo, bar: ProgressBar) -> dict[str, list[int]]:
    written: dict[str, dict[Path, int]] = {name: {} for name in daily}
    for number in range(demo.days):
        day = FIRST_DAY + timedelta(days=number) + demo.moved
        for name, tables in daily.items():
            table, (every, first) = next(tables), prices.MISSING_DAYS[name]
            if len(table) and number % every != first:
                path = lake / name / f"day={day}" / _DAY_FILE
                _write_table(path, table, demo.moved)
                written[name][path] = len(table)
        bar.update(1)
    for name, rows in written.items():
        for path in set((lake / name).glob(f"day=*/{_DAY_FILE}")) - rows.keys():  # of an earlier run
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
    return {name: list(rows.values()) for name, rows in written.items()}


def _write_table(path: Path, table: pa.Table, moved: timedelta) -> None:
    """Write a table as Parquet, with later times. The same rows give the same bytes."""
    for place, field in enumerate(table.schema):
        if moved and pa.types.is_timestamp(field.type):
            table = table.set_column(place, field, pc.add(table[place], pa.scalar(moved, pa.duration("us"))))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **_WRITER_OPTIONS)
    _write(path, sink.getvalue().to_pybytes())


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    _write(path, (json.dumps(content, indent=2) + "\n").encode())


def _write(path: Path, content: bytes) -> None:
    if path.exists() and path.read_bytes() == content:
        return  # its time of change stays, so a build need not read it again
    make_folder(path.parent)
    replace_file(path, [content])
