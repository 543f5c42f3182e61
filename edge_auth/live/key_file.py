"""The key records in a store. They belong to no build, so a rollback does not bring back revoked keys.

Up to MAX_BYTES of records are one list; more are in shards, by the first digits of the hash of the key:

    keys.json                  {"format": 1, "keys": [record, …]}
    or keys.json               {"format": 2, "digits": 3, "issued": 12345, "shards": {"a3f": TOKEN, …}}
       keys/a3f/TOKEN.jsonl    a record with its number a line, which begins with {"sha256":"HASH"

A file of a shard never changes. A change writes a new one, and it counts once `keys.json` names it: so a reader sees by
`keys.json` alone which shards changed. A later change of the same shard deletes the files that are named no more and an
hour old: until then readers and backups that have an older `keys.json` find them.
`nginx/state.lua` reads the same files.
"""

import hashlib
import json
import re
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from edge_auth.builds import layout
from edge_auth.errors import KeyFormatError, StoreError, UnknownKey
from edge_auth.live.keys import KeyRecord, id_of
from edge_auth.store.interface import Store, update_json
from edge_auth.store.open import open_store, parent_and_name

MAX_BYTES = 400_000  # of a list of all records: about 1,000
DIGITS = 3
_ONE_LIST, _SHARDS = 1, 2  # formats
_JSON = ".json"
_KEPT_SECONDS = 3600
_THREADS = 16
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
_NUMBER = re.compile(rb'"number":([0-9]+)')


@dataclass(frozen=True)
class KeyList:
    """What `keys.json` says: all records, or the shards that hold them.

    Attributes:
        records: In the order of their issue; none if they are in shards.
        shards: By the first digits of the hash, the token of the shard's file.
        digits: How many digits name a shard; 0 if there are none.
        issued: How many records there are in shards.
    """

    records: tuple[KeyRecord, ...] = ()
    shards: Mapping[str, str] = field(default_factory=dict)
    digits: int = 0
    issued: int = 0

    @cached_property
    def by_hash(self) -> dict[str, KeyRecord]:
        """The records that are in no shard, by hash."""
        return {record.sha256: record for record in self.records}

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self.records) + self.issued

    @staticmethod
    def parse(data: bytes) -> "KeyList":
        """Return the list in a file.

        Raises:
            KeyFormatError: The bytes are not such a file, or a newer version wrote them.
        """
        try:
            document = json.loads(data)
            if document["format"] == _ONE_LIST:
                return KeyList(tuple(KeyRecord.from_fields(fields) for fields in document["keys"]))
            if document["format"] != _SHARDS:
                raise ValueError(f"its format is {document['format']!r}, this version reads {_ONE_LIST} and {_SHARDS}")
            shards, digits, issued = document["shards"], document["digits"], document["issued"]
            if not isinstance(shards, dict) or type(digits) is not int or type(issued) is not int:
                raise TypeError("its shards have fields of the wrong type")
            return KeyList((), shards, digits, issued)
        except (ValueError, KeyError, TypeError) as error:
            raise KeyFormatError(f"the key records cannot be read: {error}") from error

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        if not self.digits:
            document = {"format": _ONE_LIST, "keys": [record.fields() for record in self.records]}
            return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"
        shards = dict(sorted(self.shards.items()))
        numbers = {"format": _SHARDS, "digits": self.digits, "issued": self.issued}
        return json.dumps(numbers | {"shards": shards}, indent=0).encode() + b"\n"


def find_in_shard(data: bytes, sha256: str) -> KeyRecord | None:
    """Return the record of the key with this hash, or None.

    Raises:
        KeyFormatError: Its line cannot be read.
    """
    line = _line_of(data, sha256)
    return _record(line) if line else None


