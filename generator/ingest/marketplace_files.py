"""Reads the marketplace's files: one reader for every command that meets one.

`marketplace_documents` reads a file into lists of rows. Here each list becomes an Arrow table with the columns that an
import replaces in its table file, among them `created_at`, the file's `createdAt` in UTC. Rows that no build would
accept refuse the file. What is only doubtful becomes a finding.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator import settings
from generator.clock import utc_now
from generator.errors import IngestError
from generator.ingest import findings as cases
from generator.ingest.bounded_file import DOWNLOAD_LIMITS, FileLimits
from generator.ingest.catalogue import GAMES, number_of, number_of_categories
from generator.ingest.findings import ImportFinding
from generator.ingest.lake_rules import check_rows, first_broken
from generator.ingest.marketplace_documents import MEND, NotTheMarketplaces, read_document
from generator.ingest.tables import TableFile, expansions_file, price_guide_file, products_file
from generator.ingest.values import UNSEEN, quoted_json
from generator.lake.files import PRICE_FIGURES
from generator.lake.tables import TIMESTAMP
from generator.lake.writer import decode_parquet, encode_parquet

_FOIL_SUFFIXES = ("-holo", "-foil")
_NOT_TOLD = "its products may be singles or sealed: give it with --singles or --nonsingles"
_NOT_SINGLES = re.compile(r"non[^a-z0-9]*single")
_KNOWN_KEYS = {
    "products": frozenset(
        {"idProduct", "name", "idCategory", "categoryName", "idExpansion", "idMetacard", "dateAdded"}
    ),
    "expansions": frozenset({"idExpansion", "idProduct", "enName", "abbreviation"}),
    "priceGuides": frozenset({"idProduct", "idCategory"})
    | {figure + suffix for figure in PRICE_FIGURES for suffix in ("", *_FOIL_SUFFIXES)},
}


class Kind(Enum):
    """What an option says of a file: the list that it must have, and of products which they are."""

    SINGLES = "products"
    NONSINGLES = "products "
    EXPANSIONS = "expansions"
    PRICE_GUIDE = "priceGuides"

    @property
    def list_name(self) -> str:
        """The list in the document."""
        return self.value.strip()


class GuideColumns(NamedTuple):
    """The price columns of the lake that no row of a guide has a key for, and the keys that are not known."""

    absent: tuple[str, ...]
    unknown: tuple[str, ...]


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
            place = next(place for place, row in enumerate(self.rows) if not isinstance(row, dict))
            raise self.refusal(place, f"no JSON object, but {quoted_json(self.rows[place])}") from None
        if set(map(type, values)) - type_.python - {type(None)}:
            place = next(i for i, v in enumerate(values) if v is not None and type(v) not in type_.python)
            raise self.refusal(place, f"{key} must be {type_.name}, not {quoted_json(values[place])}")
        if required and None in values:
            raise self.refusal(values.index(None), f"it has no {key}")
        try:
            return pa.array(values, type_.arrow)
        except (OverflowError, ValueError):
            place = next(i for i, v in enumerate(values) if not _fits(v, type_.arrow))
            problem = f"{key} is too large, or half of a surrogate pair: {quoted_json(values[place])}"
            raise self.refusal(place, problem) from None

    def names(self, key: str, required: bool = False) -> pa.Array:
        """Return a column of names, without the signs that are not seen.

        Raises:
            IngestError: A name holds NUL, or is required and has no letter.
        """
        names = pc.replace_substring_regex(self.column(key, _TEXT, required), UNSEEN, "")
        wrong = [("holds the character NUL", pc.match_substring(names, "\0"))]
        if required:
            wrong.append(("is blank", pc.equal(pc.utf8_trim_whitespace(names), "")))
        for problem, is_wrong in wrong:
            if pc.any(is_wrong).as_py():
                raise self.refusal(pc.index(is_wrong, True).as_py(), f"{key} {problem}")
        return names

    def refusal(self, place: int, problem: str) -> IngestError:
        """Return the error that refuses the file for what is wrong in a row. Rows count from 1 in the message."""
        return IngestError(f"{self.source}: row {place + 1:,} of {len(self.rows):,}: {problem}; {MEND}")

    def table(self, schema: pa.Schema, columns: dict[str, pa.Array]) -> pa.Table:
        """Return the columns as a table of this schema, with `created_at` on every row."""
        moment = self.created_at.astimezone(UTC).replace(tzinfo=None)
        created_at = pa.repeat(pa.scalar(moment, TIMESTAMP), len(self.rows))
        return pa.Table.from_pydict({**columns, "created_at": created_at}, schema)


class ImportedFile(NamedTuple):
    """A file as it was read.

    Attributes:
        target: The file of the lake that takes the rows.
        data: The rows, as Parquet: a year of price guides has to fit in memory.
        what: What was read, in a few words.
        columns: The columns of a price guide. None for other files.
        is_sealed: Whether it is a list of sealed products.
        number: The marketplace's number of the game: that of the name, or else that of the categories of its products.
    """

    path: Path
    target: TableFile
    data: pa.Buffer
    created_at: datetime
    what: str
    findings: tuple[ImportFinding, ...]
    columns: GuideColumns | None = None
    is_sealed: bool = False
    number: int | None = None

    @property
    def rows(self) -> pa.Table:
        """The rows, with the columns that an import replaces."""
        return decode_parquet(self.data)

    @property
    def day(self) -> date:
        """The calendar date of `createdAt` in the marketplace's own time zone."""
        return self.created_at.date()

    @property
    def order(self) -> int:
        """The place of its kind: of rows with the same time, those of the later file win."""
        targets = [products_file(), expansions_file()]
        return targets.index(self.target) * 2 + self.is_sealed if self.target in targets else 9


