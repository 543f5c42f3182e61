"""Tasks that turn the price tables of a month from days to products.

Their output is read by the tasks of Cards, of card details and of closed periods: the newest row of each product per
table, and the rows that histories show, sorted by product and day.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from edge_auth.contract import names
from edge_auth.contract.pages import HISTORY_ARRAYS
from generator.build import estimates
from generator.build.context import BuildContext
from generator.build.periods import Period
from generator.build.sorted_parquet import ROWS_PER_GROUP, SortedParquet
from generator.build.tasks import BuildScope, ProductRange, Task
from generator.database import Database, lake_fault, sql_literal
from generator.errors import BuildError
from generator.lake.lake import PRICE_TABLES
from generator.lake.vocabulary import MAX_PRICE
from generator.pack.output import Inputs
from generator.pack.writer import Writer

MAX_ROWS_PER_TASK = 40_000_000  # of price tables: some minutes of one thread
# About 1,500 products of a month: a range of products reads little beyond its own rows.
_ROWS_PER_GROUP = 40_960
SORTED_BY = ("id_product", "day")
_ORDER = ", ".join(SORTED_BY)
GUIDE = "price_guide"  # the table, and the array of a history


def month_tasks(scope: BuildScope, month: Period) -> list[Task]:
    """Return the tasks of a month, or of the days of it that a period has. A large month is cut into several tasks."""
    rows = estimates.rows(scope.lake, month.first, month.last)
    spans = month.split(-(-rows // MAX_ROWS_PER_TASK))
    return [_month_task(scope, days, whole=len(spans) == 1) for days in spans]


def task_names(tasks: Iterable[Task]) -> tuple[str, ...]:
    """Return the names of tasks."""
    return tuple(task.name for task in tasks)


def row_files(context: BuildContext, inputs: Inputs, array: str) -> list[Path]:
    """Return the files with the rows of all products of the months among the inputs."""
    found = {name for output in inputs.values() for name in output.intermediates}
    rows = sorted(name for name in found if name.startswith(f"{array} rows "))
    return [file for name in rows for file in context.intermediate_files(inputs, name)]


def known_rows(context: BuildContext, inputs: Inputs, array: str) -> list[Path]:
    """Return the files with the rows of known products, one per task of a month. A range of products has none."""
    return context.intermediate_files(inputs, _known_name(array))


def open_history(context: BuildContext, inputs: Inputs, ids: ProductRange) -> None:
    """Make the views history_<array> over the months among the inputs, for at least a range of products."""
    for array in HISTORY_ARRAYS:
        rows = (_known_name(array), _unknown_name(array), _range_name(array, ids))
        files = [file for name in rows for file in context.intermediate_files(inputs, name)]
        context.tables.open_files(f"sorted_{array}", files)
    context.tables.open_history_views()


def _month_task(scope: BuildScope, days: Period, whole: bool) -> Task:
    name = f"month {days.first:%Y-%m}" + ("" if whole else f" days {days.first.day}-{days.last.day}")
    rows = estimates.rows(scope.lake, days.first, days.last)
    all_prices = names.bulk_layer(f"{days.first:%Y-%m}") in scope.missing
    return Task(
        name,
        "",
        _month,
        (days, scope.ranges, all_prices),
        rows=rows,
        reads=scope.lake.size(*PRICE_TABLES, first=days.first, last=days.last),
        writes=rows * estimates.HISTORY_ROW_BYTES,
    )


def _month(
    context: BuildContext,
    writer: Writer,
    inputs: Inputs,
    days: Period,
    ranges: tuple[ProductRange, ...],
    all_prices: bool,
) -> None:
    """Write the rows of a month; with `all_prices`, those of the price guide with columns that no history shows."""
    context.tables.open_month(days)
    if writer.intermediates.in_place:
        for array in HISTORY_ARRAYS:
            _write_rows(context, writer, array, all_prices)
    else:  # another machine fetches a range, not the month
        context.tables.check_price_guide()
        for array in HISTORY_ARRAYS:
            _write_ranges(context, writer, array, all_prices, ranges)
    context.tables.open_newest_of_month()
    for table in PRICE_TABLES:
        newest = f"from newest_in_month_{table} order by id_product"
        writer.add_intermediate(table, _write_parquet(context.db, table, newest))


def _write_ranges(
    context: BuildContext, writer: Writer, array: str, all_prices: bool, ranges: tuple[ProductRange, ...]
) -> None:
    """Write sorted rows as one file per range of products."""
    view = "month_all_prices" if array == GUIDE and all_prices else f"month_{array}"
    rows = _write_parquet(context.db, array, f"from {view} order by {_ORDER}")
    for ids, path in _split(context.db, rows, ranges):
        writer.add_intermediate(_range_name(array, ids), path)
    rows.unlink()


def _write_rows(context: BuildContext, writer: Writer, array: str, all_prices: bool) -> None:
    """Write sorted rows as two files: those of products that the catalogue knows, and the others.

    Raises:
        LakeError: A row of the price guide breaks a rule.
    """
    known_ids = context.tables.product_ids()
    known, unknown = (context.db.scratch / f"{array}-{name}.parquet" for name in ("known", "unknown"))
    schema, batches = _sorted_rows(context, array, all_prices)
    with SortedParquet(known, schema, SORTED_BY) as rows, SortedParquet(unknown, schema, SORTED_BY) as other_rows:
        for batch in batches:
            ids = batch["id_product"].to_numpy()
            near = slice(np.searchsorted(known_ids, ids[0]), np.searchsorted(known_ids, ids[-1], "right"))
            is_known = np.isin(ids, known_ids[near])
            if is_known.all():
                rows.add(batch)
            else:
                rows.add(batch.filter(pa.array(is_known)))
                other_rows.add(batch.filter(pa.array(~is_known)))
    writer.add_intermediate(_known_name(array), known)
    writer.add_intermediate(_unknown_name(array), unknown)


def _sorted_rows(context: BuildContext, array: str, all_prices: bool) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the sorted rows of an array in the open month, and their schema.

    Raises:
        LakeError: The price guide cannot be read.
    """
    if array != GUIDE:
        reader = _sorted_reader(context, f"month_{array}")
        return reader.schema, reader
    shown = context.db.connection.sql(f"from month_{GUIDE}").columns
    try:
        reader = _sorted_reader(context, "month_all_prices")
    except duckdb.Error as error:
        raise lake_fault(error, f"{GUIDE}: cannot be read") from error
    if all_prices:
        return reader.schema, _checked(context, reader)
    schema = pa.schema([field for field in reader.schema if field.name in shown])
    return schema, (batch.select(schema.names) for batch in _checked(context, reader))


