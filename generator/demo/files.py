"""The files of a demo lake: which are its own, how they are written, and what it must not touch.

A file appears whole or not at all, and one whose bytes would be the same is left as it is. A note at the top
of the folder, `demo.json`, says that the lake is a demo and how it was made; no other file tells the time or
the place.
"""

import json
from collections.abc import Iterable
from datetime import date
from fnmatch import fnmatch
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from generator.errors import LakeError

NOTE = "demo.json"
RECIPE_FILE = "fingerprints.json"
WHOLE_TABLES = ("expansions", "products", "watchlist", "fingerprints")
DAILY_TABLES = ("price_guide", "listings", "filtered_checks", "watch_checks")
_PART = "demo.parquet"
# Every option that decides about bytes, so that a new default of the library changes nothing.
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


def claim(lake: Path, arguments: dict[str, int]) -> None:
    """Make the folder a demo lake, or raise LakeError where it holds tables that `demo` did not write."""
    if lake.exists() and not lake.is_dir():
        raise LakeError(f"{lake} is a file; name a folder for the demo lake")
    foreign = _foreign(lake)
    if foreign:
        raise LakeError(f"{lake} is no demo lake: it holds {foreign}, which `demo` did not write; name another folder")
    lake.mkdir(parents=True, exist_ok=True)
    write_json(lake / NOTE, {"made_by": "cardpress demo", **arguments})


def _foreign(lake: Path) -> str | None:
    """The first file of a lake's tables that is not ours; in a folder without the note none is ours."""
    ours = _is_ours if (lake / NOTE).exists() else lambda name: False
    found = [*lake.glob("*.parquet"), *lake.glob(RECIPE_FILE)]
    for table in DAILY_TABLES:
        found += (lake / table).rglob("*.parquet")
    names = sorted(path.relative_to(lake).as_posix() for path in found)
    return next((name for name in names if not ours(name)), None)


def _is_ours(name: str) -> bool:
    if "/" in name:
        return fnmatch(name, f"*/day=*/{_PART}")
    return name == RECIPE_FILE or name.removesuffix(".parquet") in WHOLE_TABLES


def part(lake: Path, table: str, day: date) -> Path:
    """Where a table's rows of one day stand."""
    return lake / table / f"day={day}" / _PART


def remove_other_days(lake: Path, table: str, days: Iterable[date]) -> None:
    """Remove what an earlier run wrote for days that this one has not."""
    kept = {f"day={day}" for day in days}
    for path in (lake / table).glob(f"day=*/{_PART}"):
        if path.parent.name not in kept:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()


def write_table(path: Path, table: pa.Table) -> None:
    """Put a table in place whole; the same rows give the same bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **_WRITER_OPTIONS)
    _write(path, sink.getvalue().to_pybytes())


def write_json(path: Path, content: dict) -> None:
    """Put a small JSON file in place whole."""
    _write(path, (json.dumps(content, indent=2) + "\n").encode())


def _write(path: Path, content: bytes) -> None:
    if _holds(path, content):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(content)
    beside.replace(path)


def _holds(path: Path, content: bytes) -> bool:
    """Whether the file has this very content: then its time of change stays, and builds need not read it
    anew.
    """
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except FileNotFoundError:
        return False
