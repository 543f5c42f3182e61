"""Reads the marketplace's files: one reader for every command that meets one.

A file is one JSON document `{"version": 1, "createdAt": TIME, LIST: [ROW, …]}` with one list or several, whatever the
order of its members, or a guide as CSV, as the marketplace made them before 2024. The name of such a guide has its day.

Each list becomes an Arrow table with the columns that an import replaces in its table file, among them `created_at`,
the file's `createdAt` in UTC. Rows that no build would accept refuse the file. What is only doubtful becomes a finding.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from generator import settings
from generator.clock import utc_now
from generator.database import run_file
from generator.errors import IngestError
from generator.ingest.formats import CSV_GUIDE
from generator.ingest.lines import FileLines
from generator.ingest.pipeline import DUPLICATES, EMPTY_GUIDE, FUTURE, OTHER_KIND, TWO_FOIL_PRICES, ImportFinding
from generator.ingest.products import GAMES, number_of, number_of_categories
from generator.ingest.streams import FileLimits, OtherFile, open_bounded, start_of
from generator.ingest.table_files import EXPANSIONS_FILE, PRODUCTS_FILE, TableFile, price_guide_file
from generator.ingest.values import UNSEEN, quoted_json, refuse_constant, unrepeated
from generator.lake.files import PRICE_FIGURES
from generator.lake.table_writer import decode_parquet, encode_parquet, with_columns
from generator.lake.tables import TIMESTAMP, BrokenRule, arrow_schema, broken_rules
from generator.storage.text import fold

MEND = "download the file again, or correct it there"
_FORMAT_VERSION = 1
_LISTS = ("products", "expansions", "priceGuides")
_NONE_OF_THEM = "it has no list of products, prices or expansions"
_LIST = re.compile(rf'(?<!\\)"({"|".join(_LISTS)})"\s*:\s*\[')
_SPACE_BEFORE_OFFSET = re.compile(r"\s+(?=[+-][0-9]{2}:?[0-9]{2}$|Z$)", re.IGNORECASE)
_KNOWN_MEMBERS = frozenset({"version", "createdAt", *_LISTS})
_DAY_IN_NAME = re.compile(r"(?<![0-9])(20[0-9]{2})[-_]?([01][0-9])[-_]?([0-3][0-9])(?![0-9])")
_PRICE_NAMES = {key.casefold() for key in CSV_GUIDE.value_keys}
_FOIL_SUFFIXES = ("-holo", "-foil")
_NOT_TOLD = "its products may be singles or sealed: give it with --singles or --nonsingles"
_KINDS_OF_PRODUCTS = {"single": "singles", "sealed": "sealed products"}
_CATEGORIES = {  # by kind, words of the marketplace's categories of it
    "single": r"(?i)\bsingles?$",
    "sealed": r"(?i)\b(booster|display|blister|coin|tin|lot|deck|kit|box|boxe|product|set)s?( set)?$",
}
_NOT_SINGLES = re.compile(r"non[^a-z0-9]*single")
_KNOWN_KEYS = {
    "products": frozenset(
        {"idProduct", "name", "idCategory", "categoryName", "idExpansion", "idMetacard", "dateAdded"}
    ),
    "expansions": frozenset({"idExpansion", "idProduct", "enName", "abbreviation"}),
    "priceGuides": frozenset({"idProduct", "idCategory"})
    | {figure + suffix for figure in PRICE_FIGURES for suffix in ("", *_FOIL_SUFFIXES)},
}


# What an option says of a file, by its name: the list that it must have.
KINDS = {"singles": "products", "nonsingles": "products", "expansions": "expansions", "price_guide": "priceGuides"}


class NotTheMarketplaces(Exception):
    """A file is none of the marketplace's, or does not say what its products are. The message says why."""


class Document(NamedTuple):
    """A file: when the marketplace created it, its lists of rows by name, and other members."""

    created_at: datetime
    lists: dict[str, list[dict[str, Any]]]
    unknown: tuple[str, ...]