def _sorted_reader(context: BuildContext, view: str) -> pa.RecordBatchReader:
    return context.db.connection.sql(f"from {view} order by {_ORDER}").to_arrow_reader(ROWS_PER_GROUP)


def _checked(context: BuildContext, batches: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Yield the sorted rows of the price guide, with all prices.

    The rules in `build/checks/price_guide.sql.j2` read the files once more, to name what is wrong.

    Raises:
        LakeError: A row breaks a rule.
    """
    last_key = None
    for batch in batches:
        if _has_null_id(batch) or _repeats(batch, last_key) or not all(map(_are_prices, batch.columns[2:])):
            batches.close()  # a connection has one result at a time
            context.tables.check_price_guide()
            raise BuildError("rows of the price guide break a rule, and its checks do not say which")
        yield batch
        last_key = _key(batch, -1)


def _has_null_id(batch: pa.RecordBatch) -> bool:
    return bool(batch["id_product"].null_count)


def _are_prices(numbers: pa.Array) -> bool:
    """Return whether all numbers are prices or null."""
    if pc.any(pc.is_nan(numbers)).as_py():
        return False
    found = pc.min_max(numbers).as_py()
    return found["min"] is None or bool(found["min"] >= 0 and found["max"] <= MAX_PRICE)


def _key(batch: pa.RecordBatch, place: int) -> tuple[Any, ...]:
    return tuple(batch[name][place].as_py() for name in SORTED_BY)


def _repeats(batch: pa.RecordBatch, last_key: tuple[Any, ...] | None) -> bool:
    """Return whether a product has two rows of a day, in a sorted batch or in it and the row before it."""
    ids, days = batch["id_product"].to_numpy(), batch["day"].cast(pa.int32()).to_numpy()
    repeated = (ids[1:] == ids[:-1]) & (days[1:] == days[:-1])
    return bool(repeated.any()) or _key(batch, 0) == last_key


def _known_name(array: str) -> str:
    return f"{array} rows of known products"


def _unknown_name(array: str) -> str:
    return f"{array} rows of unknown products"


def _range_name(array: str, ids: ProductRange) -> str:
    return f"{array} rows {ids.number}"


def _write_parquet(db: Database, name: str, query: str) -> Path:
    """Write the result of a query as a Parquet file of the database's own folder."""
    path = db.scratch / f"{name}.parquet"
    db.connection.execute(f"copy ({query}) to {sql_literal(path)} (row_group_size {_ROWS_PER_GROUP})")
    return path


def _split(db: Database, file: Path, ranges: tuple[ProductRange, ...]) -> Iterator[tuple[ProductRange, Path]]:
    for ids in ranges:
        query = f"from read_parquet({sql_literal(file)}) where {ids.condition} order by id_product, day"
        yield ids, _write_parquet(db, f"range-{ids.number}", query)
