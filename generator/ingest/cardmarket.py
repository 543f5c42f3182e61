"""The marketplace's own download files, plain or gzip, as Arrow tables: the first step of an import.

Each file is one JSON document `{"version": 1, "createdAt": TIME, LIST: [ROW, …]}`. Every table made here has
the columns that the import owns in its lake table, and `created_at`, the file's `createdAt` in UTC.
"""

import gzip
import json
import zlib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator.errors import IngestError
from generator.ingest.tables import EXPANSIONS, FIGURES, PRODUCTS, TIMESTAMP, owned_schema, price_guide

GZIP_MAGIC = b"\x1f\x8b"
VERSION = 1


class Column(NamedTuple):
    """What a JSON value may be, by Python's own types (so that `true` is no number), and its Arrow type."""

    python: frozenset[type]
    arrow: pa.DataType
    name: str


ID = Column(frozenset({int}), pa.int64(), "an integer")
PRICE = Column(frozenset({int, float}), pa.float64(), "a number")
TEXT = Column(frozenset({str}), pa.string(), "text")


class Document(NamedTuple):
    """A file's rows, and when the marketplace made it (`created_at` keeps the offset that the file has)."""

    source: str
    created_at: datetime
    rows: list[dict[str, Any]]

    def column(self, key: str, column: Column, required: bool = False) -> pa.Array:
        """One key of every row; rows without it read as null.

        Raises:
            IngestError: a value of the wrong type, or a required one that is missing.
        """
        try:
            values = [row.get(key) for row in self.rows]
        except AttributeError:
            raise IngestError(f"{self.source}: a row is no JSON object") from None
        if set(map(type, values)) - column.python - {type(None)}:
            wrong = next(v for v in values if v is not None and type(v) not in column.python)
            raise IngestError(f"{self.source}: {key} must be {column.name}, not {json.dumps(wrong)[:80]}")
        if required and None in values:
            raise IngestError(f"{self.source}: row {values.index(None) + 1} of {len(values)} has no {key}")
        try:
            return pa.array(values, column.arrow)
        except (OverflowError, ValueError) as error:  # beyond 64 bits, or half of a surrogate pair
            raise IngestError(f"{self.source}: {key}: {str(error).splitlines()[0]}") from error

    def table(self, schema: pa.Schema, columns: dict[str, pa.Array]) -> pa.Table:
        """The columns under the schema, with `created_at` on every row."""
        moment = self.created_at.astimezone(UTC).replace(tzinfo=None)
        created_at = pa.repeat(pa.scalar(moment, TIMESTAMP), len(self.rows))
        return pa.Table.from_pydict({**columns, "created_at": created_at}, schema)


def read_products(path: Path, kind: str) -> pa.Table:
    """A product list (`products_singles_G.json`, `products_nonsingles_G.json`) as rows of the products table.

    Args:
        kind: `single` or `sealed`, which only the operator knows: the files of both lists look alike.

    Raises:
        IngestError: the file cannot be read, or is no product list.
    """
    document = read_document(path, "products")
    columns = {
        "id_product": document.column("idProduct", ID, required=True),
        "name": document.column("name", TEXT, required=True),
        "kind": pa.repeat(pa.scalar(kind), len(document.rows)),
        "category": document.column("categoryName", TEXT),
        "id_expansion": document.column("idExpansion", ID),
        "date_added": _date_added(document),
    }
    return document.table(owned_schema(PRODUCTS), columns)


def read_expansions(path: Path) -> pa.Table:
    """An expansions file as rows of the expansions table; a row without a name says nothing and is left out.

    Raises:
        IngestError: the file cannot be read, or is no expansions file.
    """
    document = read_document(path, "expansions")
    # Some rows of the real file call the id of the expansion `idProduct`.
    ids = pc.coalesce(document.column("idExpansion", ID), document.column("idProduct", ID))
    if ids.null_count:
        raise IngestError(f"{path}: row {pc.index(ids.is_null(), True).as_py() + 1} has no idExpansion")
    columns = {"id": ids, "name": document.column("enName", TEXT)}
    table = document.table(owned_schema(EXPANSIONS), columns)
    return table.filter(pc.and_kleene(table["name"].is_valid(), pc.not_equal(table["name"], "")))


def read_price_guide(path: Path) -> tuple[date, pa.Table]:
    """A price guide (`price_guide_G.json`): its day and its rows of that day's price_guide table.

    The day is the calendar date that `createdAt` shows, in the marketplace's own time.

    Raises:
        IngestError: the file cannot be read, is no price guide, or holds a negative or infinite price.
    """
    document = read_document(path, "priceGuides")
    columns = {"id_product": document.column("idProduct", ID, required=True)}
    for figure in FIGURES:
        columns[figure] = _prices(document, figure)
        columns[f"{figure}_holo"] = pc.coalesce(_prices(document, figure, "-holo"), _prices(document, figure, "-foil"))
    day = document.created_at.date()
    return day, document.table(owned_schema(price_guide(day)), columns)


def read_document(path: Path, rows_key: str) -> Document:
    """The file's JSON, checked for the frame that all of the marketplace's files share.

    Raises:
        IngestError: unreadable, no JSON, of another version, or without `createdAt` or the list `rows_key`.
    """
    document = _parsed(path)
    if not isinstance(document, dict) or not isinstance(document.get(rows_key), list):
        raise IngestError(f'{path}: no list "{rows_key}" in it: is it the right file for this option?')
    if document.get("version", VERSION) != VERSION:
        version = json.dumps(document["version"])[:80]
        raise IngestError(f"{path}: version {version} of the format: only {VERSION} can be read")
    return Document(str(path), _created_at(path, document.get("createdAt")), document[rows_key])


def _parsed(path: Path) -> Any:
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data
    except (OSError, EOFError, zlib.error) as error:  # gzip's own BadGzipFile is an OSError
        raise IngestError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        return json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise IngestError(f"{path}: not JSON: {error}") from error


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _created_at(path: Path, value: Any) -> datetime:
    """`2026-07-26T02:44:32+0200`, with or without the colon, or `Z`; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        expected = f"a time such as 2026-07-26T02:44:32+0200, not {json.dumps(value)[:80]}"
        raise IngestError(f"{path}: createdAt must be {expected}") from error
    return moment


def _date_added(document: Document) -> pa.Array:
    """`dateAdded` as it stands, for it has no zone; a zero date (`0000-00-00 00:00:00`) is null."""
    texts = document.column("dateAdded", TEXT)
    zero = pc.match_substring_regex(texts, r"^(0000-|\d{4}-00|\d{4}-\d\d-00)")
    try:
        return pc.if_else(zero, None, texts).cast(TIMESTAMP)
    except pa.ArrowInvalid as error:
        raise IngestError(f"{document.source}: dateAdded: {str(error).splitlines()[0]}") from error


def _prices(document: Document, figure: str, suffix: str = "") -> pa.Array:
    """One price column. Only a trend of 0 means that there is no price: elsewhere 0 is a price."""
    prices = document.column(figure + suffix, PRICE)
    refused = pc.index(pc.or_(pc.less(prices, 0), pc.invert(pc.is_finite(prices))), True).as_py()
    if refused >= 0:
        product, price = document.rows[refused]["idProduct"], prices[refused].as_py()
        raise IngestError(f"{document.source}: {figure + suffix} of product {product} is {price}: no price")
    return pc.if_else(pc.equal(prices, 0), None, prices) if figure == "trend" else prices
