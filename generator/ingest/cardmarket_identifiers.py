"""Imports MTGJSON's `CardmarketIdentifiers.json`: what the marketplace's files of Magic lack.

`{"meta": {"date": …}, "data": {"expansions": {id: {"name", "setCodes"}}, "products": {id: {"name", "number",
"expansionId", "uuids"}}}}`: names of expansions, numbers of products, the ids of MTGJSON's cards, and the set code
where an expansion has one alone. All of it appears together in the lake.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from generator import settings
from generator.errors import IngestError
from generator.ingest.bounded_file import FileLimits, encoding_of, open_bounded
from generator.ingest.games import GAMES, GameOfFile
from generator.ingest.identifier_formats import is_value, set_number
from generator.ingest.identifiers_import import FileCounts, merge_rows
from generator.ingest.json_stream import JsonStream
from generator.ingest.list_page_values import list_pages_file
from generator.ingest.merge import MergeCounts, changed_files
from generator.ingest.table_files import expansions_file, identifiers_file
from generator.ingest.table_updates import update_from_pages
from generator.ingest.values import InvalidValue, parse_id, parse_text
from generator.lake.writer import LakeWriter, encode_parquet

_START_BYTES = 65_536
_SIGN = re.compile(r'"data"\s*:\s*\{\s*"(?:expansions|products)"\s*:\s*\{')
_GAME = GAMES[1]


@dataclass
class _Content:
    """What a file says: names of expansions and numbers of products by id, the codes of expansions, and ids."""

    path: Path
    created_at: datetime | None = None
    names: dict[int, str] = field(default_factory=dict)
    codes: dict[int, list[str]] = field(default_factory=dict)
    numbers: dict[int, str] = field(default_factory=dict)
    expansions: dict[int, int] = field(default_factory=dict)
    ids: list[tuple[int, str, str]] = field(default_factory=list)


class IdentifiersFile(NamedTuple):
    """The result of an import: what was read, and what changed in each file of the lake."""

    expansions: int
    products: int
    tables: dict[str, MergeCounts]
    identifiers: dict[str, FileCounts]

    def __str__(self) -> str:
        return f"{self.products:,} products and {self.expansions:,} expansions read"


def is_cardmarket_identifiers(path: Path, limits: FileLimits) -> bool:
    """Return whether a file of MTGJSON is this one.

    Raises:
        IngestError: It cannot be read.
    """
    with open_bounded(path, limits) as file:
        start = file.start(_START_BYTES)
    return _SIGN.search(start.decode(encoding_of(start), "replace")) is not None


def import_cardmarket_identifiers(lake: LakeWriter, path: Path, limits: FileLimits) -> IdentifiersFile:
    """Add names, numbers and ids to the lake.

    Raises:
        IngestError: The file cannot be read, or is not of this form, and nothing was written; or writing failed.
    """
    content = _read(path, limits)
    with lake.locked():
        names = _names(content)
        updated = update_from_pages(
            lake, _pages(content), [encode_parquet(names)], [GameOfFile(names["id"], _GAME, is_firm=True)]
        )
        changed_pages, *updates = updated
        changes = [update.change() for update in updates]
        counts, changed = merge_rows(lake, _identifiers(content))
        lake.write(changed_pages | changed_files(changes) | changed)
    tables = {change.path: change.counts for change in changes}
    return IdentifiersFile(len(content.names), len(content.expansions), tables, counts)


def _read(path: Path, limits: FileLimits) -> _Content:
    content = _Content(path)
    with open_bounded(path, limits) as file:
        try:
            stream = JsonStream(file.some, settings.MAX_CARD_CHARACTERS)
            for name in stream.members():
                if name == "data" and stream.peek() == "{":
                    _read_data(stream, content)
                else:
                    value = stream.value()
                    content.created_at = _date(value) if name == "meta" else content.created_at
        except ValueError as error:
            raise IngestError(f"{path}: no CardmarketIdentifiers.json: {error}") from None
    if content.created_at is None:
        raise IngestError(f"{path}: no CardmarketIdentifiers.json: it has no meta.date")
    if not content.names and not content.expansions:
        raise IngestError(f"{path}: no CardmarketIdentifiers.json: it has no expansions and no products under data")
    return content


def _date(meta: Any) -> datetime:
    try:
        return datetime.fromisoformat(meta["date"]).replace(tzinfo=None)
    except (KeyError, TypeError, ValueError):
        raise ValueError("meta.date must be a day such as 2026-09-18") from None


def _read_data(stream: JsonStream, content: _Content) -> None:
    for name in stream.members():
        if name in ("expansions", "products") and stream.peek() == "{":
            for key in stream.members():
                value = stream.value()
                try:
                    add = _add_expansion if name == "expansions" else _add_product
                    add(content, _id(key, f"a key of {name}"), value if isinstance(value, dict) else {})
                except InvalidValue as error:
                    raise ValueError(f"{name} {key}: {error}") from None
        else:
            stream.value()


def _add_expansion(content: _Content, id_: int, value: dict[str, Any]) -> None:
    if name := parse_text(value.get("name"), "name"):
        content.names[id_] = name
    content.codes[id_] = list(_texts(value.get("setCodes"), "setCodes"))


def _add_product(content: _Content, id_: int, value: dict[str, Any]) -> None:
    number = value.get("number")
    if number := parse_text(str(number) if type(number) is int else number, "number"):
        content.numbers[id_] = number
    content.expansions[id_] = _id(value.get("expansionId"), "expansionId") if value.get("expansionId") else -1
    content.ids += [(id_, "mtgjson", uuid) for uuid in _texts(value.get("uuids"), "uuids")]


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


def _names(content: _Content) -> pa.Table:
    """Return the names as rows of expansions."""
    created_at = [content.created_at] * len(content.names)
    columns = {"id": list(content.names), "name": list(content.names.values()), "created_at": created_at}
    return pa.table(columns, expansions_file().imported_schema)


def _pages(content: _Content) -> pa.Table:
    """Return the numbers as values of list pages."""
    schema = list_pages_file().schema
    given = {
        "id_product": list(content.numbers),
        "number": list(content.numbers.values()),
        "scraped_at": [content.created_at] * len(content.numbers),
    }
    columns = {f.name: given.get(f.name, [None] * len(content.numbers)) for f in schema}
    return pa.table(columns, schema)


def _identifiers(content: _Content) -> pa.Table:
    """Return the ids of MTGJSON, and the set and number of products whose expansion has one code."""
    rows = list(content.ids)
    for product, expansion in content.expansions.items():
        codes = content.codes.get(expansion, [])
        if len(codes) == 1:
            found = set_number(codes[0], content.numbers.get(product))
            rows += [(product, scheme, value) for scheme, value in found if value]
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    schema = identifiers_file().schema
    return pa.table([pa.array(column, f.type) for column, f in zip(columns, schema, strict=True)], schema)
