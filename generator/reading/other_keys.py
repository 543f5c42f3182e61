"""The key records of another store, also as older versions kept them."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from generator.errors import BuildError
from generator.storage.errors import KeyFormatError, StoreError
from generator.storage.keys import MAX_RATE_LIMIT, KeyFile, KeyRecord, open_key_file
from generator.storage.stores.interface import parse_json

_THREADS = 32
_ONE_LIST, _LISTS = 1, 2  # formats in which older versions kept all records in `keys.json`, or in files that it names


def read_records(source: str) -> tuple[list[KeyRecord], list[str]]:
    """Return the key records at a location (a store, or what `--keys` names), and why others cannot be taken."""
    file, records, broken = _key_file(source), list[KeyRecord](), list[str]()
    with ThreadPoolExecutor(_THREADS) as pool:
        stored = pool.map(lambda sha256: (sha256, file.store.get(file.object_of(sha256))), file.hashes())
        for sha256, data in [*_listed(file), *stored]:
            try:
                records.append(_record(sha256, data))
            except KeyFormatError as error:
                broken.append(str(error))
    return records, broken


def _key_file(source: str) -> KeyFile:
    for keys in (None, source):
        file = open_key_file("." if source.endswith(".json") else source, keys)
        if file.store.stat(file.name) is not None or file.hashes():
            return file
    raise BuildError(f"there are no keys in {source}: name a store, or the location that --keys names")


def _record(sha256: str, data: bytes) -> KeyRecord:
    """Parse a record. Older versions knew no highest limit."""
    try:
        fields = parse_json(data)
        fields["rate_limit"] = min(fields["rate_limit"], MAX_RATE_LIMIT)
        data = json.dumps(fields).encode()
    except (ValueError, KeyError, TypeError):
        pass  # the record itself says why it cannot be read
    return KeyRecord.from_bytes(sha256, data)


def _listed(file: KeyFile) -> Iterator[tuple[str, bytes]]:
    """Yield hash and record of the keys that older versions kept in lists."""
    found = file.store.get_versioned(file.name)
    try:
        document = parse_json(found.data) if found else {}
        for fields in _fields(file, document):
            yield fields["sha256"], json.dumps(fields).encode()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{file.name} in {file.store.location} cannot be read ({error!r}): restore it") from error


def _fields(file: KeyFile, document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if document.get("format") == _ONE_LIST:
        yield from document["keys"]
    elif document.get("format") == _LISTS:
        for shard, token in document["shards"].items():
            lines = file.store.get(f"{file.name.removesuffix('.json')}/{shard}/{token}.jsonl").splitlines()
            yield from map(parse_json, lines)
    elif "format" in document:
        raise ValueError(f"its format is {document['format']!r}")