def read_marketplace_file(
    path: Path, limits: FileLimits = DOWNLOAD_LIMITS, kind: Kind | None = None
) -> list[ImportedFile]:
    """Read all lists of a file. Where no option says so, its name tells singles from sealed products.

    Raises:
        IngestError: The file cannot be read, lacks the list of its kind, or has rows that no build accepts.
        NotTheMarketplaces: Without a kind: it is none of its files, or does not say what its products are.
    """
    document = read_document(path, limits, is_certain=kind is not None)
    if kind and kind.list_name not in document.lists:
        has = f"; it has {' and '.join(document.lists)}" if document.lists else ""
        raise IngestError(f'{path}: no list "{kind.list_name}" in it{has}: give it with the option of its list')
    found = []
    for name, rows in document.lists.items():
        download = DownloadFile(str(path), document.created_at, rows)
        if name == "products":
            imported = _read_products(path, download, _product_kind(path, kind))
        elif name == "expansions":
            imported = _read_expansions(path, download)
        else:
            imported = _read_price_guide(path, download)
        unknown = list(_unknown_keys(name, download, imported.target.path, document.unknown))
        found.append(imported._replace(findings=(*imported.findings, *unknown)))
    return found


def _product_kind(path: Path, kind: Kind | None) -> str:
    if kind in (Kind.SINGLES, Kind.NONSINGLES):
        return "single" if kind is Kind.SINGLES else "sealed"
    name = path.name.lower()
    if "single" in name:
        return "sealed" if _NOT_SINGLES.search(name) else "single"
    if kind:
        raise IngestError(f"{path}: {_NOT_TOLD}")
    raise NotTheMarketplaces(_NOT_TOLD)


def _unknown_keys(name: str, download: DownloadFile, target: str, members: tuple[str, ...]) -> Iterator[ImportFinding]:
    keys = set[str]().union(*download.rows) - _KNOWN_KEYS[name]
    for what, unknown in (("rows have keys", sorted(keys)), ("the file has members", members)):
        if unknown:
            message = f"{what} that are not known: {', '.join(unknown)}"
            yield ImportFinding(cases.UNKNOWN_KEYS, download.source, target, len(unknown), message, is_refused=False)


