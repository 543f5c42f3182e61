"""Writes the files of a demo lake, and refuses folders that hold tables of others.

Each file is replaced as a whole, and only if its bytes change. `demo.json` at the top of the folder marks the lake as a
demo and holds the arguments.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import date
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.store.disk import replace_file
from generator.demo.columns import date_of
from generator.errors import LakeError
from generator.lake.lake import DAILY_TABLES, FLAT_TABLES, RECIPE_NAME

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
    _write(path, sink.getvalue().to_pybytes())


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a small JSON file."""
    _write(path, (json.dumps(content, indent=2) + "\n").encode())


def _write(path: Path, content: bytes) -> None:
    if _has_content(path, content):
        return  # its time of change stays, so a build need not read it again
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [content])


def _has_content(path: Path, content: bytes) -> bool:
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except FileNotFoundError:
        return False
