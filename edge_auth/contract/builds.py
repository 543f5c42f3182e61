"""Builds in a store: the pointer to the live build, the records of builds, and their objects."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from edge_auth.contract import layout, names
from edge_auth.contract.codec import decompress, sha256
from edge_auth.contract.index import INDEX_NAME, Entry, Index
from edge_auth.contract.splice import SplicedCard, detail_since, splice
from edge_auth.contract.store.file_cache import FileCache, user_file_cache
from edge_auth.contract.store.interface import Span, Store
from edge_auth.errors import MissingObject, NoLiveBuild, StoreError, UnknownBuild

FORMAT = 2


@dataclass(frozen=True)
class Pointer:
    """The object that names the live build.

    Attributes:
        build: The live build.
        previous: The builds that were live before, newest first.
        hold: Whether a rollback has blocked publishing.
        nonce: A random text that makes each pointer unique.
        ended: When earlier builds stopped being live (`YYYY-MM-DDTHH:MM:SSZ`). Clients may name them in X-Build for a
            while longer. Pointers of older versions have none.
    """

    build: str
    previous: list[str] = field(default_factory=list)
    hold: bool = False
    nonce: str = ""
    ended: dict[str, str] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return the pointer as it is stored."""
        return json.dumps(asdict(self), indent=1).encode() + b"\n"

    @staticmethod
    def from_bytes(data: bytes) -> "Pointer":
        """Parse a stored pointer.

        Raises:
            StoreError: The bytes are not a pointer.
        """
        try:
            fields = json.loads(data)
            ended = dict(fields.get("ended", {}))
            return Pointer(fields["build"], fields["previous"], fields["hold"], fields["nonce"], ended)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{layout.POINTER} is not a pointer to a build: {error}") from error


def read_pointer(store: Store) -> tuple[Pointer | None, str | None]:
    """Return the pointer and its tag for `swap`, or (None, None) if nothing was ever published."""
    found = store.get_versioned(layout.POINTER)
    return (Pointer.from_bytes(found.data), found.etag) if found else (None, None)


def live_build_id(store: Store) -> str:
    """Return the id of the live build.

    Raises:
        NoLiveBuild: Nothing was published yet.
    """
    pointer, _ = read_pointer(store)
    if pointer is None:
        raise NoLiveBuild(f"no build is live in {store.location}: run `cardpress build … --publish`")
    return pointer.build


def open_build(store: Store, build_id: str, file_cache: FileCache | None = None) -> "Build":
    """Open a build for reading.

    Args:
        file_cache: Where files are copied to before they are mapped into memory. With None, files of a folder are
            mapped in place, so they must not change, and files of other stores go to the user's cache.

    Raises:
        UnknownBuild: The store does not hold the build.
        StoreError: The build's record cannot be read, is damaged, or was written by a newer version.
    """
    try:
        record = json.loads(store.get(layout.record_name(build_id)))
    except MissingObject as error:
        raise UnknownBuild(
            f"build {build_id} is not in {store.location}: `cardpress builds` lists the builds of a store"
        ) from error
    except ValueError as error:
        raise StoreError(f"the record of build {build_id} is not JSON") from error
    if record.get("format") != FORMAT:
        raise StoreError(
            f"build {build_id} has format {record.get('format')}, this version reads format {FORMAT}: "
            "`cardpress build … --publish` writes a build of this format; the version that wrote the old one reads it"
        )
    digests = {name: layer["digest"] for name, layer in record["layers"].items()}
    if layout.build_id(record["as_of"], digests) != build_id:
        raise StoreError(f"the record of build {build_id} is damaged: it does not match the id")
    return Build(store, record, file_cache)