# By the Arrow type of a column, the Python types that its JSON values may have (`true` is no number).
_JSON_TYPES: dict[pa.DataType, tuple[set[type], str]] = {
    pa.int64(): ({int}, "an integer"),
    pa.float64(): ({int, float}, "a number"),
    pa.string(): ({str}, "text"),
}


class ImportedFile(NamedTuple):
    """A file as it was read."""

    path: Path
    target: TableFile  # the file of the lake that takes the rows
    data: pa.Buffer  # Parquet: a year of price guides has to fit in memory
    created_at: datetime
    what: str  # was read, in a few words
    findings: list[ImportFinding]
    absent: tuple[str, ...] = ()  # the price columns of the lake that no row of a guide has a key for
    unknown: tuple[str, ...] = ()  # the keys of its rows that are not known
    is_sealed: bool = False
    number: int | None = None  # the marketplace's, of the game: that of the name, or else of the categories

    @property
    def rows(self) -> pa.Table:
        """The rows, with the columns that an import replaces."""
        return decode_parquet(self.data)

    @property
    def day(self) -> date:
        """The calendar date of `createdAt` in the marketplace's own time zone."""
        return self.created_at.date()

    @property
    def is_guide(self) -> bool:
        return self.target not in (PRODUCTS_FILE, EXPANSIONS_FILE)

    @property
    def game(self) -> str | None:
        return GAMES.get(self.number or -1)

    @property
    def order(self) -> int:
        """The place of its kind: of rows with the same time, those of the later file win."""
        return 9 if self.is_guide else 2 * (self.target == EXPANSIONS_FILE) + self.is_sealed


@dataclass
class _GivenList:
    """A list of a file for a table of the lake, while it is read. `created_at` has the offset of the file."""

    path: Path
    created_at: datetime
    rows: list[dict[str, Any]]
    table: str
    target: TableFile
    findings: list[ImportFinding] = field(default_factory=list)

    @cached_property
    def keys(self) -> set[str]:
        return set[str]().union(*self.rows)

    def column(self, key: str, type_: pa.DataType, required: bool = False) -> pa.Array:
        """Return one key of every row. Rows without it are null."""
        taken, named = _JSON_TYPES[type_]
        try:
            values = [row.get(key) for row in self.rows]
        except AttributeError:
            place = next(place for place, row in enumerate(self.rows) if not isinstance(row, dict))
            raise self.refusal(place, f"no JSON object, but {quoted_json(self.rows[place])}") from None
        if set(map(type, values)) - taken - {type(None)}:
            place = next(i for i, v in enumerate(values) if v is not None and type(v) not in taken)
            raise self.refusal(place, f"{key} must be {named}, not {quoted_json(values[place])}")
        if required and None in values:
            raise self.refusal(values.index(None), f"it has no {key}")
        try:
            return pa.array(values, type_)
        except (OverflowError, ValueError):
            place = _first_refused(values, lambda value: pa.array([value], type_))
            problem = f"{key} is too large, or half of a surrogate pair: {quoted_json(values[place])}"
            raise self.refusal(place, problem) from None

    def refuse_any(self, is_wrong: pa.Array, problem: str) -> None:
        """Refuse the file for the first row that is wrong."""
        if pc.any(is_wrong).as_py():
            raise self.refusal(pc.index(is_wrong, True).as_py(), problem)

    def names(self, key: str, required: bool = False) -> pa.Array:
        """Return a column of names, without the signs that are not seen. A required one is not blank."""
        names = pc.replace_substring_regex(self.column(key, pa.string(), required), UNSEEN, "")
        self.refuse_any(pc.match_substring(names, "\0"), f"{key} holds the character NUL")
        if required:
            self.refuse_any(pc.equal(pc.utf8_trim_whitespace(names), ""), f"{key} is blank")
        return names

    def refusal(self, place: int, problem: str) -> IngestError:
        """Return the error that refuses the file for what is wrong in a row. Rows count from 1 in the message."""
        return IngestError(f"{self.path}: row {place + 1:,} of {len(self.rows):,}: {problem}; {MEND}")

    def find(self, case: str, count: int, message: str, *, is_refused: bool = True) -> None:
        self.findings.append(ImportFinding(case, str(self.path), count, message, is_refused, self.target.path))

    def as_table(self, columns: dict[str, pa.Array]) -> pa.Table:
        """Return the columns as rows of the file of the lake, with `created_at` on every row."""
        moment = self.created_at.astimezone(UTC).replace(tzinfo=None)
        created_at = pa.repeat(pa.scalar(moment, TIMESTAMP), len(self.rows))
        return pa.Table.from_pydict({**columns, "created_at": created_at}, self.target.imported_schema)

    def check(self, rows: pa.Table, day: date | None = None, places: pa.Array | None = None) -> None:
        """Find rows that repeat a key with other values. `places` are those of the rows in the list, if they differ."""
        for broken in _broken_rules(self.table, rows, day):
            if "unique" not in broken.rule:
                place = _first_broken(self.table, rows, broken, day)
                said = f"{self.table}: {broken}" if broken.rule.endswith(" characters") else str(broken)
                place = place if places is None else places[place].as_py()
                raise self.refusal(place, f"{said}: no build would accept it")
            if self.table == "expansions":
                message = f"{broken.rows:,} rows give expansions several names, such as {broken.example}"
                self.find("named-twice", broken.rows, message, is_refused=False)
            else:
                message = f"{broken.rows:,} rows repeat a product with other values, such as {broken.example}"
                self.find(DUPLICATES, broken.rows, message)

    def check_time(self) -> None:
        """Find a time that the clock has not reached."""
        if self.created_at - utc_now() > settings.MAX_AHEAD_OF_CLOCK:
            message = f"createdAt is {self.created_at.isoformat()}, which the clock of this machine has not reached"
            self.find(FUTURE, len(self.rows), message)

    def imported(self, rows: pa.Table, what: str, **more: Any) -> ImportedFile:
        more = {"number": number_of(self.path)} | more
        return ImportedFile(self.path, self.target, encode_parquet(rows), self.created_at, what, self.findings, **more)


