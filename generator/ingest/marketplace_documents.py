"""Reads a file of the marketplace into lists of rows, as JSON has them.

A file is one JSON document `{"version": 1, "createdAt": TIME, LIST: [ROW, …]}` with one list or several, whatever the
order of its members, or a guide as CSV, as the marketplace made them before 2024. The name of such a guide has its day.
"""

import json
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple

from generator.errors import IngestError
from generator.ingest.bounded_file import DOWNLOAD_LIMITS, FileLimits, encoding_of, open_bounded
from generator.ingest.formats import CSV_GUIDE
from generator.ingest.lines import FileLines
from generator.ingest.values import quoted_json, refuse_constant, unrepeated

MEND = "download the file again, or correct it there"
_FORMAT_VERSION = 1
_START_BYTES = 65_536
_LISTS = ("products", "expansions", "priceGuides")
_NONE_OF_THEM = "it has no list of products, prices or expansions"
_LIST = re.compile(rf'(?<!\\)"({"|".join(_LISTS)})"\s*:\s*\[')
_SPACE_BEFORE_OFFSET = re.compile(r"\s+(?=[+-][0-9]{2}:?[0-9]{2}$|Z$)", re.IGNORECASE)
_KNOWN_MEMBERS = frozenset({"version", "createdAt", *_LISTS})
_DAY_IN_NAME = re.compile(r"(?<![0-9])(20[0-9]{2})[-_]?([01][0-9])[-_]?([0-3][0-9])(?![0-9])")
_PRICE_NAMES = {key.casefold() for key in CSV_GUIDE.value_keys}


class NotTheMarketplaces(Exception):
    """A file is none of the marketplace's, or does not say what its products are. The message says why."""


class Document(NamedTuple):
    """A file: when the marketplace created it, its lists of rows by name, and other members."""

    created_at: datetime
    lists: dict[str, list[dict[str, Any]]]
    unknown: tuple[str, ...]


def read_document(path: Path, limits: FileLimits = DOWNLOAD_LIMITS, *, is_certain: bool = True) -> Document:
    """Read a file, and check what all files share. NotTheMarketplaces: it is none of them, and this is not certain."""
    with open_bounded(path, limits) as file:
        start = file.read(_START_BYTES)
        text = start.decode(encoding_of(start), "replace")
    if _is_csv_guide(text):
        return _csv_guide(path, limits)
    is_told = is_certain or _LIST.search(text) is not None
    if not is_told and not text.lstrip("\ufeff \t\r\n").startswith("{"):
        raise NotTheMarketplaces(_NONE_OF_THEM)
    try:
        document = _json_document(path, limits)
    except IngestError:
        if is_told:
            raise
        raise NotTheMarketplaces(_NONE_OF_THEM) from None
    if not document.lists and not is_certain:
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
    encoding = encoding_of(data[:4])
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
