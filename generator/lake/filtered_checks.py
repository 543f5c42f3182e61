"""Makes the tables check_summaries and newest_checks of some files of checks under the seller filter.

Arrow makes the rows of usual files. DuckDB makes the rows of other files, and reports what is wrong with them.
"""

import itertools
from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from generator.database import Database, lake_fault
from generator.lake.files import LakeFile
from generator.lake.offer_numbers import read_usual
from generator.lake.tables import OFFER_SUMMARIES, open_table

_TABLE = "filtered_checks"
NEWEST_CHECKS = "sources/newest_checks"
_ROWS_PER_INSERT = 250_000  # DuckDB writes smaller inserts twice; its row groups have 122,880 rows
_SUMMARIES = "select * exclude (offer_list) from summarised('raw.filtered_checks')"


def summarise_checks(database: Database, files: Sequence[LakeFile]) -> None:
    """Make the tables check_summaries and newest_checks of these files, over which raw.filtered_checks is open.

    The order of their rows has no meaning.

    Raises:
        LakeError: A file cannot be read.
    """
    open_table(database, _TABLE, ())
    try:
        database.run(OFFER_SUMMARIES[_TABLE], NEWEST_CHECKS)  # the tables, without rows
        others = _insert_usual(database, files)
        if others:
            open_table(database, _TABLE, others)
            database.connection.execute(f"insert into check_summaries {_SUMMARIES}")
        open_table(database, _TABLE, files)
        if others:
            database.run(NEWEST_CHECKS)
    except duckdb.Error as error:
        raise lake_fault(error, f"{_TABLE}: cannot be read") from error


def _insert_usual(database: Database, files: Sequence[LakeFile]) -> list[LakeFile]:
    """Insert the rows of the usual files, the newest day first. Return the other files."""
    others = []
    newer: NDArray[np.int64] = np.empty(0, np.int64)  # the products of newer days
    waiting: list[pa.RecordBatch] = []
    newest_first = sorted(files, key=lambda file: str(file.day), reverse=True)
    for _, same_day in itertools.groupby(newest_first, key=lambda file: file.day):
        found = [newer]
        for file in same_day:
            read = read_usual(file, newer)
            if read is None:
                others.append(file)
                continue
            for rows in read:
                waiting.append(rows.summaries)
                found.append(rows.newest["id_product"].to_numpy())
                _insert(database, "newest_checks", [rows.newest])
            if sum(map(len, waiting)) >= _ROWS_PER_INSERT:
                _insert(database, "check_summaries", waiting)
        newer = np.concatenate(found)
    _insert(database, "check_summaries", waiting)
    return others


def _insert(database: Database, table: str, batches: list[pa.RecordBatch]) -> None:
    """Insert rows, and forget them."""
    if any(map(len, batches)):
        database.insert(table, "by name from batch", pa.Table.from_batches(batches))
    batches.clear()