def read_marketplace_file(path: Path, limits: FileLimits, kind: str | None) -> list[ImportedFile]:
    """Read all lists of a file. Without a kind, a file that does not show its own raises NotTheMarketplaces."""
    document = read_document(path, limits) if kind else _found_document(path, limits)
    if kind and KINDS[kind] not in document.lists:
        has = f"; it has {' and '.join(document.lists)}" if document.lists else ""
        raise IngestError(f'{path}: no list "{KINDS[kind]}" in it{has}: give it with the option of its list')
    readers: dict[str, tuple[str, TableFile, Callable[[_GivenList], ImportedFile]]] = {
        "products": ("products", PRODUCTS_FILE, partial(_read_products, option=kind)),
        "expansions": ("expansions", EXPANSIONS_FILE, _read_expansions),
        "priceGuides": ("price_guide", price_guide_file(document.created_at.date()), _read_price_guide),
    }
    found = []
    for name, rows in document.lists.items():
        table, target, read = readers[name]
        given = _GivenList(path, document.created_at, rows, table, target)
        found.append(read(given))
        keys = sorted(given.keys - _KNOWN_KEYS[name])
        for what, unknown in (("rows have keys", keys), ("the file has members", document.unknown)):
            if unknown:
                message = f"{what} that are not known: {', '.join(unknown)}"
                given.find("unknown-keys", len(unknown), message, is_refused=False)
    return found


def option_of(path: Path, limits: FileLimits) -> str | None:
    """Return the option of an import for a file of the marketplace, by how it begins; None for another file."""
    found = _LIST.search(start_of(path, limits))
    if found is None:
        return None
    kind = next(kind for kind, name in KINDS.items() if name == found[1])
    if kind == "singles" and _NOT_SINGLES.search(path.name.lower()):
        kind = "nonsingles"
    return kind.replace("_", "-")


