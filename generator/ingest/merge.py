"""What files say joined with what the lake has: one row per key, the newest wins, in any order of imports."""

from typing import NamedTuple

import duckdb
import pyarrow as pa

from generator.ingest.tables import LakeTable

# The order in which rows win is total over what they say (newest, then greatest by every column, null least),
# so the outcome cannot depend on the order or the number of imports.
NEWEST = """
WITH newest AS (
    SELECT {owned} FROM (SELECT {owned} FROM incoming UNION ALL SELECT {owned} FROM existing)
    WHERE {key} NOT IN (SELECT key FROM elsewhere)
    QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY created_at DESC NULLS LAST, {greatest}) = 1
)
SELECT {columns} FROM newest LEFT JOIN existing USING ({key}) ORDER BY {key}
"""

COUNTS = """
SELECT (SELECT count(*) FROM merged ANTI JOIN existing USING ({key})),
       (SELECT count(*) FROM (SELECT {said} FROM merged SEMI JOIN existing USING ({key})
                              EXCEPT SELECT {said} FROM existing)),
       (SELECT count(DISTINCT {key}) FROM incoming WHERE {key} IN (SELECT key FROM elsewhere))
"""


class MergeCounts(NamedTuple):
    """What an import did to a table, in rows.

    `elsewhere`: rows of the files that were left out, since another file of the lake has that id.
    """

    rows: int
    new: int
    changed: int
    unchanged: int
    elsewhere: int


class DayCounts(NamedTuple):
    """What an import did to the file of a day, in rows.

    `elsewhere`: rows left out since another file of the day has that product and time; `lesser`: rows left out since
    the lake has a greater one of the same product and time.
    """

    rows: int
    new: int
    changed: int
    unchanged: int
    elsewhere: int
    lesser: int


class Change(NamedTuple):
    """A file of the lake after an import; without `data` nothing changed, without `counts` nothing is told of it."""

    name: str
    counts: MergeCounts | DayCounts | None
    data: pa.Buffer | None


def merge(table: LakeTable, existing: pa.Table, incoming: pa.Table, elsewhere: pa.ChunkedArray) -> pa.Table:
    """The table after an import: sorted by key, owned columns from the newest row, the others as they were.

    Args:
        existing: the table as the lake has it, with all its columns.
        incoming: rows of the owned columns, several per key perhaps.
        elsewhere: keys that other files of the lake have, which the table leaves to them.
    """
    columns = [("newest" if name in table.owned else "existing", name) for name in existing.schema.names]
    query = NEWEST.format(
        key=quoted(table.key),
        owned=", ".join(map(quoted, table.owned)),
        greatest=", ".join(f"{quoted(name)} DESC NULLS LAST" for name in table.owned),
        columns=", ".join(f"{side}.{quoted(name)}" for side, name in columns),
    )
    with connected(existing=existing, incoming=incoming, elsewhere=pa.table({"key": elsewhere})) as database:
        return database.sql(query).to_arrow_table()


def count(
    table: LakeTable, existing: pa.Table, incoming: pa.Table, elsewhere: pa.ChunkedArray, merged: pa.Table
) -> MergeCounts:
    """What `merge` changed; a row that only was confirmed by a newer file is unchanged."""
    said = [quoted(name) for name in table.schema.names if name != "created_at"]
    query = COUNTS.format(key=quoted(table.key), said=", ".join(said))
    with connected(
        existing=existing, incoming=incoming, elsewhere=pa.table({"key": elsewhere}), merged=merged
    ) as database:
        [(new, changed, left)] = database.sql(query).fetchall()
    return MergeCounts(len(merged), new, changed, len(merged) - new - changed, left)


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def connected(**tables: pa.Table) -> duckdb.DuckDBPyConnection:
    """A database that has these tables, to close after use."""
    database = duckdb.connect()
    for name, table in tables.items():
        database.register(name, table)
    return database
