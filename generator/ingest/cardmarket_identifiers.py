"""Imports MTGJSON's `CardmarketIdentifiers.json`: what the marketplace's files of Magic lack.

`{"meta": {"date": …}, "data": {"expansions": {id: {"name", "setCodes"}}, "products": {id: {"name", "number",
"expansionId", "uuids"}}}}`: names of expansions, numbers of products, the ids of MTGJSON's cards, and the set code
where an expansion has one alone. All of it appears together in the lake.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from generator.errors import IngestError
from generator.ingest.bounded_file import FileLimits, encoding_of, open_bounded
from generator.ingest.card_formats import is_value, set_number
from generator.ingest.catalogue import GAMES, CatalogueUpdate, GameOfFile, list_pages_file
from generator.ingest.formats import check_length
from generator.ingest.identifiers import merge_ids
from generator.ingest.json_stream import JsonStream
from generator.ingest.lines import as_table
from generator.ingest.pipeline import FileChange, ImportSource, OnRead
from generator.ingest.tables import expansions_file, identifiers_file
from generator.ingest.values import InvalidValue, parse_id, parse_text
from generator.lake.writer import LakeWriter, encode_parquet

_START_BYTES = 65_536
_SIGN = re.compile(r'"data"\s*:\s*\{\s*"(?:expansions|products)"\s*:\s*\{')
_GAME = GAMES[1]


def is_cardmarket_identifiers(path: Path, limits: FileLimits) -> bool:
    """Return whether a file of MTGJSON is this one."""
    with open_bounded(path, limits) as file:
        start = file.read(_START_BYTES)
    return _SIGN.search(start.decode(encoding_of(start), "replace")) is not None


@dataclass
class CardmarketIdentifiers(ImportSource):
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
        named = [(id_, name, self.created_at) for id_, name in self.names.items()]
        names = as_table(named, expansions_file().imported_schema)
        catalogue = CatalogueUpdate(lake, expansions=[encode_parquet(names)])
        numbered = [(id_, number, self.created_at) for id_, number in self.numbers.items()]
        schema = pa.schema([list_pages_file().schema.field(name) for name in ("id_product", "number", "scraped_at")])
        catalogue.add_pages(as_table(numbered, schema))
        catalogue.complete([GameOfFile(names["id"], _GAME, is_firm=True)])
        yield catalogue.pages_change()
        yield catalogue.products.change()
        yield catalogue.expansions.change()
        with closing(duckdb.connect()) as db:
            db.register("kept", as_table(list(self._identifiers()), identifiers_file().schema))
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
    for text in value if isinstance(value, list) else [] if value is None else [value]:
        if not isinstance(text, str) or not is_value(text):
            raise InvalidValue(f"{name} must be texts without commas and blanks")
        yield text