def _product_kind(path: Path, kind: str | None) -> str:
    if kind in ("singles", "nonsingles"):
        return "single" if kind == "singles" else "sealed"
    name = path.name.lower()
    if "single" in name:
        return "sealed" if _NOT_SINGLES.search(name) else "single"
    if kind:
        raise IngestError(f"{path}: {_NOT_TOLD}")
    raise NotTheMarketplaces(_NOT_TOLD)


def _read_products(given: _GivenList, option: str | None) -> ImportedFile:
    """Read a product list. The files themselves do not tell its kind, `single` or `sealed`."""
    kind = _product_kind(given.path, option)
    columns = {
        "id_product": given.column("idProduct", pa.int64(), required=True),
        "name": given.names("name", required=True),
        "kind": pa.repeat(pa.scalar(kind), len(given.rows)),
        "category": given.column("categoryName", pa.string()),
        "id_expansion": given.column("idExpansion", pa.int64()),
        "date_added": _date_added(given),
    }
    rows = given.as_table(columns)
    given.check(rows)
    given.check_time()
    _judge_kind(given, kind, columns["category"])
    numbers = {category: number_of_categories([category]) for category in pc.unique(columns["category"]).to_pylist()}
    number = number_of(given.path) or number_of_categories(numbers)
    if game := GAMES.get(number or -1):
        others = [category for category, other in numbers.items() if other not in (None, number)]
        found = rows.filter(pc.is_in(rows["category"], pa.array(others, pa.string())))
        if count := len(found):
            example = f"{quoted_json(found['category'][0].as_py())} of product {found['id_product'][0].as_py()}"
            have = f"{count:,} product{'s have' if count != 1 else ' has'} a category of another game than {game}"
            given.find("other-game", count, f"{have}, such as {example}", is_refused=False)
    return given.imported(rows, f"{len(rows):,} {_KINDS_OF_PRODUCTS[kind]}", is_sealed=kind == "sealed", number=number)


def _judge_kind(given: _GivenList, kind: str, categories: pa.Array) -> None:
    """Find that the name of a file, or most of its categories, say that its products are of the other kind."""
    name = given.path.name.lower()
    told = ("sealed" if _NOT_SINGLES.search(name) else "single") if "single" in name else kind
    if told != kind:
        message = f"read as {_KINDS_OF_PRODUCTS[kind]}, but its name says {_KINDS_OF_PRODUCTS[told]}"
        given.find(OTHER_KIND, len(given.rows), message)
        return
    named = categories.drop_null()
    others = named.filter(pc.match_substring_regex(named, _CATEGORIES["sealed" if kind == "single" else "single"]))
    if 2 * len(others) > len(named):
        category = quoted_json(others[0].as_py())
        message = f"read as {_KINDS_OF_PRODUCTS[kind]}, but {len(others):,} have categories such as {category}"
        given.find(OTHER_KIND, len(others), message)


def _read_expansions(given: _GivenList) -> ImportedFile:
    """Read names of expansions, without rows that have no name."""
    # Some rows of the real file call the id of the expansion `idProduct`.
    ids = pc.coalesce(given.column("idExpansion", pa.int64()), given.column("idProduct", pa.int64()))
    given.refuse_any(ids.is_null(), "it has no idExpansion")
    table = given.as_table({"id": ids, "name": given.names("enName")})
    is_named = pc.not_equal(pc.utf8_trim_whitespace(table["name"]), "")
    places = pc.indices_nonzero(pc.fill_null(is_named, False))
    rows = table.take(places)
    given.check(rows, places=places)
    given.check_time()
    return given.imported(rows, f"names of {len(rows):,} expansion{'s' * (len(rows) != 1)}")


