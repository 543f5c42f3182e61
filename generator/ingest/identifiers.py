"""Imports ids that other catalogues have for products, from tables and from the catalogues' own files of cards.

A card or line becomes rows, or is refused with its number and the reason. A link that names another card than its
product is left out. MTGJSON's `CardmarketIdentifiers.json` also has what the marketplace's files of Magic lack.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from generator.database import run_file, sql_text
from generator.errors import IngestError
from generator.ingest.card_formats import CardFormat, identify_line, is_value, set_number
from generator.ingest.formats import LineFormat, check_length, marketplace_id, required
from generator.ingest.formats import text as text_column
from generator.ingest.lines import GivenLine, as_table, given_lines
from generator.ingest.pipeline import OTHER_NAMES, FileChange, ImportFiles, OnRead
from generator.ingest.products import GAMES, LIST_PAGES_FILE, CatalogueUpdate, GameOfFile
from generator.ingest.streams import FileLimits, JsonStream, open_bounded, start_of
from generator.ingest.table_files import EXPANSIONS_FILE, IDENTIFIERS_FILE
from generator.ingest.values import InvalidValue, parse_id, parse_text, quoted_json
from generator.lake.table_writer import LakeWriter, encode_parquet
from generator.lake.tables import LONGEST_TEXTS, arrow_schema
from generator.storage import text

FILE = IDENTIFIERS_FILE.path
_TABLE = "identifiers"
_COLUMNS = {
    "id_product": required(marketplace_id("id_product")),
    "scheme": required(text_column("scheme")),
    "value": required(text_column("value")),
}
_LINES = LineFormat("identifiers", _COLUMNS)
_ROWS = pa.schema([("file", pa.int32()), ("number", pa.int64()), ("name", pa.string()), *IDENTIFIERS_FILE.schema])
_PRODUCTS = pa.schema([("id_product", pa.int64()), ("name", pa.string())])
_CODES = pa.schema([("own", pa.string()), ("printed", pa.string())])
_SCHEME = re.compile("[a-z0-9_]{1,32}")
_SCHEME_RULE = "write 1 to 32 letters a-z, digits and _"
_BRACKETS = re.compile(r"\[[^\]]*\]|\([^)]*\)")
_SPELT = str.maketrans({"æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o", "đ": "d", "ł": "l"})
_VALUE_RULE = "write 1 to 200 characters without commas and blanks"
_SIGN = re.compile(r'"data"\s*:\s*\{\s*"(?:expansions|products)"\s*:\s*\{')


@dataclass
class Cases:
    """How many cards or lines are of a kind, and the first of them."""

    count: int = 0
    example: str = ""

    def add(self, example: str) -> None:
        self.example = self.example or example
        self.count += 1

    def said(self, what: str) -> str:
        """Return the count and the example as a part of a sentence."""
        return f"{self.count:,} {what}" + (f" (such as {self.example})" if self.example else "")


@dataclass
class IdentifierFiles(ImportFiles):
    """Ids of other catalogues."""

    format: CardFormat | None  # of files of cards; None for CSV and JSON Lines
    paths: Sequence[Path]
    limits: FileLimits
    replace: bool = False  # make the files the whole truth of each scheme
    matched: int = field(default=0, init=False)  # cards or lines that have a product of the catalogue
    without: Cases = field(default_factory=Cases, init=False)  # without an id of the marketplace
    unknown: Cases = field(default_factory=Cases, init=False)  # builds leave them out until the catalogue has them
    read_of: Counter[int] = field(default_factory=Counter, init=False)  # cards or lines, by the place of their file
    refused_of: dict[int, Cases] = field(default_factory=dict, init=False)
    codes: dict[str, list[str]] = field(default_factory=dict, init=False)  # printed ones, by the catalogue's own
    _tables: list[pa.Table] = field(default_factory=list, init=False)  # by file

    @property
    def unit(self) -> str:
        """What the files consist of."""
        return "card" if self.format else "line"

    @property
    def refused(self) -> Cases:
        """The cards or lines with a wrong value."""
        cases = list(self.refused_of.values())
        return Cases(sum(case.count for case in cases), cases[0].example if cases else "")

    @property
    def summary(self) -> str:
        """What was read, and how much of it was left out, with an example each."""
        read = self.read_of.total()
        counts = [
            f"{self.matched:,} matched",
            self.without.said("without an id of the marketplace"),
            self.unknown.said("unknown to the catalogue"),
            self.refused.said("refused"),
        ]
        return f"{read:,} {self.unit}{'s' * (read != 1)} read: {', '.join(counts)}"

    @property
    def counts(self) -> dict[str, object]:
        counts: dict[str, object] = {"unit": self.unit, "read": self.read_of.total(), "matched": self.matched}
        return counts | {kind: vars(getattr(self, kind)) for kind in ("without", "unknown", "refused")}

    def read(self, on_read: OnRead) -> None:
        """Read the cards of a catalogue or the lines of a table. Raise IngestError for a file of another form."""
        for place, path in enumerate(self.paths):
            try:
                given = self._cards(path, self.format) if self.format else self._lines(path)
                self._tables.append(as_table(self._read(place, given), _ROWS))
            except ValueError as error:
                what = f"file of {self.format.name}" if self.format else "table of identifiers"
                raise IngestError(f"{path}: no {what}: {error}") from error
            on_read(path)

    def _cards(self, path: Path, format_: CardFormat) -> Iterator[GivenLine]:
        with open_bounded(path, self.limits) as file:
            for number, card in enumerate(format_.cards(JsonStream(file)), 1):
                is_card = isinstance(card, dict)
                problem = "" if is_card else f"no JSON object, but {quoted_json(card)}"
                yield GivenLine(number, "", card if is_card else {}, problem)

    def _lines(self, path: Path) -> Iterator[GivenLine]:
        """Yield the lines. Raise ValueError for one that is no JSON: the file was cut off."""
        for line in given_lines(path, self.limits, _LINES):
            if line.problem.startswith("not JSON"):
                raise ValueError(f"line {line.number:,} is no JSON, or cut off: {line.problem}: write it again")
            yield line

    def _read(self, file: int, given: Iterator[GivenLine]) -> Iterator[tuple[Any, ...]]:
        """Yield the ids of cards or lines. Raise ValueError if none is one of the format."""
        fine = False
        problem = "it has no cards" if self.format else f"no line has the columns {', '.join(_COLUMNS)}"
        for card in given:
            fine = fine or (not self.format and card.values.keys() >= {*_COLUMNS})
            try:
                if card.problem:
                    raise InvalidValue(card.problem)
                yield from self._ids(file, card)
                fine = True
            except InvalidValue as error:
                if self.format:
                    problem = f"none of its cards is one, such as card {card.number:,}: {error}"
                self.read_of[file] += 1
                self._refuse(file, card.number, str(error))
        if not fine:
            raise ValueError(problem)

    def _ids(self, file: int, card: GivenLine) -> list[tuple[Any, ...]]:
        if self.format and (codes := self.format.codes(card.values)):
            self.codes |= codes
            return []
        found = self.format.identify(card.values) if self.format else identify_line(card.values)
        self.read_of[file] += 1
        if not found.products:
            self.without.add(self._name(file, card.number))
        ids = [(product, *id_) for product in found.products for id_ in found.ids]
        return [(file, card.number, found.name, *one) for one in ids]

    def _refuse(self, file: int, number: int, problem: str) -> None:
        self.refused_of.setdefault(file, Cases()).add(f"{self._name(file, number)}: {problem}")

    def _name(self, file: int, number: int) -> str:
        return f"{self.paths[file]}: {self.unit} {number:,}"

    def merge(self, lake: LakeWriter) -> Iterator[FileChange]:
        """Yield the table of identifiers. Count what the lake's products match, and leave wrong links out."""
        with closing(duckdb.connect()) as db:
            run_file(db, "macros")
            db.create_function("name_words", _name_words, ["VARCHAR"], "VARCHAR[]")
            db.register("incoming", pa.concat_tables(self._tables))
            db.register("products", lake.read_all("products", _PRODUCTS))
            self._refuse_broken(db)
            if self.format:
                self._leave_other_names(db, self.format.schemes[0])
            run_file(db, "imports/identifiers/matches")
            counts = {known: (count, example) for known, count, example in db.fetchall()}
            self.matched, _ = counts.get(True, (0, None))
            unknown, example = counts.get(False, (0, None))
            self.unknown = Cases(unknown, f"id_product {example}" if unknown else "")
            if self.codes and self.format:
                self._add_printed(db, [] if self.replace else [lake.read_all(_TABLE)])
            replaced: Iterable[str] = self.format.schemes if self.format else ()
            if self.replace and not self.format:
                replaced = [scheme for (scheme,) in db.sql("select distinct scheme from kept").fetchall()]
            yield from merge_ids(db, lake, self.format, replaced if self.replace else ())

    def _refuse_broken(self, db: duckdb.DuckDBPyConnection) -> None:
        """Leave out what breaks a rule. Raise IngestError if that is all of a file."""
        for file, number, scheme, value in run_file(db, "imports/identifiers/broken").fetchall():
            wrong = f"value {quoted_json(value)} of scheme {quoted_json(scheme)}: {_VALUE_RULE}"
            if not _SCHEME.fullmatch(scheme):
                wrong = f"scheme {quoted_json(scheme)}: {_SCHEME_RULE}"
            self._refuse(file, number, wrong)
        for file, cases in sorted(self.refused_of.items()):
            if cases.count == self.read_of[file]:
                all_of_them = f"all {cases.count:,} {self.unit}s were refused"
                raise IngestError(f"{cases.example}; {all_of_them}, and nothing was imported")
        db.execute("create table kept as from incoming anti join broken using (file, number)")

    def _leave_other_names(self, db: duckdb.DuckDBPyConnection, catalogue: str) -> None:
        """Leave out the links of cards to products of other names."""
        db.execute("set variable catalogue = $1", [catalogue])
        run_file(db, "imports/identifiers/other_names")
        [(compared, differ)] = db.execute("select sum(links), sum(differ) from skipped").fetchall()
        if compared:
            said = f"{differ:,} of {compared:,} cards have other names than their products: a file in another language"
            message = f"{said}: its links are taken, and names were not compared"
            self.find("names-not-compared", "names", int(compared), message)
        found = "select count(*) over (), value, card, id_product, product from other_names order by id_product, value"
        for count, value, name, product, named in db.execute(f"{found} limit 1").fetchall():
            example = f"such as {value} {quoted_json(name)} of id_product {product} {quoted_json(named)}"
            is_taken = OTHER_NAMES in self.accepted
            fate = "taken" if is_taken else f"left out; --accept {OTHER_NAMES} takes them"
            message = f"{count:,} link{'s name' if count != 1 else ' names'} another card, {example}: {fate}"
            self.find(OTHER_NAMES, "names", count, message)
            if not is_taken:
                left = "select file, number, id_product from other_names"
                db.execute(f"delete from kept where (file, number, id_product) in ({left})")

    def _add_printed(self, db: duckdb.DuckDBPyConnection, stored: list[pa.Table]) -> None:
        """Add the ids with printed codes, for the cards of a catalogue that were read and those that the lake has."""
        pairs = [(own, printed) for own, of_set in self.codes.items() for printed in of_set if printed != own.lower()]
        db.register("codes", as_table(pairs, _CODES))
        db.register("stored", pa.concat_tables([arrow_schema(_TABLE).empty_table(), *stored]))
        run_file(db, "imports/identifiers/printed")


