"""The newest row of each product, from rows that are sorted by product and day."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class NewestRows:
    """Collects the newest row of each product from sorted batches, while they pass.

    Args:
        schema: Of the batches.
    """

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
    """Return the place of the last row of each product."""
    numbers = ids.to_numpy()
    return np.flatnonzero(np.append(numbers[1:] != numbers[:-1], np.ones(min(len(numbers), 1), np.bool_)))
