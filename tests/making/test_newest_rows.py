"""The newest row of each product, compared with a brute force over the rows."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generator.making.month_rows import NewestRows

SCHEMA = pa.schema({"id_product": pa.int64(), "day": pa.int32(), "price": pa.float64()})
Row = tuple[int, int, float | None]

prices = st.none() | st.sampled_from([0.0, 0.5, 7.25])
drawn_rows = st.dictionaries(st.tuples(st.integers(1, 5), st.integers(1, 6)), prices, max_size=20)


def newest(rows: list[Row], cuts: list[int]) -> list[dict[str, float | None]]:
    collected = NewestRows(SCHEMA)
    for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        columns = list(zip(*rows[start:end], strict=True)) or [(), (), ()]
        collected.add(pa.record_batch([pa.array(column) for column in columns], schema=SCHEMA))
    return collected.table().to_pylist()


@settings(max_examples=200)
@example({(1, 1): 0.5, (1, 2): None, (2, 1): 0.0}, [1])
@given(drawn_rows, st.lists(st.integers(0, 20), max_size=4))
@pytest.mark.thorough
def test_in_batches_of_any_size(drawn: dict[tuple[int, int], float | None], cuts: list[int]) -> None:
    rows = [(id_, day, price) for (id_, day), price in sorted(drawn.items(), key=lambda row: row[0])]
    counts = Counter(id_ for id_, *_ in rows)
    expected = [
        {"id_product": id_, "day": day, "price": price, "n_rows": counts[id_], "n_outside": 0, "n_dropped": 0}
        for id_, day, price in {row[0]: row for row in rows}.values()
    ]
    assert newest(rows, sorted(min(cut, len(rows)) for cut in cuts)) == expected


def test_a_month_without_rows() -> None:
    table = NewestRows(SCHEMA).table()
    assert not len(table)
    assert table.column_names == ["id_product", "day", "price", "n_rows", "n_outside", "n_dropped"]