def _read_products(path: Path, document: DownloadFile, kind: str) -> ImportedFile:
    """Read a product list. The files themselves do not tell its kind, `single` or `sealed`."""
    columns = {
        "id_product": document.column("idProduct", _ID, required=True),
        "name": document.names("name", required=True),
        "kind": pa.repeat(pa.scalar(kind), len(document.rows)),
        "category": document.column("categoryName", _TEXT),
        "id_expansion": document.column("idExpansion", _ID),
        "date_added": _date_added(document),
    }
    target = products_file()
    rows = document.table(target.imported_schema, columns)
    findings = [*_check(document, target.path, "products", rows), *_future(document, target.path)]
    number = number_of(path) or number_of_categories(pc.unique(columns["category"]).to_pylist())
    findings += _other_game(document, target.path, number, rows)
    list_name = "singles" if kind == "single" else "sealed products"
    imported = _imported(path, document, target, rows, f"{len(rows):,} {list_name}", findings)
    return imported._replace(is_sealed=kind == "sealed", number=number)


def _read_expansions(path: Path, document: DownloadFile) -> ImportedFile:
    """Read names of expansions, without rows that have no name."""
    # Some rows of the real file call the id of the expansion `idProduct`.
    ids = pc.coalesce(document.column("idExpansion", _ID), document.column("idProduct", _ID))
    if ids.null_count:
        raise document.refusal(pc.index(ids.is_null(), True).as_py(), "it has no idExpansion")
    columns = {"id": ids, "name": document.names("enName")}
    target = expansions_file()
    table = document.table(target.imported_schema, columns)
    named = pc.indices_nonzero(
        pc.and_kleene(table["name"].is_valid(), pc.not_equal(pc.utf8_trim_whitespace(table["name"]), ""))
    )
    rows = table.take(named)
    findings = (*_check(document, target.path, "expansions", rows, places=named), *_future(document, target.path))
    return _imported(
        path, document, target, rows, f"names of {len(rows):,} expansion{'s' * (len(rows) != 1)}", findings
    )


def _read_price_guide(path: Path, document: DownloadFile) -> ImportedFile:
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
    return _imported(path, document, target, rows, what, findings)._replace(columns=_columns_of(document.rows))


def _imported(
    path: Path, document: DownloadFile, target: TableFile, rows: pa.Table, what: str, findings: Iterable[ImportFinding]
) -> ImportedFile:
    data = encode_parquet(rows)
    return ImportedFile(path, target, data, document.created_at, what, tuple(findings), number=number_of(path))


def _check(
    document: DownloadFile,
    target: str,
    table: str,
    rows: pa.Table,
    day: date | None = None,
    places: pa.Array | None = None,
) -> Iterator[ImportFinding]:
    """Yield rows that repeat a key with other values. Of the names of expansions, the marketplace repeats some.

    Args:
        places: The places of the rows in the document, if it has others.
    """
    for broken in check_rows(table, rows, day):
        if not broken.is_repetition:
            place = first_broken(table, rows, broken, day)
            said = f"{table}: {broken}" if broken.is_too_long else str(broken)
            problem = f"{said}: no build would accept it"
            raise document.refusal(place if places is None else places[place].as_py(), problem)
        if table == "expansions":
            message = f"{broken.rows:,} rows give expansions several names, such as {broken.example}"
            yield ImportFinding(cases.NAMED_TWICE, document.source, target, broken.rows, message, is_refused=False)
        else:
            message = f"{broken.rows:,} rows repeat a product with other values, such as {broken.example}"
            yield ImportFinding(cases.DUPLICATES, document.source, target, broken.rows, message)


def _future(document: DownloadFile, target: str) -> Iterator[ImportFinding]:
    if document.created_at - utc_now() > settings.MAX_AHEAD_OF_CLOCK:
        message = f"createdAt is {document.created_at.isoformat()}, which the clock of this machine has not reached"
        yield ImportFinding(cases.FUTURE, document.source, target, len(document.rows), message)


