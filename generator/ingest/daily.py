"""What scrapers saw on a day, joined with what the lake has: one row per product and time, in any order of imports.

The row that stands for a product and time is the one that is greatest by all its columns, null least, as the contract
has it for equal times (section 1). So the tables depend neither on the order of imports nor on their number.
"""

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator.ingest.merge import Change, DayCounts, connected, quoted
from generator.ingest.shapes import LIST_PAGE, OFFERS, WATCH_CHECK
from generator.ingest.tables import LakeTable, LakeWriter, encode

MERGED = """
SELECT {columns}
FROM (FROM (SELECT {columns} FROM incoming UNION ALL SELECT {columns} FROM existing) ANTI JOIN elsewhere USING ({key}))
QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY {greatest}) = 1
ORDER BY {time}::DATE, {key}
"""

COUNTS = """
WITH said AS (SELECT DISTINCT {columns} FROM incoming),
counted AS (
    SELECT {time} AS moment, 'rows' AS what FROM merged
    UNION ALL SELECT {time}, 'new' FROM merged ANTI JOIN existing USING ({key})
    UNION ALL SELECT {time}, 'changed' FROM (FROM merged SEMI JOIN existing USING ({key}) EXCEPT FROM existing)
    UNION ALL SELECT {time}, 'elsewhere' FROM said SEMI JOIN elsewhere USING ({key})
    UNION ALL SELECT {time}, 'lesser' FROM (FROM said ANTI JOIN elsewhere USING ({key}) EXCEPT FROM merged)
)
PIVOT (SELECT moment::DATE AS day, what FROM counted)
ON what IN ('rows', 'new', 'changed', 'elsewhere', 'lesser') GROUP BY day ORDER BY day
"""


class DailyTable(NamedTuple):
    """A partitioned table as imports write it: `monitor.parquet` in the folder of each day of its `time` column."""

    name: str
    product: str
    time: str
    schema: pa.Schema

    def file(self, day: date) -> LakeTable:
        name = f"{self.name}/day={day.isoformat()}/monitor.parquet"
        return LakeTable(name, "", self.product, self.schema, tuple(self.schema.names))


LISTINGS = DailyTable("listings", "id_product", "scraped_at", pa.schema(list(LIST_PAGE.schema)[:6]))
FILTERED_CHECKS = DailyTable("filtered_checks", "id_product", "checked_at", OFFERS.schema)
WATCH_CHECKS = DailyTable("watch_checks", "slug", "checked_at", WATCH_CHECK.schema)


def merge_days(lake: LakeWriter, table: DailyTable, incoming: pa.Table) -> Iterator[Change]:
    """The files of the days that incoming rows fall on, in the order of days."""
    days = pc.unique(incoming[table.time].cast(pa.date32())).sort().to_pylist()
    if not days:
        return
    files = {day: table.file(day) for day in days}
    before = {day: lake.read(file).select(table.schema.names) for day, file in files.items()}
    key = pa.schema([table.schema.field(table.product), table.schema.field(table.time)])
    elsewhere = pa.concat_tables(lake.columns_elsewhere(file, key) for file in files.values())
    existing = pa.concat_tables(before.values())
    merged, counts = _merged(table, existing, incoming, elsewhere)
    place = 0
    for day, file in files.items():
        counted = counts[day]
        after = merged.slice(place, counted.rows)
        place += counted.rows
        yield Change(file.name, counted, None if after.equals(before[day]) else encode(after))


def _merged(
    table: DailyTable, existing: pa.Table, incoming: pa.Table, elsewhere: pa.Table
) -> tuple[pa.Table, dict[date, DayCounts]]:
    names = {
        "columns": ", ".join(map(quoted, table.schema.names)),
        "key": f"{table.product}, {table.time}",
        "time": table.time,
        "greatest": ", ".join(f"{_comparable(field)} DESC NULLS LAST" for field in table.schema),
    }
    with connected(existing=existing, incoming=incoming, elsewhere=elsewhere) as database:
        merged = database.sql(MERGED.format(**names)).to_arrow_table().cast(table.schema)
        database.register("merged", merged)
        rows = database.sql(COUNTS.format(**names)).fetchall()
    counts = {
        day: DayCounts(total, new, changed, total - new - changed, left, lesser)
        for day, total, new, changed, left, lesser in rows
    }
    return merged, counts


def _comparable(field: pa.Field) -> str:
    """A column as something that compares with null least, also within the offers of a list."""
    if not pa.types.is_list(field.type):
        return quoted(field.name)
    parts = [
        f"has_{part.name}: offer.{part.name} IS NOT NULL, {part.name}: coalesce(offer.{part.name}, {_zero(part.type)})"
        for part in field.type.value_type
    ]
    return f"list_transform({quoted(field.name)}, lambda offer: {{{', '.join(parts)}}})"


def _zero(type_: pa.DataType) -> str:
    return "''" if pa.types.is_string(type_) else "0"
