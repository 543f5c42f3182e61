"""Full names format: the product names, searchable by their beginning, as an Arrow file of the layer `catalogue`.

    full_names   a row per distinct name, sorted: name (the words of the folded name, joined by single spaces)

The column `full_name` of `columns` has the row of each product. So the names that begin with a text are a range of
numbers.
"""

import pyarrow as pa

from edge_auth.builds.index import only_chunk
from edge_auth.builds.sorted_texts import SortedTexts, text_column

FULL_NAMES = "full_names"


class FullNames:
    """The full names of a build."""

    def __init__(self, table: pa.Table):
        text, self._ends = text_column(only_chunk(table, "name"))
        self._names = SortedTexts(text, self._ends[:-1], self._ends[1:])

    def beginning_with(self, text: str) -> tuple[range, range]:
        """Return the rows of the name that is a text, if there is one, and of the longer names that begin with it."""
        prefix = text.encode()
        rows = self._names.beginning_with(prefix)
        is_whole = rows.start < rows.stop and self._ends[rows.start + 1] - self._ends[rows.start] == len(prefix)
        longer = rows.start + bool(is_whole)
        return range(rows.start, longer), range(longer, rows.stop)