def _read_price_guide(given: _GivenList) -> ImportedFile:
    columns = {"id_product": given.column("idProduct", pa.int64(), required=True)}
    given.check_time()
    if not given.rows:
        given.find(EMPTY_GUIDE, 1, "the price guide has no rows")
    for figure in PRICE_FIGURES:
        holo, foil = (_prices(given, figure, suffix) for suffix in ("-holo", "-foil"))
        columns[figure] = _prices(given, figure)
        columns[f"{figure}_holo"] = pc.coalesce(holo, foil)
        both = pc.fill_null(pc.not_equal(holo, foil), False)
        if count := pc.sum(both).as_py():
            product = given.rows[pc.index(both, True).as_py()]["idProduct"]
            message = f"{count:,} rows have {figure}-holo and another {figure}-foil, such as product {product}"
            given.find(TWO_FOIL_PRICES, count, message)
    rows = given.as_table(columns)
    day = given.created_at.date()
    given.check(rows, day)
    what = f"price guide of {day}, {len(rows):,} rows"
    absent = [figure for figure in PRICE_FIGURES if figure not in given.keys]
    absent += [f"{figure}_holo" for figure in PRICE_FIGURES if not given.keys & {figure + s for s in _FOIL_SUFFIXES}]
    unknown = tuple(sorted(given.keys - _KNOWN_KEYS["priceGuides"]))
    return given.imported(rows, what, absent=tuple(absent), unknown=unknown)


def _first_refused(values: list[Any], take: Callable[[Any], object]) -> int:
    for place, value in enumerate(values):
        try:
            take(value)
        except (OverflowError, ValueError):  # a number beyond 64 bits, half of a surrogate pair, no time
            return place
    raise AssertionError("Arrow takes all of them")


def _date_added(given: _GivenList) -> pa.Array:
    """Return `dateAdded` unchanged, because it has no zone. A zero date (`0000-00-00 00:00:00`) is null."""
    texts = given.column("dateAdded", pa.string())
    zero = pc.match_substring_regex(texts, r"^(0000-|\d{4}-00|\d{4}-\d\d-00)")
    times = pc.if_else(zero, None, texts)
    try:
        return times.cast(TIMESTAMP)
    except pa.ArrowInvalid:
        place = _first_refused(times.to_pylist(), lambda text: pa.scalar(text, pa.string()).cast(TIMESTAMP))
        problem = f"dateAdded must be a time such as 2022-07-01 10:00:00, not {quoted_json(texts[place].as_py())}"
        raise given.refusal(place, problem) from None


def _prices(given: _GivenList, figure: str, suffix: str = "") -> pa.Array:
    """Return one price column. A trend of 0 means that there is no price. Any other 0 is a price."""
    prices = given.column(figure + suffix, pa.float64())
    return pc.if_else(pc.equal(prices, 0), None, prices) if figure == "trend" else prices


def _broken_rules(table: str, rows: pa.Table, day: date | None) -> list[BrokenRule]:
    """Return the rules of `build/checks/` that rows of a table break. Equal rows count once, as they are stored."""
    of_day = f", date '{day}' as day" if day else ""
    with duckdb.connect() as database:
        database.execute("create schema raw")
        database.register("incoming", with_columns(rows, arrow_schema(table)))
        database.execute(f"create view raw.{table} as select distinct *{of_day} from incoming")
        database.create_function("fold", fold, ["VARCHAR"], "VARCHAR")
        run_file(database, "macros")
        return [broken for broken in broken_rules(database, table) if broken.column in (*rows.schema.names, "day")]


