"""Writes the sorted rows of the open month as Parquet files, and checks the rules of the price guide on them.

While the rows pass, it collects the newest one of each product. A row that breaks a rule raises LakeError.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import date
from math import isnan
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from generator.database import Database, query_fault
from generator.errors import BuildError, LakeError
from generator.lake.tables import MAX_PRICE, check_rules
from generator.making.context import BuildContext
from generator.making.sorted_parquet import ROWS_PER_GROUP, ROWS_PER_GROUP_OF_DAY, SortedParquet

SORTED_BY = ("id_product", "day")
GUIDE = "price_guide"  # the table, and the array of a history


class NewestRows:
    """Collects the newest row of each product from sorted batches, while they pass."""

    def __init__(self, schema: pa.Schema):
        self._rows = [schema.empty_table()]
        self._counts = [np.empty(0, np.int64)]

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the newest rows of the next batch."""
        lasts = _lasts(batch["id_product"])
        self._rows.append(pa.Table.from_batches([batch.take(pa.array(lasts))]))
        self._counts.append(np.diff(lasts, prepend=-1))

    def table(self) -> pa.Table:
        """Return one row per product, in the order of their ids, with the columns of `views/month_newest.sql`."""
        rows, counts = pa.concat_tables(self._rows).combine_chunks(), np.concatenate(self._counts)
        lasts = _lasts(rows["id_product"])  # the rows of a product can be in several batches
        n_rows = np.diff(np.cumsum(counts)[lasts], prepend=0)
        columns = {"n_rows": n_rows, "n_outside": np.zeros_like(n_rows), "n_dropped": np.zeros_like(n_rows)}
        newest = rows.take(pa.array(lasts))
        for name, values in columns.items():
            newest = newest.append_column(name, pa.array(values, pa.int64()))
        return newest


def _lasts(ids: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
    numbers = ids.to_numpy()
    return np.flatnonzero(np.append(numbers[1:] != numbers[:-1], np.ones(min(len(numbers), 1), np.bool_)))


def write_sorted_rows(
    context: BuildContext,
    array: str,
    all_prices: bool,
    days_apart: Sequence[date],
    newest: NewestRows | None = None,
) -> tuple[Path, ...]:
    """Write the sorted rows of an array of the open month as local files.

    Args:
        all_prices: Whether the first two files also have the columns of the price guide that no history shows.
        days_apart: Days whose rows get files of their own too, with all columns. They ascend.

    Returns:
        The files: of products that the catalogue knows, of other products, and of known products on each day apart.
    """
    known_ids, shown = context.tables.product_ids(), context.db.connection.sql(f"from month_{array}").columns
    schema, batches = _sorted_rows(context, array)
    kept = schema if all_prices else pa.schema([field for field in schema if field.name in shown])
    paths = [context.db.scratch / f"{array}-{name}.parquet" for name in ("known", "unknown", *days_apart)]
    other_columns = tuple(schema.names[1:])  # on a day each id is another
    forms = [(kept, None, ROWS_PER_GROUP)] * 2 + [(schema, other_columns, ROWS_PER_GROUP_OF_DAY)] * len(days_apart)
    with ExitStack() as stack:
        files = [
            SortedParquet(stack.enter_context(path.open("w+b")), has, SORTED_BY, repeated, rows)
            for path, (has, repeated, rows) in zip(paths, forms, strict=True)
        ]
        known_file, unknown_file, *day_files = [stack.enter_context(file) for file in files]
        for batch in batches:
            if newest:
                newest.add(batch)
            is_known = _is_known(batch, known_ids)
            known = batch if is_known.all() else batch.filter(pa.array(is_known))
            known_file.add(known.select(kept.names))
            if known is not batch:
                unknown_file.add(batch.filter(pa.array(~is_known)).select(kept.names))
            for place, rows in _by_day(known, days_apart):
                day_files[place].add(rows)
    return tuple(paths)


def _is_known(batch: pa.RecordBatch, known_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    ids = batch["id_product"].to_numpy()
    firsts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    near = slice(np.searchsorted(known_ids, ids[0]), np.searchsorted(known_ids, ids[-1], "right"))
    is_known = np.isin(ids[firsts], known_ids[near], assume_unique=True)
    return np.repeat(is_known, np.diff(firsts, append=len(ids)))


def _by_day(rows: pa.RecordBatch, days: Sequence[date]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the rows of each of some ascending days, in their order, with the place of the day."""
    wanted = np.array(days, "datetime64[D]").astype(np.int32)
    number = rows["day"].cast(pa.int32()).to_numpy()
    places = np.flatnonzero(np.isin(number, wanted))
    order = places[np.argsort(number[places], kind="stable")]
    by_day = rows.take(pa.array(order))
    starts, ends = (np.searchsorted(number[order], wanted, side).tolist() for side in ("left", "right"))
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start < end:
            yield place, by_day.slice(start, end - start)


def _sorted_rows(context: BuildContext, array: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the sorted rows of an array in the open month, with all columns, and their schema."""
    if array != GUIDE:
        reader = _sorted_reader(context, f"month_{array}")
        return reader.schema, reader
    try:
        reader = _sorted_reader(context, "month_all_prices")
    except duckdb.Error as error:
        raise query_fault(error, f"{GUIDE}: cannot be read", LakeError) from error
    return reader.schema, _checked(context.db, reader)


def _sorted_reader(context: BuildContext, view: str) -> pa.RecordBatchReader:
    ordered = f"from {view} order by {', '.join(SORTED_BY)}"
    return context.db.connection.sql(ordered).to_arrow_reader(ROWS_PER_GROUP)


def _checked(db: Database, batches: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Yield the sorted rows of the price guide. The rules read the files once more only to name what is wrong."""
    last_key = None
    for batch in batches:
        if batch["id_product"].null_count or _repeats(batch, last_key) or not all(map(_are_prices, batch.columns[2:])):
            batches.close()  # a connection has one result at a time
            check_rules(db, [GUIDE])
            raise BuildError("rows of the price guide break a rule, and its checks do not say which")
        yield batch
        last_key = _key(batch, -1)


def _are_prices(numbers: pa.Array) -> bool:
    total, found = pc.sum(numbers).as_py(), pc.min_max(numbers).as_py()  # only the sum counts NaN
    return total is None or bool(not isnan(total) and found["min"] >= 0 and found["max"] <= MAX_PRICE)


def _key(batch: pa.RecordBatch, place: int) -> tuple[Any, ...]:
    return tuple(batch[name][place].as_py() for name in SORTED_BY)


def _repeats(batch: pa.RecordBatch, last_key: tuple[Any, ...] | None) -> bool:
    """Return whether a product has two rows of a day, in a sorted batch or in it and the row before it."""
    ids, days = batch["id_product"].to_numpy(), batch["day"].cast(pa.int32()).to_numpy()
    repeated = (ids[1:] == ids[:-1]) & (days[1:] == days[:-1])
    return bool(repeated.any()) or _key(batch, 0) == last_key
