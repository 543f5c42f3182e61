"""Keeps the numbers of the closed months' watch checks in the user's cache.

A lake has a file of watch checks for each day. To open hundreds of them takes longer than the rest of a build after a
new check. The table watch_summaries of the closed months depends only on the content of their files and on the code, so
a file under the hash of both holds it. Losing the cache only costs time.
"""

import hashlib
import os
import shutil
from contextlib import suppress
from datetime import date
from pathlib import Path

import duckdb

from edge_auth.store.file_cache import user_cache
from generator.database import Database, sql_literal
from generator.lake.files import LakeFile
from generator.lake.lake import Lake
from generator.lake.tables import open_table, summarise_offers
from generator.making.layers.spec import digest_of
from generator.making.periods import open_month
from generator.making.provenance import code_sha256

_TABLE = "watch_checks"
MIN_FILES = 32  # fewer files are read at once
MAX_KEPT = 8  # for this many lakes and months


def summarise_watch_checks(db: Database, lake: Lake) -> list[LakeFile]:
    """Make the table watch_summaries, and return the files of the checks. Those with kept summaries are not opened.

    Raises:
        LakeError: A file cannot be read, has wrong columns, or changed meanwhile.
    """
    files, month = lake.fetch(_TABLE), open_month(lake.as_of).first
    closed = lake.with_days({file.day for file in files if file.day and file.day < month}).content(_TABLE)
    key = digest_of([*closed, code_sha256(), duckdb.__version__]) if len(closed) >= MIN_FILES else None
    kept = _find(key) if key else None
    open_table(db, _TABLE, [file for file in files if not kept or (file.day and file.day >= month)])
    summarise_offers(db, _TABLE)
    if kept:
        db.connection.execute(f"insert into watch_summaries by name from read_parquet({sql_literal(kept)})")
    elif key:
        lake.backend.check_unchanged()  # or the rows would be kept under the hash of other files
        _keep(db, key, month)
    return files


def _folder() -> Path:
    return user_cache() / "summaries"


def _find(key: str) -> Path | None:
    """Return the kept file of a key whose content has the hash in its name, or None."""
    with suppress(OSError):
        for path in _folder().glob(f"{key}-*.parquet"):
            if path.stem == f"{key}-{_sha256(path)}":
                os.utime(path)  # the longest unused files are deleted first
                return path
    return None


def _keep(db: Database, key: str, month: date) -> None:
    """Write the rows of the table that are before a month. Without room for them, everything still works."""
    written = db.scratch / "summaries.parquet"
    rows = f"from watch_summaries where day < {sql_literal(str(month))}::date"
    with suppress(OSError, duckdb.Error):
        db.connection.execute(f"copy ({rows}) to {sql_literal(written)} (format parquet)")
        _folder().mkdir(parents=True, exist_ok=True)
        shutil.move(written, _folder() / f"{key}-{_sha256(written)}.parquet")
        for path in sorted(_folder().iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)[MAX_KEPT:]:
            path.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