def merge_ids(
    db: duckdb.DuckDBPyConnection, lake: LakeWriter, format_: CardFormat | None = None, replaced: Iterable[str] = ()
) -> Iterator[FileChange]:
    """Add the rows of `kept` to those of the lake, and yield the file of imports and the other files that change."""
    schema = arrow_schema(_TABLE)
    db.register("replaced", pa.table({"scheme": pa.array(replaced, pa.string())}))
    stored = {path: lake.read_table(path, schema) for path in lake.list_tables(_TABLE)}
    rows = pa.concat_tables([schema.empty_table(), *(table.select(schema.names) for table in stored.values())])
    ours = rows.filter(pc.equal(rows["scheme"], format_.schemes[0])) if format_ else rows
    db.register("ours", ours.select(["id_product"]))
    after = {}
    for path, table in stored.items():
        db.register("stored", table)
        after[path] = db.sql(sql_text("imports/identifiers/staying")).to_arrow_table().cast(table.schema)
    others = [table.select(schema.names) for path, table in after.items() if path != FILE]
    db.register("others", pa.concat_tables([schema.empty_table(), *others]))
    db.register("own", after.get(FILE, schema.empty_table()))
    after[FILE] = db.sql(sql_text("imports/identifiers/merged")).to_arrow_table().cast(schema)
    for path in dict.fromkeys([FILE, *sorted(after)]):
        db.register("before", stored.get(path, schema.empty_table()))
        db.register("after", after[path])
        [(new, removed)] = run_file(db, "imports/identifiers/counts").fetchall()
        if new or removed or path == FILE:
            data = encode_parquet(after[path]) if new or removed else None
            yield FileChange(path, {"rows": len(after[path]), "new": new, "removed": removed}, data)


