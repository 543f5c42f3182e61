"""Makes tables of some files of checks under the seller filter: check_summaries, newest_checks and repeated_keys.

Arrow makes the rows of usual files. DuckDB makes the rows of other files, and reports what is wrong with them.
"""

import itertools
from collections.abc import Sequence
from datetime import date

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from generator.database import Database, query_fault
from generator.errors import LakeError
from generator.lake.files import LakeFile
from generator.lake.offer_numbers import read_usual
from generator.lake.tables import OFFER_SUMMARIES, open_table

_TABLE = "filtered_checks"
NUMBERS_OF_CHECKS = (OFFER_SUMMARIES[_TABLE], "sources/newest_checks", "sources/repeated_keys")
_NONE: NDArray[np.int64] = np.empty(0, np.int64)
_ROWS_PER_INSERT = 250_000  # DuckDB writes smaller inserts twice; its row groups have 122,880 rows
_SUMMARIES = "select * exclude (offer_list) from summarised('raw.filtered_checks')"


def summarise_checks(database: Database, files: Sequence[LakeFile]) -> None:
    """Make the tables of these files, over which raw.filtered_checks is open.

    The order of their rows has no meaning.

    Raises:
        LakeError: A file cannot be read.
    """
    open_table(database, _TABLE, ())
    try:
        database.run(*NUMBERS_OF_CHECKS)  # the tables, without rows
        others = _insert_usual(database, files)
        if others:
            open_table(database, _TABLE, others)
            database.connection.execute(f"insert into check_summaries {_SUMMARIES}")
        open_table(database, _TABLE, files)
        if others:
            database.run(*NUMBERS_OF_CHECKS[1:])
    except duckdb.Error as error:
        raise query_fault(error, f"{_TABLE}: cannot be read", LakeError) from error


def _insert_usual(database: Database, files: Sequence[LakeFile]) -> list[LakeFile]:
    """Insert the rows of the usual files, the newest day first. Return the other files."""
    others = []
    newer = _NONE  # the products of newer days
    waiting: list[pa.RecordBatch] = []
    repeated: list[pa.RecordBatch] = []
    newest_first = sorted(files, key=lambda file: str(file.day), reverse=True)
    for day, same_day in itertools.groupby(newest_first, key=lambda file: file.day):
        found, ids = [newer], [_NONE]
        for file in same_day:
            read = read_usual(file, newer)
            if read is None:
                others.append(file)
                continue
            for rows in read:
                waiting.append(rows.summaries)
                ids.append(rows.summaries["id_product"].drop_null().to_numpy())
                found.append(rows.newest["id_product"].to_numpy())
                _insert(database, "newest_checks", [rows.newest])
            if sum(map(len, waiting)) >= _ROWS_PER_INSERT:
                _insert(database, "check_summaries", waiting)
        newer = np.concatenate(found)
        repeated.append(_repeated_keys(day, np.concatenate(ids)))
    _insert(database, "check_summaries", waiting)
    _insert(database, "repeated_keys", repeated)
    return others


def _repeated_keys(day: date | None, ids: NDArray[np.int64]) -> pa.RecordBatch:
    """Return the rows of repeated_keys for the ids of the checks of a day."""
    ids = np.sort(ids)
    repeated = np.unique(ids[1:][ids[1:] == ids[:-1]])
    return pa.record_batch({"day": pa.repeat(pa.scalar(day, pa.date32()), len(repeated)), "id_product": repeated})


def _insert(database: Database, table: str, batches: list[pa.RecordBatch]) -> None:
    """Insert rows, and forget them."""
    if any(map(len, batches)):
        database.insert(table, "by name from batch", pa.Table.from_batches(batches))
    batches.clear()
