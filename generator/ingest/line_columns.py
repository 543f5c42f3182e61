"""The columns of scraped lines: under which keys of a line a value stands, how it is parsed, and its type in the lake.

price("from_price")                  # the value of "from_price", as a price
time("scraped_at", "scrapedAt")      # the first of these keys that the line has
required(text("slug"))               # a line without it is refused
offers("offer_list", {"price": …})   # a list of objects, each with these columns
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from generator.ingest.scraped_values import (
    InvalidValue,
    parse_condition,
    parse_count,
    parse_id,
    parse_objects,
    parse_price,
    parse_seller,
    parse_text,
    parse_text_or_integer,
    parse_time,
    parse_url,
)
from generator.lake.schema import TIMESTAMP

Line = dict[str, Any]


class Column(NamedTuple):
    """A column of the rows that lines become.

    Attributes:
        keys: The keys of a line that it reads.
        read: Returns its value for a line, or raises InvalidValue.
        type: The type of its values.
    """

    keys: tuple[str, ...]
    read: Callable[[Line], Any]
    type: pa.DataType


def text(*keys: str) -> Column:
    """Return a column of text."""
    return _column(keys, parse_text, pa.string())


def text_or_integer(*keys: str) -> Column:
    """Return a column of text, which lines may give as an integer."""
    return _column(keys, parse_text_or_integer, pa.string())


def url(*keys: str) -> Column:
    """Return a column of URLs of pages."""
    return _column(keys, parse_url, pa.string())


def condition(*keys: str) -> Column:
    """Return a column of conditions."""
    return _column(keys, parse_condition, pa.string())


def seller(*keys: str) -> Column:
    """Return a column of sellers."""
    return _column(keys, parse_seller, pa.string())


def price(*keys: str) -> Column:
    """Return a column of prices in euros."""
    return _column(keys, parse_price, pa.float64())


def count(*keys: str) -> Column:
    """Return a column of counts."""
    return _column(keys, parse_count, pa.int64())


def marketplace_id(*keys: str) -> Column:
    """Return a column of ids of the marketplace."""
    return _column(keys, parse_id, pa.int64())


def time(*keys: str) -> Column:
    """Return a column of times in UTC."""
    return _column(keys, parse_time, TIMESTAMP)


def offers(key: str, members: Mapping[str, Column]) -> Column:
    """Return a column of lists of offers, each of which has these members."""

    def read(line: Line) -> list[Line] | None:
        listed: list[Line] = []
        given = parse_objects(line.get(key), key)
        try:
            for offer in given or ():
                listed.append({name: column.read(offer) for name, column in members.items()})
        except InvalidValue as error:
            raise InvalidValue(f"offer {len(listed) + 1}: {error}") from None
        return None if given is None else listed

    keys = (key, *(inner for column in members.values() for inner in column.keys))
    return Column(keys, read, pa.list_(pa.struct([(name, column.type) for name, column in members.items()])))


def required(column: Column) -> Column:
    """Return the column, which refuses a line without a value."""
    first, *others = column.keys
    missing = f"it has no {first}" + (f" (or {', '.join(others)})" if others else "")

    def read(line: Line) -> Any:
        value = column.read(line)
        if value is None:
            raise InvalidValue(missing)
        return value

    return column._replace(read=read)


def first_value(*columns: Column) -> Column:
    """Return the first of these columns that has a value. The later ones are then not parsed."""

    def read(line: Line) -> Any:
        for column in columns:
            value = column.read(line)
            if value is not None:
                return value
        return None

    return Column(tuple(key for column in columns for key in column.keys), read, columns[0].type)


def _column(keys: tuple[str, ...], parse: Callable[[Any, str], Any], type_: pa.DataType) -> Column:
    """Return a column whose value stands under the first of the keys that a line has."""

    def read(line: Line) -> Any:
        for key in keys:
            if key in line:
                return parse(line[key], key)
        return None

    return Column(keys, read, type_)
