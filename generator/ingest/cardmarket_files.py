"""Reads the marketplace's download files, plain or gzip, as Arrow tables.

Each file is one JSON document `{"version": 1, "createdAt": TIME, LIST: [ROW, …]}`. Each table has the columns that an
import replaces in its table file, among them `created_at`, the file's `createdAt` in UTC. Rows that no build would
accept refuse the file. What is only doubtful becomes a finding.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator import settings
from generator.clock import utc_now
from generator.errors import IngestError
from generator.ingest.bounded_file import DOWNLOAD_LIMITS, FileLimits, open_bounded
from generator.ingest.findings import DUPLICATES, EMPTY_GUIDE, FUTURE, NAMED_TWICE, TWO_FOIL_PRICES, ImportFinding
from generator.ingest.guide_columns import GuideColumns, columns_of
from generator.ingest.lake_rules import check_rows
from generator.ingest.table_files import TableFile, expansions_file, price_guide_file, products_file
from generator.lake.prices_and_conditions import PRICE_FIGURES
from generator.lake.schema import TIMESTAMP

_FORMAT_VERSION = 1
_MAX_QUOTED_CHARACTERS = 80


class ValueType(NamedTuple):
    """The Python types that a JSON value may have (`true` is no number), and its Arrow type."""

    python: frozenset[type]
    arrow: pa.DataType
    name: str


_ID = ValueType(frozenset({int}), pa.int64(), "an integer")
_PRICE = ValueType(frozenset({int, float}), pa.float64(), "a number")
_TEXT = ValueType(frozenset({str}), pa.string(), "text")


class DownloadFile(NamedTuple):
    """The rows of a file, and when the marketplace created it. `created_at` has the offset of the file."""

    source: str
    created_at: datetime
    rows: list[dict[str, Any]]

    def column(self, key: str, type_: ValueType, required: bool = False) -> pa.Array:
        """Return one key of every row. Rows without it are null.

        Raises:
            IngestError: A value has the wrong type, or a required one is missing.
        """
        try:
            values = [row.get(key) for row in self.rows]
        except AttributeError:
            raise IngestError(f"{self.source}: a row is no JSON object") from None
        if set(map(type, values)) - type_.python - {type(None)}:
            wrong = next(v for v in values if v is not None and type(v) not in type_.python)
            raise IngestError(f"{self.source}: {key} must be {type_.name}, not {_quoted(wrong)}")
        if required and None in values:
            raise IngestError(f"{self.source}: row {values.index(None) + 1} of {len(values)} has no {key}")
        try:
            return pa.array(values, type_.arrow)
        except (OverflowError, ValueError) as error:  # beyond 64 bits, or half of a surrogate pair
            raise IngestError(f"{self.source}: {key}: {str(error).splitlines()[0]}") from error

    def table(self, schema: pa.Schema, columns: dict[str, pa.Array]) -> pa.Table:
        """Return the columns as a table of this schema, with `created_at` on every row."""
        moment = self.created_at.astimezone(UTC).replace(tzinfo=None)
        created_at = pa.repeat(pa.scalar(moment, TIMESTAMP), len(self.rows))
        return pa.Table.from_pydict({**columns, "created_at": created_at}, schema)


class ImportedFile(NamedTuple):
    """A file as it was read.

    Attributes:
        target: The file of the lake that takes the rows.
        what: What was read, in a few words.
        columns: The columns of a price guide. None for other files.
    """

    path: Path
    target: TableFile
    rows: pa.Table
    created_at: datetime
    what: str
    findings: tuple[ImportFinding, ...]
    columns: GuideColumns | None = None

    @property
    def day(self) -> date:
        """The calendar date of `createdAt` in the marketplace's own time zone."""
        return self.created_at.date()


