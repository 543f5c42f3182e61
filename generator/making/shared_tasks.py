"""The tasks that several layers share: a month of the price tables, and the Cards of a range of products.

Those of a month turn the tables from days to products. Their output is read by the tasks of Cards, of card details, of
closed periods and of bulk files: the newest row of each product per table, and the rows that histories and bulk files
hold, sorted by product and day. While the sorted rows pass, the rules of the price guide are checked on them; a row
that breaks one raises LakeError. The Cards are read by the layers `catalogue` and `bulk-cards`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import date
from math import isnan
from typing import Any, BinaryIO

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from generator.database import Database, query_fault, sql_literal
from generator.errors import BuildError, LakeError
from generator.lake.files import PRICE_TABLES
from generator.lake.tables import MAX_PRICE, check_rules
from generator.making.lake_tables import CATALOGUE
from generator.making.layer import Period, ProductRange, Task, open_month
from generator.making.plan import Plan
from generator.making.sorted_parquet import ROWS_PER_GROUP, ROWS_PER_GROUP_OF_DAY, sorted_file
from generator.making.work import Intermediate, Work
from generator.storage import layout
from generator.storage.bodies import HISTORY_ARRAYS
from generator.storage.layers import map_table, text_column, to_bytes

SORTED_BY = ("id_product", "day")
GUIDE = "price_guide"  # the table, and the array of a history
MAX_ROWS_PER_TASK = 40_000_000  # of price tables: some minutes of one thread
# About 1,500 products of a month: a range of products reads little beyond its own rows.
_ROWS_PER_GROUP = 40_960
LINES_AT_ONCE = 500  # of Cards
SIZE = "line_bytes"  # a column: the bytes of a Card and its line break


def month_tasks(plan: Plan, month: Period) -> list[Task]:
    """Return the tasks of a month, or of the days of it that a period has. A large month is cut into several tasks."""
    spans = month.split(-(-month.estimated_rows(plan.lake) // MAX_ROWS_PER_TASK))
    return [_month_task(plan, days, whole=len(spans) == 1) for days in spans]


def task_names(tasks: Iterable[Task]) -> tuple[str, ...]:
    return tuple(task.name for task in tasks)


def open_history(work: Work) -> None:
    """Make the views history_<array> over the months among the inputs."""
    for array in HISTORY_ARRAYS:
        kinds = (Intermediate.KNOWN_ROWS, Intermediate.UNKNOWN_ROWS)
        work.tables.open_files(
            f"sorted_{array}", [file for kind in kinds for file in work.intermediate_files(kind.of(array))]
        )
    work.tables.run_once("views/history")


def open_newest(work: Work, closed: Iterable[str], ids: ProductRange | None = None) -> None:
    """Make the views all_<table> and newest_<table> over the open month and the layers of all closed periods."""
    for table in PRICE_TABLES:
        month = work.intermediate_files(Intermediate.NEWEST_ROWS.of(table))
        periods = [work.file(layer, table) for layer in closed]
        work.tables.open_files(f"all_{table}", [*month, *periods], ids)
    work.tables.run_once("sources/price_guide", "views/newest")


def _month_task(plan: Plan, days: Period, whole: bool) -> Task:
    name = f"month {days.first:%Y-%m}" + ("" if whole else f" days {days.first.day}-{days.last.day}")
    has_bulk_file = layout.sublayer(layout.BULK, f"{days.first:%Y-%m}") in plan.missing
    bulk_days = tuple(day.first for day in days.days() if layout.sublayer(layout.BULK, day.span) in plan.missing)
    return Task(name, "", _month, (days, has_bulk_file, bulk_days), rows=days.estimated_rows(plan.lake))


def _month(work: Work, days: Period, has_bulk_file: bool, bulk_days: tuple[date, ...]) -> None:
    """Write the rows of a month: for a bulk file with columns that no history shows, and days apart for their own."""
    with work.tables.month(days):
        newest_prices = NewestRows(work.db.table("from month_all_prices limit 0").schema)
        for array in HISTORY_ARRAYS:
            write_sorted_rows(work, array, has_bulk_file, bulk_days, newest_prices if array == GUIDE else None)
        work.db.run("views/month_newest")  # of all tables but the price guide
        _add_newest(work, newest_prices.table())


def _add_newest(work: Work, prices: pa.Table) -> None:
    with work.db.registered(newest_in_month_price_guide=prices):
        for table in PRICE_TABLES:
            path, rows = work.db.scratch / "result.parquet", f"from newest_in_month_{table} order by id_product"
            work.db.connection.execute(f"copy ({rows}) to {sql_literal(path)} (row_group_size {_ROWS_PER_GROUP})")
            work.add_intermediate(Intermediate.NEWEST_ROWS.of(table), path)


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
    work: Work,
    array: str,
    all_prices: bool,
    days_apart: Sequence[date],
    newest: NewestRows | None,
) -> None:
    """Write the sorted rows of an array of the open month: those of products that the catalogue knows, and the others.

    Args:
        all_prices: Whether these files also have the columns of the price guide that no history shows.
        days_apart: Days whose rows of known products get files of their own too, with all columns. They ascend.
    """
    known_ids, shown = work.tables.product_ids(), work.db.connection.sql(f"from month_{array}").columns
    schema, batches = _sorted_rows(work.db, array)
    kept = schema if all_prices else pa.schema([field for field in schema if field.name in shown])
    names = [Intermediate.KNOWN_ROWS.of(array), Intermediate.UNKNOWN_ROWS.of(array)]
    names += [Intermediate.ROWS_OF_DAY.of(array, day) for day in days_apart]
    other_columns = tuple(schema.names[1:])  # on a day each id is another
    forms = [(kept, None, ROWS_PER_GROUP)] * 2 + [(schema, other_columns, ROWS_PER_GROUP_OF_DAY)] * len(days_apart)
    with ExitStack() as stack:
        add_known, add_unknown, *add_to_day = [
            stack.enter_context(sorted_file(work.db.scratch / name, has, SORTED_BY, repeated, rows))
            for name, (has, repeated, rows) in zip(names, forms, strict=True)
        ]
        for batch in batches:
            if newest:
                newest.add(batch)
            is_known = _is_known(batch, known_ids)
            known = batch if is_known.all() else batch.filter(pa.array(is_known))
            add_known(known.select(kept.names))
            if known is not batch:
                add_unknown(batch.filter(pa.array(~is_known)).select(kept.names))
            for place, rows in _by_day(known, days_apart):
                add_to_day[place](rows)
    for name in names:
        work.add_intermediate(name, work.db.scratch / name)


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


def _sorted_rows(db: Database, array: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the sorted rows of an array in the open month, with all columns, and their schema."""
    view = "month_all_prices" if array == GUIDE else f"month_{array}"
    try:
        reader = db.connection.sql(f"from {view} order by {', '.join(SORTED_BY)}").to_arrow_reader(ROWS_PER_GROUP)
    except duckdb.Error as error:
        if array != GUIDE:  # whose rules have read the rows before
            raise
        raise query_fault(error, f"{GUIDE}: cannot be read", LakeError) from error
    return reader.schema, _checked(db, reader) if array == GUIDE else reader


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


