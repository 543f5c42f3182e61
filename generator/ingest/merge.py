"""Merges imported rows into a table file: one row per key, the newest wins.

Of rows with the same time, those of the later import win, so that a corrected file replaces the first as a whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import duckdb
import pyarrow as pa

from generator.ingest.table_files import TableFile

# The order in which rows win is total: newest, then imported, then greatest by every column, null least.
_MERGE = """
WITH newest AS (
    SELECT {imported}
    FROM (SELECT {imported}, 1 AS import FROM incoming UNION ALL SELECT {imported}, 0 FROM existing)
    WHERE {key} NOT IN (SELECT key FROM other_files)
    QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY created_at DESC NULLS LAST, import DESC, {greatest}) = 1
)
SELECT {columns} FROM newest LEFT JOIN existing USING ({key}) ORDER BY {key}
"""

_COUNT = """
SELECT (SELECT count(*) FROM merged ANTI JOIN existing USING ({key})),
       (SELECT count(*) FROM (SELECT {compared} FROM merged SEMI JOIN existing USING ({key})
                              EXCEPT SELECT {compared} FROM existing)),
       (SELECT count(DISTINCT {key}) FROM incoming WHERE {key} IN (SELECT key FROM other_files))
"""


# Keys whose newest imported row is older than the lake's, and says something else.
_COUNT_OLDER = """
SELECT count(*)
FROM (FROM incoming QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY created_at DESC, {greatest}) = 1) AS incoming
JOIN existing USING ({key})
WHERE existing.created_at > incoming.created_at AND ({differs})
"""


@dataclass(frozen=True)
class MergeCounts:
    """The changes of an import to a file of the lake, in rows.

    Attributes:
        in_other_files: Imported rows that were skipped because another file of the table has their key.
        outranked: Imported rows that were skipped because a greater row has the same product and time. None for
            tables with one row per product.
        older: Imported rows that were skipped because the lake has newer rows with other values.
        in_two_games: Products that the files of two games name. The newest file wins.
        example_in_two_games: The smallest id of them.
    """

    rows: int
    new: int
    changed: int
    unchanged: int
    in_other_files: int
    outranked: int | None = None
    older: int = 0
    in_two_games: int = 0
    example_in_two_games: int | None = None

    def as_json(self) -> dict[str, int]:
        """Return the counts under the names that `--json` prints."""
        counts = {"rows": self.rows, "new": self.new, "changed": self.changed, "unchanged": self.unchanged}
        counts["elsewhere"] = self.in_other_files
        if self.older:
            counts["older"] = self.older
        if self.in_two_games:
            counts["in_two_games"] = self.in_two_games
        return counts if self.outranked is None else counts | {"lesser": self.outranked}


class FileChange(NamedTuple):
    """A file of the lake after an import. `data` is None if the file stays as it is."""

    path: str
    counts: MergeCounts
    data: pa.Buffer | None


def changed_files(changes: Iterable[FileChange]) -> dict[str, pa.Buffer]:
    """Return the new content of the files that changed, by path."""
    return {change.path: change.data for change in changes if change.data is not None}


def merge(file: TableFile, existing: pa.Table, incoming: pa.Table, other_keys: pa.ChunkedArray) -> pa.Table:
    """Return a table file after an import, sorted by key.

    Args:
        existing: The file as the lake has it, with all its columns.
        incoming: Rows of the imported columns. Keys may repeat.
        other_keys: Keys that other files of the table have. Their rows are left out.
    """
    columns = [("newest" if name in file.imported else "existing", name) for name in existing.schema.names]
    query = _MERGE.format(
        key=quoted(file.key),
        imported=", ".join(map(quoted, file.imported)),
        greatest=", ".join(f"{quoted(name)} DESC NULLS LAST" for name in file.imported),
        columns=", ".join(f"{side}.{quoted(name)}" for side, name in columns),
    )
    with connect_tables(existing=existing, incoming=incoming, other_files=pa.table({"key": other_keys})) as database:
        return database.sql(query).to_arrow_table()


def count_changes(
    file: TableFile, existing: pa.Table, incoming: pa.Table, other_keys: pa.ChunkedArray, merged: pa.Table
) -> MergeCounts:
    """Count what `merge` changed. A row whose only news is a later `created_at` counts as unchanged."""
    compared = [quoted(name) for name in file.schema.names if name != "created_at"]
    query = _COUNT.format(key=quoted(file.key), compared=", ".join(compared))
    tables = {"existing": existing, "incoming": incoming, "merged": merged}
    with connect_tables(**tables, other_files=pa.table({"key": other_keys})) as database:
        [(new, changed, skipped)] = database.sql(query).fetchall()
        older = _count_older(database, file) if "created_at" in incoming.schema.names else 0
    return MergeCounts(len(merged), new, changed, len(merged) - new - changed, skipped, older=older)


def _count_older(database: duckdb.DuckDBPyConnection, file: TableFile) -> int:
    compared = [quoted(name) for name in file.imported if name not in (file.key, "created_at")]
    greatest = ", ".join(f"{name} DESC NULLS LAST" for name in compared)
    differs = " OR ".join(f"incoming.{name} IS DISTINCT FROM existing.{name}" for name in compared)
    query = _COUNT_OLDER.format(key=quoted(file.key), greatest=greatest, differs=differs)
    [(older,)] = database.sql(query).fetchall()
    return int(older)


def quoted(name: str) -> str:
    """Return a column's name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def connect_tables(**tables: pa.Table) -> duckdb.DuckDBPyConnection:
    """Open a connection to DuckDB that has these tables, and no others. The caller closes it."""
    database = _memory().cursor()
    for name, table in tables.items():
        database.register(name, table)
    return database


@cache
def _memory() -> duckdb.DuckDBPyConnection:
    """Open the database of this process: that takes 20 ms, one more connection to it half a millisecond."""
    return duckdb.connect()