def read_products(path: Path, kind: str, limits: FileLimits = DOWNLOAD_LIMITS) -> ImportedFile:
    """Read a product list (`products_singles_G.json`, `products_nonsingles_G.json`).

    Args:
        kind: `single` or `sealed`. The files themselves do not tell.

    Raises:
        IngestError: The file cannot be read, is no product list, or has rows that no build accepts.
    """
    document = read_download(path, "products", limits)
    columns = {
        "id_product": document.column("idProduct", _ID, required=True),
        "name": document.column("name", _TEXT, required=True),
        "kind": pa.repeat(pa.scalar(kind), len(document.rows)),
        "category": document.column("categoryName", _TEXT),
        "id_expansion": document.column("idExpansion", _ID),
        "date_added": _date_added(document),
    }
    target = products_file()
    rows = document.table(target.imported_schema, columns)
    findings = (*_check(document, target.path, "products", rows), *_future(document, target.path))
    list_name = "singles" if kind == "single" else "sealed products"
    return _imported(path, document, target, rows, f"{len(rows):,} {list_name}", findings)


def read_expansions(path: Path, limits: FileLimits = DOWNLOAD_LIMITS) -> ImportedFile:
    """Read an expansions file, without rows that have no name.

    Raises:
        IngestError: The file cannot be read, or is no expansions file.
    """
    document = read_download(path, "expansions", limits)
    # Some rows of the real file call the id of the expansion `idProduct`.
    ids = pc.coalesce(document.column("idExpansion", _ID), document.column("idProduct", _ID))
    if ids.null_count:
        raise IngestError(f"{path}: row {pc.index(ids.is_null(), True).as_py() + 1} has no idExpansion")
    columns = {"id": ids, "name": document.column("enName", _TEXT)}
    target = expansions_file()
    table = document.table(target.imported_schema, columns)
    rows = table.filter(pc.and_kleene(table["name"].is_valid(), pc.not_equal(table["name"], "")))
    findings = (*_check(document, target.path, "expansions", rows), *_future(document, target.path))
    return _imported(path, document, target, rows, f"names of {len(rows):,} expansions", findings)


def read_price_guide(path: Path, limits: FileLimits = DOWNLOAD_LIMITS) -> ImportedFile:
    """Read a price guide (`price_guide_G.json`).

    Raises:
        IngestError: The file cannot be read, is no price guide, or has rows that no build accepts.
    """
    document = read_download(path, "priceGuides", limits)
    columns = {"id_product": document.column("idProduct", _ID, required=True)}
    day = document.created_at.date()
    target = price_guide_file(day)
    findings = [*_future(document, target.path), *_empty(document, target.path)]
    for figure in PRICE_FIGURES:
        holo, foil = (_prices(document, figure, suffix) for suffix in ("-holo", "-foil"))
        columns[figure] = _prices(document, figure)
        columns[f"{figure}_holo"] = pc.coalesce(holo, foil)
        findings += _two_foil_prices(document, target.path, figure, holo, foil)
    rows = document.table(target.imported_schema, columns)
    findings += _check(document, target.path, "price_guide", rows, day)
    what = f"price guide of {day}, {len(rows):,} rows"
    return _imported(path, document, target, rows, what, findings)._replace(columns=columns_of(document.rows))


def _imported(
    path: Path, document: DownloadFile, target: TableFile, rows: pa.Table, what: str, findings: Iterable[ImportFinding]
) -> ImportedFile:
    return ImportedFile(path, target, rows, document.created_at, what, tuple(findings))


def _check(
    document: DownloadFile, target: str, table: str, rows: pa.Table, day: date | None = None
) -> Iterator[ImportFinding]:
    """Yield rows that repeat a key with other values. Of the names of expansions, the marketplace repeats some."""
    for broken in check_rows(table, rows, day):
        if not broken.is_repetition:
            raise IngestError(f"{document.source}: {broken}: no build would accept it")
        if table == "expansions":
            message = f"{broken.rows:,} rows give expansions several names, such as {broken.example}"
            yield ImportFinding(NAMED_TWICE, document.source, target, broken.rows, message, is_refused=False)
        else:
            message = f"{broken.rows:,} rows repeat a product with other values, such as {broken.example}"
            yield ImportFinding(DUPLICATES, document.source, target, broken.rows, message)