class Layer:
    """A layer of a build: its index and its objects.

    Attributes:
        folder: The prefix of its objects in the store.
    """

    def __init__(self, store: Store, name: str, digest: str, file_cache: FileCache | None = None):
        self.store = store
        self.name = name
        self.folder = layout.layer_folder(name, digest)
        self._file_cache = file_cache

    @cached_property
    def index(self) -> Index:
        """The index, opened at the first use.

        Raises:
            StoreError: It cannot be read.
        """
        name = self.folder + INDEX_NAME
        try:
            return Index(self.local(INDEX_NAME))
        except (OSError, pa.ArrowInvalid, KeyError, ValueError) as error:
            raise StoreError(f"{name} in {self.store.location} cannot be read: {error}") from error

    def span(self, entry: Entry) -> Span:
        """Return the range of the store that holds an object."""
        return self.folder + entry.pack, entry.offset, entry.length

    def read_member(self, entry: Entry) -> bytes:
        """Return the gzip member of an object, verified.

        Raises:
            StoreError: It cannot be read, or does not match its hash.
        """
        return self.verified(entry, self.store.get(*self.span(entry)))

    def verified(self, entry: Entry, member: bytes) -> bytes:
        """Return the gzip member of an object after checking its hash.

        Raises:
            StoreError: It does not match its hash.
        """
        if sha256(member) != entry.stored_sha256:
            raise StoreError(f"{self.folder}{entry.pack} at {entry.offset}: the bytes do not match their hash")
        return member

    def read(self, entry: Entry) -> bytes:
        """Return the JSON of an object."""
        return decompress(self.read_member(entry))

    def file(self, stem: str, inflated_sha256: str | None = None) -> Path:
        """Return the local path of a file of the layer.

        Args:
            stem: The first part of the file's name, such as `columns`.
            inflated_sha256: To inflate a compressed file: the SHA-256 of its content.

        Raises:
            StoreError: The layer has no such file.
        """
        for file in self.index.files:
            if file.name.startswith(stem + "-"):
                return self.local(file.name, file.sha256, inflated_sha256)
        raise StoreError(f"{self.folder} has no file {stem}")

    def local(self, name: str, sha256: str | None = None, inflated_sha256: str | None = None) -> Path:
        """Return a local file with the content of a file of the layer, for mapping into memory.

        Args:
            sha256: The expected hash, or None for a file that contains its own hash, such as the index.
            inflated_sha256: To inflate a compressed file: the SHA-256 of its content.
        """
        path = None if self._file_cache or inflated_sha256 else self.store.local_path(self.folder + name)
        if path:
            return path
        file_cache = self._file_cache or user_file_cache()
        return file_cache.path(self.store, self.folder + name, sha256, inflated_sha256)


def read_members(located: Sequence[tuple[Layer, Entry]]) -> list[bytes]:
    """Return the gzip members of several objects of one store, read at once.

    Raises:
        StoreError: One cannot be read, or does not match its hash.
    """
    if not located:
        return []
    members = located[0][0].store.get_many([layer.span(entry) for layer, entry in located])
    return [layer.verified(entry, member) for (layer, entry), member in zip(located, members, strict=True)]


class Build:
    """A build in a store. Builds never change, so everything read from one may be cached.

    Attributes:
        record: The stored record, parsed from JSON.
    """

    def __init__(self, store: Store, record: dict[str, Any], file_cache: FileCache | None = None):
        self.store = store
        self.record = record
        self.id: str = record["id"]
        self.as_of = date.fromisoformat(record["as_of"])
        self.layers = {
            name: Layer(store, name, layer["digest"], file_cache) for name, layer in record["layers"].items()
        }

    @cached_property
    def periods(self) -> list[str]:
        """The closed periods of the history, oldest first."""
        prefix = names.history_layer("")
        return sorted(name.removeprefix(prefix) for name in self.layers if name.startswith(prefix))

    def find(self, key: str) -> tuple[Layer, Entry] | None:
        """Return the layer and the entry of a logical key, or None if the build has no such object."""
        layer = self.layers.get(names.layer_of(key) or "")
        if layer is None:
            return None
        entry = layer.index.find(key)
        return (layer, entry) if entry else None

    def get(self, key: str) -> bytes | None:
        """Return the stored JSON under a logical key, or None."""
        found = self.find(key)
        return found[0].read(found[1]) if found else None

    def card(self, id_: int) -> SplicedCard | None:
        """Return a Card with its whole history, or None for an unknown product."""
        located = self._history_of(id_)
        if not located:
            return None
        card, *periods = read_members(located)
        return splice(card, periods)

    def card_since(self, id_: int, day: str) -> bytes | None:
        """Return the JSON of a Card with its history from a day (YYYY-MM-DD) on, or None for an unknown product."""
        located = self._history_of(id_, day)
        if not located:
            return None
        card, *periods = read_members(located)
        return detail_since(card, periods, day)

    def _history_of(self, id_: int, day: str = "") -> list[tuple[Layer, Entry]]:
        """Locate the Card of a product, then its closed periods that end on `day` or later, oldest first."""
        layer = self.layers[names.CARDS]
        entry = layer.index.find_id(id_)
        if entry is None:
            return []
        closed = [self.layers[names.history_layer(p)] for p in self.periods if p >= day[: len(p)]]
        return [(layer, entry), *((period, found) for period in closed if (found := period.index.find_id(id_)))]

    def status(self) -> bytes:
        """Return the status object: the stored freshness and the id of this build.

        Raises:
            StoreError: The build has no stored freshness, or it cannot be read.
        """
        freshness = self.get(names.STATUS_KEY)
        if freshness is None:
            raise StoreError(f"build {self.id} has no {names.STATUS_KEY}")
        status = {"build": {"id": self.id, "as_of": self.as_of.isoformat()}} | json.loads(freshness)
        return json.dumps(status, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def document(self, key: str) -> bytes | None:
        """Return the JSON under a logical key as the API answers it, or None: details and status are put together."""
        if names.layer_of(key) == names.CARDS:
            id_ = names.card_id(key)
            card = None if id_ is None else self.card(id_)
            return card and decompress(card.member)
        if key == names.STATUS_KEY:
            return self.status()
        return self.get(key)
