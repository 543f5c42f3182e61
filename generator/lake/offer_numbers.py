"""The rows of the tables check_summaries and newest_checks from one file of checks, by Arrow and NumPy.

`check_summaries.sql` and `newest_checks.sql` in `build/sources/` say what they are, and read whatever a lake may hold.
Almost all files have just the declared columns. From these, this module makes the same rows in two thirds of the time.
"""

from datetime import date
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from generator.lake.files import LakeFile
from generator.lake.prices_and_conditions import CONDITIONS, MAX_PRICE
from generator.lake.schema import arrow_schema

_TABLE, _LISTS = "filtered_checks", "offer_list"
_NUMBERS = {"listed": pa.int64(), "usable": pa.int64(), "lowest_usable": pa.float64(), "highest_usable": pa.float64()}

_Values = TypeVar("_Values", NDArray[np.int64], NDArray[np.float64])


class UsualRows(NamedTuple):
    """The rows of a row group of a file with just the declared columns.

    Attributes:
        summaries: With the columns of check_summaries.
        newest: Those of products that have no newer day, with the columns of newest_checks.
    """

    summaries: pa.RecordBatch
    newest: pa.RecordBatch


def read_usual(file: LakeFile, newer: NDArray[np.int64]) -> list[UsualRows] | None:
    """Return the rows of a file. None for a file that only SQL reads or refuses.

    It takes one thread, and the memory of one row group beside the rows.

    Args:
        newer: The ids of products with checks of newer days.
    """
    try:
        metadata = pq.read_metadata(file.path)
        if file.day is None or not _is_usual(metadata.schema.to_arrow_schema()):
            return None
        columns = (metadata.schema.column(number) for number in range(metadata.num_columns))
        texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
        # Equal texts are decoded, checked and compared once.
        with pq.ParquetFile(file.path, metadata=metadata, read_dictionary=texts) as opened:
            groups = (opened.read_row_group(number, use_threads=False) for number in range(opened.num_row_groups))
            return [_read(batch, file.day, newer) for group in groups for batch in group.to_batches()]
    except (pa.ArrowException, OSError):
        return None


def _read(checks: pa.RecordBatch, day: date, newer: NDArray[np.int64]) -> UsualRows:
    rows, ids = summaries(checks, day), checks["id_product"]
    newest = pc.and_(ids.is_valid(), pa.array(~np.isin(ids.fill_null(0).to_numpy(), newer)))
    return UsualRows(rows, rows.append_column(_LISTS, checks[_LISTS]).filter(newest))


def _repeated(day: date, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(day, pa.date32()), rows)


def _is_usual(schema: pa.Schema) -> bool:
    """Return whether a file has exactly the declared columns, in any order. Its integers may have 32 bits."""
    return bool(_shape(pa.struct(list(schema))) == _shape(pa.struct(list(arrow_schema(_TABLE)))))


def _shape(type_: pa.DataType) -> Any:
    if pa.types.is_struct(type_):
        return sorted(((field.name, _shape(field.type)) for field in type_), key=lambda field: field[0])
    if pa.types.is_list(type_):
        return [_shape(type_.value_type)]
    return pa.int64() if type_ == pa.int32() else type_


def _schema() -> pa.Schema:
    declared = {field.name: _with_dictionary(field.type) for field in arrow_schema(_TABLE) if field.name != _LISTS}
    return pa.schema({"day": pa.date32(), **declared, **_NUMBERS})


def _with_dictionary(type_: pa.DataType) -> pa.DataType:
    return pa.dictionary(pa.int32(), type_) if type_ == pa.string() else type_


def summaries(checks: pa.RecordBatch, day: date) -> pa.RecordBatch:
    """Return the rows of some checks, whose texts are dictionaries."""
    numbers = dict(zip(_NUMBERS, _numbers(checks[_LISTS]), strict=True))
    known = {"day": _repeated(day, len(checks)), **numbers}
    columns = [known[field.name] if field.name in known else _cast(checks[field.name], field) for field in _schema()]
    return pa.record_batch(columns, schema=_schema())


def _cast(column: pa.Array, field: pa.Field) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        _check_text(column)
    return column.cast(field.type)


def _check_text(texts: pa.DictionaryArray) -> None:
    """Raise ArrowInvalid for a text that is not UTF-8, which DuckDB refuses and Arrow passes on."""
    texts.dictionary.validate(full=True)


def _numbers(lists: pa.ListArray) -> list[pa.Array]:
    """Return `listed`, `usable`, `lowest_usable` and `highest_usable`. In Parquet, a null list has no elements."""
    offsets = lists.offsets.to_numpy()
    prices, counted = _prices(lists.values[offsets[0] : offsets[-1]])
    places = offsets - offsets[0]
    usable = _per_list(np.add, counted.astype(np.int64), places)
    lowest = _per_list(np.fmin, np.where(counted, prices, np.nan), places)  # NaN only if all are NaN
    highest = _per_list(np.maximum, np.where(counted, prices, -np.inf), places)  # NaN is greater than any number
    without_list = ~_is_valid(lists)
    without_price = usable == 0
    return [
        pa.array(np.diff(places).astype(np.int64), mask=without_list),
        pa.array(usable, mask=without_list),
        pa.array(lowest, mask=without_price),
        pa.array(highest, mask=without_price),
    ]


def _prices(offers: pa.StructArray) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the price of each offer, -1 for an unusable one whose price is none, and which offers have one of both."""
    price = pc.struct_field(offers, "price")
    values, given = price.fill_null(0).to_numpy(), _is_valid(price)
    condition = _where(pc.struct_field(offers, "condition"), list(CONDITIONS))
    usable = given & condition & _where(pc.struct_field(offers, "seller"))
    is_price = (values >= 0) & (values <= MAX_PRICE)  # NaN is none; null, here 0, counts as one
    wrong = ~usable & ~is_price
    return np.where(wrong, -1, values), usable | wrong


def _where(texts: pa.DictionaryArray, wanted: list[str] | None = None) -> NDArray[np.bool_]:
    """Return which texts are among the wanted ones, or are not null."""
    _check_text(texts)
    if wanted is None:
        return _is_valid(texts)
    is_wanted = np.append(pc.is_in(texts.dictionary, pa.array(wanted)).to_numpy(zero_copy_only=False), False)
    found: NDArray[np.bool_] = is_wanted[texts.indices.fill_null(len(texts.dictionary)).to_numpy()]
    return found


def _is_valid(array: pa.Array) -> NDArray[np.bool_]:
    if not array.null_count:
        return np.ones(len(array), np.bool_)
    valid: NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _per_list(reduce: np.ufunc, values: _Values, places: NDArray[np.int32]) -> _Values:
    """Reduce the values of each list to one. 0 for an empty list."""
    results = np.zeros(len(places) - 1, values.dtype)
    filled = np.diff(places) > 0  # for an empty list, reduceat would return the next list's first value
    if filled.any():
        results[filled] = reduce.reduceat(values, places[:-1][filled])
    return results