def _future(document: DownloadFile, target: str) -> Iterator[ImportFinding]:
    if document.created_at - utc_now() > settings.MAX_AHEAD_OF_CLOCK:
        message = f"createdAt is {document.created_at.isoformat()}, which the clock of this machine has not reached"
        yield ImportFinding(FUTURE, document.source, target, len(document.rows), message)


def _empty(document: DownloadFile, target: str) -> Iterator[ImportFinding]:
    if not document.rows:
        yield ImportFinding(EMPTY_GUIDE, document.source, target, 1, "the price guide has no rows")


def _two_foil_prices(
    document: DownloadFile, target: str, figure: str, holo: pa.Array, foil: pa.Array
) -> Iterator[ImportFinding]:
    both = pc.fill_null(pc.not_equal(holo, foil), False)
    if rows := pc.sum(both).as_py():
        product = document.rows[pc.index(both, True).as_py()]["idProduct"]
        message = f"{rows:,} rows have {figure}-holo and another {figure}-foil, such as product {product}"
        yield ImportFinding(TWO_FOIL_PRICES, document.source, target, rows, message)


def read_download(path: Path, rows_key: str, limits: FileLimits) -> DownloadFile:
    """Read a file and check the members that all of the marketplace's files share.

    Raises:
        IngestError: The file cannot be read, is too large, is no JSON, has another version, or lacks `createdAt` or
            the list `rows_key`.
    """
    document = _parse(path, limits)
    if not isinstance(document, dict) or not isinstance(document.get(rows_key), list):
        raise IngestError(f'{path}: no list "{rows_key}" in it: is it the right file for this option?')
    if document.get("version", _FORMAT_VERSION) != _FORMAT_VERSION:
        version = _quoted(document["version"])
        raise IngestError(f"{path}: version {version} of the format: only {_FORMAT_VERSION} can be read")
    return DownloadFile(str(path), _created_at(path, document.get("createdAt")), document[rows_key])


def _parse(path: Path, limits: FileLimits) -> Any:
    with open_bounded(path, limits) as file:
        data = file.read()
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise IngestError(f"{path}: not JSON: {error}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _created_at(path: Path, value: Any) -> datetime:
    """Parse a time such as `2026-07-26T02:44:32+0200`. The offset may have a colon or be `Z`. Without one it is UTC."""
    try:
        moment = datetime.fromisoformat(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        expected = f"a time such as 2026-07-26T02:44:32+0200, not {_quoted(value)}"
        raise IngestError(f"{path}: createdAt must be {expected}") from error
    return moment


def _quoted(value: Any) -> str:
    return json.dumps(value)[:_MAX_QUOTED_CHARACTERS]


def _date_added(document: DownloadFile) -> pa.Array:
    """Return `dateAdded` unchanged, because it has no zone. A zero date (`0000-00-00 00:00:00`) is null."""
    texts = document.column("dateAdded", _TEXT)
    zero = pc.match_substring_regex(texts, r"^(0000-|\d{4}-00|\d{4}-\d\d-00)")
    try:
        return pc.if_else(zero, None, texts).cast(TIMESTAMP)
    except pa.ArrowInvalid as error:
        raise IngestError(f"{document.source}: dateAdded: {str(error).splitlines()[0]}") from error


def _prices(document: DownloadFile, figure: str, suffix: str = "") -> pa.Array:
    """Return one price column. A trend of 0 means that there is no price. Any other 0 is a price."""
    prices = document.column(figure + suffix, _PRICE)
    return pc.if_else(pc.equal(prices, 0), None, prices) if figure == "trend" else prices