def card_tasks(plan: Plan) -> tuple[list[Task], list[Task]]:
    """Return the tasks that every layer with Cards begins with: of the open month, and of each range of products."""
    month = month_tasks(plan, open_month(plan.lake.as_of))
    needs = (*task_names(month), *map(newest_task_name, plan.made_of(plan.closed_layers)))
    closed = plan.closed_layers
    return month, [Task(f"products {ids}", "", _products, (ids, closed), needs, rows=ids.count) for ids in plan.ranges]


def card_rows(work: Work) -> pa.Table:
    """Return the sort keys and sizes of the Cards among the inputs, by id, mapped into memory."""
    return pa.concat_tables(map_table(path) for path in work.intermediate_files(Intermediate.CARDS))


def card_texts(work: Work) -> Iterator[tuple[bytes, list[int]]]:
    """Yield the texts of the Cards, in the order of `card_rows`, many at once: one after the other, and their sizes."""
    sizes = card_rows(work)[SIZE].to_pylist()
    with ExitStack() as stack:
        files: list[BinaryIO] = [
            stack.enter_context(path.open("rb")) for path in work.intermediate_files(Intermediate.CARD_TEXTS)
        ]
        for start in range(0, len(sizes), LINES_AT_ONCE):
            some = sizes[start : start + LINES_AT_ONCE]
            yield _read(files, sum(some)), some


def _read(files: list[BinaryIO], size: int) -> bytes:
    """Read from files, one after the other. Those that end are dropped."""
    text = files[0].read(size)
    while len(text) < size:
        files.pop(0)
        text += files[0].read(size - len(text))
    return text


def newest_task_name(layer: str) -> str:
    """Return the name of the task that makes the newest rows of a closed period."""
    return f"{layer} newest rows"


def _products(work: Work, ids: ProductRange, closed: tuple[str, ...]) -> None:
    work.tables.open(CATALOGUE)
    work.db.connection.execute(f"create or replace view task_products as from products where {ids.condition}")
    open_newest(work, closed, ids)
    work.db.run("views/market_price", "views/cards")
    cards = work.db.table("from cards order by id_product").combine_chunks()
    text, starts = text_column(cards, "line")
    sizes, path = pa.array(np.diff(starts).astype(np.uint32)), work.db.scratch / "cards"
    path.write_bytes(to_bytes(cards.drop_columns("line").append_column(SIZE, sizes)))
    work.add_intermediate(Intermediate.CARDS, path)
    path.write_bytes(text[starts[0] : starts[-1]].data)
    work.add_intermediate(Intermediate.CARD_TEXTS, path)
    work.db.connection.execute("drop table cards")
