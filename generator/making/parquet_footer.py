"""Exchanges the first two columns in the footer of a Parquet file, and leaves their bytes where they are.

So the bytes of the column that a reader filters by can lie between those of others. DuckDB 1.5 reads columns that are
at most 16 KiB apart in one request, with what lies between them. It needs two requests for the rows of a product, not
three.

The footer is a struct of Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). Its length does not change.
"""

import os
from typing import BinaryIO

_SCHEMA, _ROW_GROUPS = 2, 4  # fields of the footer
_COLUMNS = 1  # a field of a row group
_TAIL = 8  # bytes of the length of the footer and of the magic number
_BYTE, _INTEGERS, _DOUBLE, _BINARY, _LIST, _STRUCT = 3, (4, 5, 6), 7, 8, 9, 12


def exchange_first_columns(file: BinaryIO) -> None:
    """Exchange the first two columns of a Parquet file in its footer."""
    file.seek(-_TAIL, os.SEEK_END)
    start = file.seek(-_TAIL - int.from_bytes(file.read(4), "little"), os.SEEK_END)
    footer = bytearray(file.read())
    fields, _ = _struct(footer, 0)
    _exchange(footer, _elements(footer, fields[_SCHEMA])[1:])  # the first is the root
    for group in _elements(footer, fields[_ROW_GROUPS])[:-1]:
        _exchange(footer, _elements(footer, _struct(footer, group)[0][_COLUMNS]))
    file.seek(start)
    file.write(footer)


def _exchange(data: bytearray, starts: list[int]) -> None:
    first, second, end = starts[:3]
    data[first:end] = data[second:end] + data[first:second]


def _struct(data: bytearray, at: int) -> tuple[dict[int, int], int]:
    """Return where the values of a struct begin, by the numbers of their fields, and where it ends."""
    fields, number = {}, 0
    while head := data[at]:
        at += 1
        if step := head >> 4:
            number += step
        else:
            number, at = _varint(data, at)
            number = number >> 1 ^ -(number & 1)
        fields[number] = at
        at = _end(data, at, head & 15)
    return fields, at + 1


def _elements(data: bytearray, at: int) -> list[int]:
    """Return where the elements of a list begin, and where the last one ends."""
    size, kind = data[at] >> 4, data[at] & 15
    at += 1
    if size == 15:
        size, at = _varint(data, at)
    edges = [at]
    for _ in range(size):
        edges.append(_end(data, edges[-1], kind))
    return edges


def _end(data: bytearray, at: int, kind: int) -> int:
    """Return where a value of a kind ends. A truth value is in the kind itself."""
    if kind in _INTEGERS:
        return _varint(data, at)[1]
    if kind == _BINARY:
        size, at = _varint(data, at)
        return at + size
    if kind == _STRUCT:
        return _struct(data, at)[1]
    if kind == _LIST:
        return _elements(data, at)[-1]
    return at + {_BYTE: 1, _DOUBLE: 8}.get(kind, 0)


def _varint(data: bytearray, at: int) -> tuple[int, int]:
    """Return a number that is stored in groups of 7 bits, and where it ends."""
    number = shift = 0
    while data[at] & 128:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
    return number | data[at] << shift, at + 1