def _empty(document: DownloadFile, target: str) -> Iterator[ImportFinding]:
    if not document.rows:
        yield ImportFinding(cases.EMPTY_GUIDE, document.source, target, 1, "the price guide has no rows")


def _other_game(document: DownloadFile, target: str, number: int | None, rows: pa.Table) -> Iterator[ImportFinding]:
    """Yield the products whose category begins with another game than that of the list."""
    game = GAMES.get(number or 0)
    numbers = {category: number_of_categories([category]) for category in pc.unique(rows["category"]).to_pylist()}
    others = [category for category, other in numbers.items() if game and other not in (None, number)]
    if others:
        is_other = pc.is_in(rows["category"], pa.array(others, pa.string()))
        count, place = pc.sum(is_other).as_py(), pc.index(is_other, True).as_py()
        example = f"{quoted_json(rows['category'][place].as_py())} of product {rows['id_product'][place].as_py()}"
        have = f"{count:,} product{'s have' if count != 1 else ' has'} a category of another game than {game}"
        yield ImportFinding(
            cases.OTHER_GAME, document.source, target, count, f"{have}, such as {example}", is_refused=False
        )


def _two_foil_prices(
    document: DownloadFile, target: str, figure: str, holo: pa.Array, foil: pa.Array
) -> Iterator[ImportFinding]:
    both = pc.fill_null(pc.not_equal(holo, foil), False)
    if rows := pc.sum(both).as_py():
        product = document.rows[pc.index(both, True).as_py()]["idProduct"]
        message = f"{rows:,} rows have {figure}-holo and another {figure}-foil, such as product {product}"
        yield ImportFinding(cases.TWO_FOIL_PRICES, document.source, target, rows, message)


def _columns_of(rows: list[dict[str, Any]]) -> GuideColumns:
    """Return the absent columns and the unknown keys of a guide's rows."""
    keys: set[str] = set().union(*rows)
    absent = [figure for figure in PRICE_FIGURES if figure not in keys]
    absent += [f"{figure}_holo" for figure in PRICE_FIGURES if not keys & {figure + s for s in _FOIL_SUFFIXES}]
    return GuideColumns(tuple(absent), tuple(sorted(keys - _KNOWN_KEYS["priceGuides"])))


def _fits(value: Any, type_: pa.DataType) -> bool:
    """Return whether Arrow can hold a value: no number beyond 64 bits, and no half of a surrogate pair."""
    try:
        pa.array([value], type_)
    except (OverflowError, ValueError):
        return False
    return True


def _date_added(document: DownloadFile) -> pa.Array:
    """Return `dateAdded` unchanged, because it has no zone. A zero date (`0000-00-00 00:00:00`) is null."""
    texts = document.column("dateAdded", _TEXT)
    zero = pc.match_substring_regex(texts, r"^(0000-|\d{4}-00|\d{4}-\d\d-00)")
    try:
        return pc.if_else(zero, None, texts).cast(TIMESTAMP)
    except pa.ArrowInvalid:
        found = enumerate(zip(texts.to_pylist(), zero.to_pylist(), strict=True))
        place, text = next((i, text) for i, (text, is_zero) in found if text and not is_zero and not _is_time(text))
        problem = f"dateAdded must be a time such as 2022-07-01 10:00:00, not {quoted_json(text)}"
        raise document.refusal(place, problem) from None


def _is_time(text: str) -> bool:
    try:
        pa.scalar(text).cast(TIMESTAMP)
    except pa.ArrowInvalid:
        return False
    return True


def _prices(document: DownloadFile, figure: str, suffix: str = "") -> pa.Array:
    """Return one price column. A trend of 0 means that there is no price. Any other 0 is a price."""
    prices = document.column(figure + suffix, _PRICE)
    return pc.if_else(pc.equal(prices, 0), None, prices) if figure == "trend" else prices