def _name_words(name: str) -> list[str]:
    """Return the words of a card's name outside brackets, which hold its attacks or version, or else all."""
    bounded = name[: LONGEST_TEXTS["name"]].translate(_SPELT)
    return text.words(_BRACKETS.sub(" ", bounded)) or text.words(bounded)


def is_cardmarket_identifiers(path: Path, limits: FileLimits) -> bool:
    return _SIGN.search(start_of(path, limits)) is not None


@dataclass
class CardmarketIdentifiers(ImportFiles):
    """What the file says: names of expansions and numbers of products by id, the codes of expansions, and ids."""

    path: Path
    limits: FileLimits
    created_at: datetime | None = field(default=None, init=False)
    names: dict[int, str] = field(default_factory=dict, init=False)
    codes: dict[int, list[str]] = field(default_factory=dict, init=False)
    numbers: dict[int, str] = field(default_factory=dict, init=False)
    expansions: dict[int, int] = field(default_factory=dict, init=False)
    ids: list[tuple[int, str, str]] = field(default_factory=list, init=False)

    @property
    def summary(self) -> str:
        return f"{len(self.expansions):,} products and {len(self.names):,} expansions read"

    @property
    def counts(self) -> dict[str, object]:
        return {"expansions": len(self.names), "products": len(self.expansions)}

    def read(self, on_read: OnRead) -> None:
        """Read names, numbers and ids. Raise IngestError if the file has none, or no date."""
        try:
            with open_bounded(self.path, self.limits) as file:
                self._read(JsonStream(file))
            if self.created_at is None:
                raise ValueError("it has no meta.date")
            if not self.names and not self.expansions:
                raise ValueError("it has no expansions and no products under data")
        except ValueError as error:
            raise IngestError(f"{self.path}: no CardmarketIdentifiers.json: {error}") from None
        on_read(self.path)

    def _read(self, stream: JsonStream) -> None:
        for name in stream.members():
            if name == "data" and stream.peek() == "{":
                for part in stream.members():
                    self._read_part(part, stream)
            else:
                value = stream.value()
                self.created_at = _date(value) if name == "meta" else self.created_at

    def _read_part(self, part: str, stream: JsonStream) -> None:
        add = {"expansions": self._add_expansion, "products": self._add_product}.get(part)
        if add is None or stream.peek() != "{":
            stream.value()
            return
        for key in stream.members():
            value = stream.value()
            try:
                add(_id(key, f"a key of {part}"), value if isinstance(value, dict) else {})
            except InvalidValue as error:
                raise ValueError(f"{part} {key}: {error}") from None

    def _add_expansion(self, id_: int, value: dict[str, Any]) -> None:
        if name := parse_text(value.get("name"), "name"):
            check_length("expansions", "name", name)
            self.names[id_] = name
        self.codes[id_] = list(_texts(value.get("setCodes"), "setCodes"))

    def _add_product(self, id_: int, value: dict[str, Any]) -> None:
        number = value.get("number")
        if number := parse_text(str(number) if type(number) is int else number, "number"):
            check_length("products", "number", number)
            self.numbers[id_] = number
        self.expansions[id_] = _id(value.get("expansionId"), "expansionId") if value.get("expansionId") else -1
        self.ids += [(id_, "mtgjson", uuid) for uuid in _texts(value.get("uuids"), "uuids")]

    def merge(self, lake: LakeWriter) -> Iterator[FileChange]:
        """Yield the numbers of products, the names of expansions, and the table of identifiers."""
        named = [(id_, name, self.created_at) for id_, name in self.names.items()]
        names = as_table(named, EXPANSIONS_FILE.imported_schema)
        catalogue = CatalogueUpdate(lake, expansions=[names])
        numbered = [(id_, number, self.created_at) for id_, number in self.numbers.items()]
        schema = pa.schema([LIST_PAGES_FILE.schema.field(name) for name in ("id_product", "number", "scraped_at")])
        catalogue.add_pages(as_table(numbered, schema))
        catalogue.complete([GameOfFile(names["id"], GAMES[1], is_firm=True)])
        yield catalogue.pages_change()
        yield catalogue.products.change()
        yield catalogue.expansions.change()
        with closing(duckdb.connect()) as db:
            db.register("kept", as_table(self._identifiers(), IDENTIFIERS_FILE.schema))
            yield from merge_ids(db, lake)

    def _identifiers(self) -> Iterator[tuple[int, str, str]]:
        """Yield the ids of MTGJSON, and the set and number of products whose expansion has one code."""
        yield from self.ids
        for product, expansion in self.expansions.items():
            codes = self.codes.get(expansion, [])
            if len(codes) == 1:
                found = set_number(codes[0], self.numbers.get(product))
                yield from ((product, scheme, value) for scheme, value in found if value)


def _date(meta: Any) -> datetime:
    try:
        return datetime.fromisoformat(meta["date"]).replace(tzinfo=None)
    except (KeyError, TypeError, ValueError):
        raise ValueError("meta.date must be a day such as 2026-09-18") from None


def _id(value: Any, name: str) -> int:
    found = parse_id(int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value, name)
    if found is None:
        raise InvalidValue(f"{name} is missing")
    return found


def _texts(value: Any, name: str) -> Iterator[str]:
    for one in value if isinstance(value, list) else [] if value is None else [value]:
        if not isinstance(one, str) or not is_value(one):
            raise InvalidValue(f"{name} must be texts without commas and blanks")
        yield one