class KeyFile:
    """The key records of a store.

    Args:
        copies: Where copies of shards are kept that were read across a network, for this shim and its nginx.

    Attributes:
        name: The name of `keys.json` in the store.
    """

    def __init__(self, store: Store, name: str, copies: Store | None = None):
        self.store = store
        self.name = name
        self._copies = copies

    def read_list(self) -> KeyList:
        """Return the list as it is now: an empty one if there is no file yet."""
        found = self.store.get_versioned(self.name)
        return KeyList.parse(found.data) if found else KeyList()

    def records(self) -> list[KeyRecord]:
        """Return all records in the order of their issue, or an empty list if there is no file yet."""
        found = self.read_list()
        with ThreadPoolExecutor(_THREADS) as pool:
            contents = pool.map(lambda shard: self._read(found, shard), found.shards)
            numbered = sorted((_number(line), line) for data in contents for line in data.splitlines())
        return [*found.records, *(_record(line) for _, line in numbered)]

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of the key with this hash as it is now, or None."""
        found = self.read_list()
        return found.by_hash.get(sha256) or find_in_shard(self._read(found, sha256[: found.digits]), sha256)

    def shard(self, shard: str, token: str) -> bytes:
        """Return the content of a shard.

        Raises:
            MissingObject: It was replaced over an hour ago.
        """
        name = _file(self.name, shard, token)
        if self._copies is None:
            return self.store.get(name)
        copy = _file(layout.KEYS, shard, token)
        with suppress(StoreError):
            if _is_whole(data := self._copies.get(copy), token):
                return data
        data = self.store.get(name)
        with suppress(StoreError):
            self._copies.put(copy, data)
            self._copies.delete(name for name in self._copies.list(_folder(copy)) if name != copy)
        return data

    def add(self, record: KeyRecord) -> None:
        """Add a record."""

        # The record may be there already: an earlier swap may have succeeded although its answer was lost.
        def edit(found: KeyList) -> KeyList:
            if not found.digits:
                is_there = any(other.sha256 == record.sha256 for other in found.records)
                return found if is_there else replace(found, records=(*found.records, record))
            shard = record.sha256[: found.digits]
            data = self._read(found, shard)
            if _line_of(data, record.sha256):
                return found
            return replace(self._with(found, shard, data + _line(record, found.issued)), issued=found.issued + 1)

        self._change(edit)

    def update(self, id_: str, **changes: Any) -> KeyRecord:
        """Change fields of the record with this id. Return the new record.

        Raises:
            UnknownKey: There is no such record.
        """
        changed: KeyRecord | None = None

        def edit(found: KeyList) -> KeyList:
            nonlocal changed
            if not found.digits:
                records = tuple(replace(record, **changes) if record.id == id_ else record for record in found.records)
                changed = next((record for record in records if record.id == id_), None)
                return replace(found, records=records)
            shard = self._shard_of(found, id_)
            if shard is None:
                return found
            data = self._read(found, shard)
            line = next(line for line in data.splitlines(keepends=True) if _has_id(line, id_))
            changed = replace(_record(line), **changes)
            return self._with(found, shard, data.replace(line, _line(changed, _number(line))))

        self._change(edit)
        if changed is None:
            raise UnknownKey(f"no key has the id {id_!r}: `cardpress keys list` shows them")
        return changed

    def is_long(self) -> bool:
        """Return whether all records are in a list that is so long that they belong into shards."""
        return (self.store.stat(self.name) or 0) > MAX_BYTES  # the tokens of all shards are 150 kB

    def take_over(self) -> None:
        """Put the records into shards if they are in a long list."""
        self._change(lambda found: found)

    def _change(self, edit: Callable[[KeyList], KeyList]) -> None:
        """Apply an edit to the newest list. A long list is put into shards first."""
        before, after = KeyList(), KeyList()

        def change(data: bytes | None) -> bytes | None:
            nonlocal before, after
            before = KeyList.parse(data) if data else KeyList()
            is_long = not before.digits and len(data or b"") > MAX_BYTES
            after = edit(self._in_shards(before.records) if is_long else before)
            return None if after == before else after.to_bytes()

        update_json(self.store, self.name, change)
        if before.digits:
            self._sweep(after, (shard for shard in after.shards if before.shards.get(shard) != after.shards[shard]))

    def _in_shards(self, records: Sequence[KeyRecord]) -> KeyList:
        """Write records into shards, and return their list."""
        lines = defaultdict[str, list[bytes]](list)
        for number, record in enumerate(records):
            lines[record.sha256[:DIGITS]].append(_line(record, number))
        contents = {shard: b"".join(of_shard) for shard, of_shard in lines.items()}
        tokens = {shard: _token(data) for shard, data in contents.items()}
        names = [_file(self.name, *shard) for shard in tokens.items()]
        with ThreadPoolExecutor(_THREADS) as pool:
            for _ in pool.map(self.store.put, names, contents.values()):
                pass
        self.store.sync()
        return KeyList((), tokens, DIGITS, len(records))

    def _with(self, found: KeyList, shard: str, data: bytes) -> KeyList:
        """Return a list with the new content of a shard, which is written unless it is the old one."""
        old = found.shards.get(shard)
        if old is not None and _is_whole(data, old):
            return found
        token = _token(data)
        self.store.put_new(_file(self.name, shard, token), data)
        return replace(found, shards={**found.shards, shard: token})

    def _read(self, found: KeyList, shard: str) -> bytes:
        """Return the content of a shard, verified; nothing if there is no such shard yet."""
        if shard not in found.shards:
            return b""
        name = _file(self.name, shard, found.shards[shard])
        data = self.store.get(name)
        if not _is_whole(data, found.shards[shard]):
            raise KeyFormatError(f"the key records cannot be read: {name} does not match its hash")
        return data

    def _shard_of(self, found: KeyList, id_: str) -> str | None:
        """Return the shard with the record of this id, or None. An id from before there were shards may be in any."""

        def has_it(shard: str) -> bool:
            return _has_id(self._read(found, shard), id_)

        own = id_.removeprefix(id_of(""))[: found.digits]
        if has_it(own):
            return own
        with ThreadPoolExecutor(_THREADS) as pool:
            has = pool.map(has_it, found.shards)
            return next((shard for shard, is_there in zip(found.shards, has, strict=True) if is_there), None)

    def _sweep(self, found: KeyList, shards: Iterable[str]) -> None:
        """Delete the old files of shards that the list does not name any more."""
        with suppress(StoreError):  # without the right to list or delete they stay
            for shard in shards:
                named = _file(self.name, shard, found.shards[shard])
                files = self.store.entries(_folder(named))
                until = time.time() - _KEPT_SECONDS
                self.store.delete(file.name for file in files if file.name != named and file.modified < until)


def open_key_file(store: str, keys: str | None = None, timeout_seconds: float | None = None) -> KeyFile:
    """Open the key file of a store, or the one at `keys`: a folder or prefix, or a path that ends in .json.

    Args:
        timeout_seconds: As for `open_store`.
    """
    if keys is None:
        return KeyFile(open_store(store, timeout_seconds), layout.KEYS)
    if keys.endswith(_JSON):
        folder, name = parent_and_name(keys)
        return KeyFile(open_store(folder, timeout_seconds, private=True), name)
    return KeyFile(open_store(keys, timeout_seconds, private=True), layout.KEYS.removeprefix(layout.PRIVATE))


def _file(list_name: str, shard: str, token: str) -> str:
    return f"{list_name.removesuffix(_JSON)}/{shard}/{token}.jsonl"


def _folder(name: str) -> str:
    return name[: name.rindex("/") + 1]


def _token(data: bytes) -> str:
    """Return a new token for the content of a shard. The same content gets another one when it comes back."""
    return f"{secrets.token_hex(4)}-{_hash(data)}"


def _is_whole(data: bytes, token: str) -> bool:
    return token.endswith(f"-{_hash(data)}")


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _line(record: KeyRecord, number: int) -> bytes:
    return _ENCODE({"sha256": record.sha256, "number": number} | record.fields()).encode() + b"\n"


def _record(line: bytes) -> KeyRecord:
    try:
        return KeyRecord.from_fields(json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        raise KeyFormatError(f"the key records cannot be read: {error}") from error


def _number(line: bytes) -> int:
    found = _NUMBER.search(line)
    return int(found[1]) if found else 0


def _has_id(data: bytes, id_: str) -> bool:
    return b'"id":%s,' % json.dumps(id_).encode() in data


def _line_of(data: bytes, sha256: str) -> bytes:
    """Return the line of the key with this hash, or nothing."""
    begin = b'{"sha256":"%s"' % sha256.encode()
    start = 0 if data.startswith(begin) else data.find(b"\n" + begin) + 1
    return data[start : data.index(b"\n", start)] if start or data.startswith(begin) else b""