def _first_broken(table: str, rows: pa.Table, broken: BrokenRule, day: date | None) -> int:
    """Return the place of the first row that breaks a rule, which is no repetition."""
    first, count = 0, len(rows)
    while count > 1:
        half = rows.slice(first, count // 2)
        if any((one.column, one.rule) == (broken.column, broken.rule) for one in _broken_rules(table, half, day)):
            count //= 2
        else:
            first, count = first + count // 2, count - count // 2
    return first


def read_document(path: Path, limits: FileLimits) -> Document:
    """Read a file, and check what all files share."""
    return _csv_guide(path, limits) if _is_csv_guide(start_of(path, limits)) else _json_document(path, limits)


def _found_document(path: Path, limits: FileLimits) -> Document:
    """Read a file of a folder. Raise NotTheMarketplaces if it is none of the marketplace's."""
    try:
        document = read_document(path, limits)
    except OtherFile as other:
        raise NotTheMarketplaces(str(other).removeprefix(f"{path}: ")) from None
    except IngestError:
        text = start_of(path, limits)
        if _is_csv_guide(text) or _LIST.search(text):
            raise
        raise NotTheMarketplaces(_NONE_OF_THEM) from None
    if not document.lists:
        raise NotTheMarketplaces(_NONE_OF_THEM)
    return document


def _is_csv_guide(text: str) -> bool:
    """Return whether a text begins as a guide of before 2024: with a product and at least one price."""
    header = next((line for line in text.splitlines() if line.strip(' \t\ufeff,;"') and "sep=" not in line.lower()), "")
    cells = {cell.strip(' \t\ufeff"').casefold() for cell in re.split("[,;\t|]", header)}
    return "idproduct" in cells and bool(cells & _PRICE_NAMES)


def _csv_guide(path: Path, limits: FileLimits) -> Document:
    """Return a guide, with its rows under the keys of JSON."""
    found = _DAY_IN_NAME.search(path.name)
    try:
        day = datetime.strptime("".join(found.groups()), "%Y%m%d").replace(tzinfo=UTC) if found else None
    except ValueError:
        day = None
    if day is None:
        advice = "write the day into its name, as price_guide_1_2023-05-01.csv"
        raise IngestError(f"{path}: a price guide as CSV has no createdAt: {advice}")
    file = FileLines(path, CSV_GUIDE, limits)
    if file.refused:
        raise IngestError(str(file.refused[0]))
    given = [name for name, column in CSV_GUIDE.columns.items() if file.keys & {*column.keys}]
    unknown = file.keys - CSV_GUIDE.keys - CSV_GUIDE.remarks
    return Document(day, {"priceGuides": file.rows.select(given).to_pylist()}, tuple(sorted(unknown)))


def _json_document(path: Path, limits: FileLimits) -> Document:
    with open_bounded(path, limits) as file:
        data = file.read()
    encoding = json.detect_encoding(data[:4])
    try:
        text = data.decode(encoding)
        document = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unrepeated)
    except UnicodeDecodeError as error:
        raise IngestError(f"{path}: not JSON: byte {error.start:,} is no {encoding}: save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        for name in _LISTS:
            if f'"{name}" stands twice' in str(error):
                raise IngestError(f'{path}: the list "{name}" stands twice in it: split the file') from error
        raise IngestError(f"{path}: not JSON, or cut off: {error}: download it again") from error
    members = document if isinstance(document, dict) else {}
    lists = {name: members[name] for name in _LISTS if isinstance(members.get(name), list)}
    if not lists:
        return Document(datetime.min, {}, ())
    if members.get("version", _FORMAT_VERSION) != _FORMAT_VERSION:
        version = quoted_json(members["version"])
        raise IngestError(
            f"{path}: version {version} of the format: only {_FORMAT_VERSION} can be read: is there a newer cardpress?"
        )
    return Document(_created_at(path, members.get("createdAt")), lists, tuple(sorted(members.keys() - _KNOWN_MEMBERS)))


def _created_at(path: Path, value: Any) -> datetime:
    """Parse a time of ISO 8601, such as `2026-07-26T02:44:32+0200`, or of mails. Without an offset it is UTC."""
    try:
        text = _SPACE_BEFORE_OFFSET.sub("", value.strip())
        moment = parsedate_to_datetime(text) if text[:1].isalpha() else datetime.fromisoformat(text.upper())
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        expected = f"a time such as 2026-07-26T02:44:32+0200, not {quoted_json(value)}"
        raise IngestError(f"{path}: createdAt must be {expected}; {MEND}") from error
    return moment
