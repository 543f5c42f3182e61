"""Merges scraped rows into daily tables: one row per product and time, whatever the order of imports.

Of several rows of one product and time the greatest by all columns wins, null least. A build orders rows of
equal times the same way. So the tables depend neither on the order nor on the number of imports.
"""

from collections.abc import Iterator
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

from generator.ingest.merge import FileChange, MergeCounts, connect_tables, quoted
from generator.ingest.table_files import DailyTable
from generator.lake.writer import LakeWriter, encode_parquet

_MERGE = """
SELECT {columns}
FROM (
    FROM (SELECT {columns} FROM incoming UNION ALL SELECT {columns} FROM existing) ANTI JOIN other_files USING ({key})
)
QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY {greatest}) = 1
ORDER BY {time}::DATE, {key}
"""

_COUNT = """
WITH imported AS (SELECT DISTINCT {columns} FROM incoming),
counted AS (
    SELECT {time} AS moment, 'rows' AS what FROM merged
    UNION ALL SELECT {time}, 'new' FROM merged ANTI JOIN existing USING ({key})
    UNION ALL SELECT {time}, 'changed' FROM (FROM merged SEMI JOIN existing USING ({key}) EXCEPT FROM existing)
    UNION ALL SELECT {time}, 'in_other_files' FROM imported SEMI JOIN other_files USING ({key})
    UNION ALL SELECT {time}, 'outranked'
    FROM (FROM imported ANTI JOIN other_files USING ({key}) EXCEPT FROM merged)
)
PIVOT (SELECT moment::DATE AS day, what FROM counted)
ON what IN ('rows', 'new', 'changed', 'in_other_files', 'outranked') GROUP BY day ORDER BY day
"""


def merge_days(lake: LakeWriter, table: DailyTable, incoming: pa.Table) -> Iterator[FileChange]:
    """Merge rows into the files of their days, and yield the files in the order of days."""
    days = pc.unique(incoming[table.time].cast(pa.date32())).sort().to_pylist()
    if not days:
        return
    schema = table.schema
    files = {day: table.file(day) for day in days}
    before = {day: file.read(lake).select(schema.names) for day, file in files.items()}
    key = pa.schema([schema.field(table.product), schema.field(table.time)])
    other_files = pa.concat_tables(file.read_other_files(lake, key) for file in files.values())
    merged, counts = _merge(table, pa.concat_tables(before.values()), incoming, other_files)
    start = 0
    for day, file in files.items():
        after = merged.slice(start, counts[day].rows)
        start += counts[day].rows
        yield FileChange(file.path, counts[day], None if after.equals(before[day]) else encode_parquet(after))


def _merge(
    table: DailyTable, existing: pa.Table, incoming: pa.Table, other_files: pa.Table
) -> tuple[pa.Table, dict[date, MergeCounts]]:
    """Return the rows of all days, sorted by day, and what changed on each day."""
    schema = table.schema
    names = {
        "columns": ", ".join(map(quoted, schema.names)),
        "key": f"{table.product}, {table.time}",
        "time": table.time,
        "greatest": ", ".join(f"{_comparable(field)} DESC NULLS LAST" for field in schema),
    }
    with connect_tables(existing=existing, incoming=incoming, other_files=other_files) as database:
        merged = database.sql(_MERGE.format(**names)).to_arrow_table().cast(schema)
        database.register("merged", merged)
        rows = database.sql(_COUNT.format(**names)).fetchall()
    counts = {
        day: MergeCounts(total, new, changed, total - new - changed, skipped, outranked)
        for day, total, new, changed, skipped, outranked in rows
    }
    return merged, counts


def _comparable(field: pa.Field) -> str:
    """Return SQL by which a column compares with null least, also within the offers of a list."""
    if not pa.types.is_list(field.type):
        return quoted(field.name)
    members = [
        f"has_{member.name}: offer.{member.name} IS NOT NULL, "
        f"{member.name}: coalesce(offer.{member.name}, {_zero(member.type)})"
        for member in field.type.value_type
    ]
    return f"list_transform({quoted(field.name)}, lambda offer: {{{', '.join(members)}}})"


def _zero(type_: pa.DataType) -> str:
    return "''" if pa.types.is_string(type_) else "0"
