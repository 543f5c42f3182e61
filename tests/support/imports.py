"""Imports into a lake, and what is in it afterwards."""

import gzip
import json
from pathlib import Path
from typing import Any

import duckdb

from tests.support.commands import run

FIGURES = ("low", "avg", "trend", "avg1", "avg7", "avg30")
MORNING, NOON = "2026-07-26T02:44:32+0200", "2026-07-26T10:55:29+0200"


def write_list(path: Path, key: str, rows: list[dict], created_at: str = NOON, **more: object) -> Path:
    """Write a file of the marketplace with one list."""
    data = json.dumps({"version": 1, "createdAt": created_at, key: rows} | more, ensure_ascii=False).encode()
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def guide_row(id_product: int, **prices: float) -> dict:
    """Return a row of a price guide whose other prices are 1."""
    return {"idProduct": id_product, "idCategory": 51} | dict.fromkeys(FIGURES, 1) | prices


def ingest(lake: Path, kind: str, *arguments: object) -> dict[str, Any]:
    """Import, and return what `--json` says."""
    return json.loads(run("ingest", kind, "--lake", lake, *arguments, "--json").stdout)


def refused(lake: Path, kind: str, *arguments: object) -> str:
    """Return the one line that a refused import says; it wrote nothing."""
    before = content(lake)
    result = run("ingest", kind, "--lake", lake, *arguments, status=1)
    assert (result.stdout, content(lake)) == ("", before)
    (line,) = [line for line in result.stderr.splitlines() if not line.startswith("read ")]
    return line


def content(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def rows_of(lake: Path, table: str, day: str = "*") -> list[dict[str, Any]]:
    """Return the rows of a daily table, or of a flat one where the lake has `table*.parquet`."""
    is_flat = bool(list(lake.glob(f"{table}*.parquet")))
    pattern = f"{lake}/{table}*.parquet" if is_flat else f"{lake}/{table}/day={day}/*.parquet"
    return duckdb.sql(f"FROM read_parquet('{pattern}', hive_partitioning = false)").to_arrow_table().to_pylist()
