"""Builds in a store: the pointer to the live build, the records, and the objects of a build."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path

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
    """The live build, those before it (newest first), and whether a rollback holds publishing back.

    `ended` says of builds that were live when they ceased to be (`YYYY-MM-DDTHH:MM:SSZ`): for a while after it a
    client may still ask for them with X-Build. A pointer of an older version has none.
    """

    build: str
    previous: list[str] = field(default_factory=list)
    hold: bool = False
    nonce: str = ""
    ended: dict[str, str] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode() + b"\n"

    @staticmethod
    def from_bytes(data: bytes) -> "Pointer":
        """Raises StoreError where the bytes are no pointer."""
        try:
            fields = json.loads(data)
            ended = dict(fields.get("ended", {}))
            return Pointer(fields["build"], fields["previous"], fields["hold"], fields["nonce"], ended)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{layout.POINTER} is not a pointer to a build: {error}") from error


def read_pointer(store: Store) -> tuple[Pointer | None, str | None]:
    """The pointer with its tag for `swap`, or None twice where nothing was ever published."""
    found = store.get_versioned(layout.POINTER)
    return (Pointer.from_bytes(found.data), found.etag) if found else (None, None)


def live_build_id(store: Store) -> str:
    """Id of the live build.

    Raises:
        NoLiveBuild: nothing was published yet.
    """
    pointer, _ = read_pointer(store)
    if pointer is None:
        raise NoLiveBuild(f"no build is live in {store.location}: run `cardpress build … --publish`")
    return pointer.build


def open_build(store: Store, build_id: str, copies: FileCache | None = None) -> "Build":
    """Open a build for reading.

    Args:
        copies: where to map files from; None maps them as they lie in a folder, which must then not change, and
            keeps copies of what is elsewhere in the user's cache.

    Raises:
        UnknownBuild: the store does not hold it.
        StoreError: its record cannot be read, is damaged, or was written by a newer version.
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
            "`cardpress build … --publish` makes one, and the version that made the other reads that"
        )
    if (
        layout.build_id(record["as_of"], {name: layer["digest"] for name, layer in record["layers"].items()})
        != build_id
    ):
        raise StoreError(f"the record of build {build_id} is not what was written")
    return Build(store, record, copies)


class Layer:
    """One layer of a build: its index, opened when first asked, and its objects."""

    def __init__(self, store: Store, name: str, digest: str, copies: FileCache | None = None):
        self.store = store
        self.name = name
        self.folder = layout.layer_folder(name, digest)
        self._copies = copies

    @cached_property
    def index(self) -> Index:
        """Raises StoreError where it cannot be read."""
        name = self.folder + INDEX_NAME
        try:
            return Index(self.local(INDEX_NAME))
        except (OSError, pa.ArrowInvalid, KeyError, ValueError) as error:
            raise StoreError(f"{name} in {self.store.location} cannot be read: {error}") from error

    def span(self, entry: Entry) -> Span:
        """Where in the store an object lies."""
        return self.folder + entry.pack, entry.offset, entry.length

    def stored(self, entry: Entry) -> bytes:
        """The gzip member of an object, checked against its hash.

        Raises:
            StoreError: it cannot be read, or is not what was written.
        """
        return self.checked(entry, self.store.get(*self.span(entry)))

    def checked(self, entry: Entry, data: bytes) -> bytes:
        """The bytes of an object. Raises StoreError where they are not what was written."""
        if sha256(data) != entry.stored_sha256:
            raise StoreError(
                f"{self.folder}{entry.pack} at {entry.offset}: the bytes are not the ones that were written"
            )
        return data

    def read(self, entry: Entry) -> bytes:
        """The JSON of an object."""
        return decompress(self.stored(entry))

    def file(self, stem: str, inflated: str | None = None) -> Path:
        """Local path of a file of the layer, by the beginning of its name, such as `columns`.

        Args:
            inflated: SHA-256 of the content of a compressed file, where that is wanted.

        Raises:
            StoreError: the layer has no such file.
        """
        for file in self.index.files:
            if file.name.startswith(stem + "-"):
                return self.local(file.name, file.sha256, inflated)
        raise StoreError(f"{self.folder} has no file {stem}")

    def local(self, name: str, sha256: str | None = None, inflated: str | None = None) -> Path:
        """A local file with the content of a file of the layer, for mapping into memory.

        Args:
            sha256: what the content must be; None where it vouches for itself, as the index does.
            inflated: SHA-256 of the content of a compressed file, where that is wanted.
        """
        path = None if self._copies or inflated else self.store.local_path(self.folder + name)
        return path or (self._copies or user_file_cache()).path(self.store, self.folder + name, sha256, inflated)


def stored_all(found: Sequence[tuple[Layer, Entry]]) -> list[bytes]:
    """The gzip members of several objects of one store, asked for at once; raises as `Layer.stored` does."""
    if not found:
        return []
    stored = found[0][0].store.get_many([layer.span(entry) for layer, entry in found])
    return [layer.checked(entry, data) for (layer, entry), data in zip(found, stored, strict=True)]


class Build:
    """A build opened for reading; immutable, so everything read from it may be kept."""

    def __init__(self, store: Store, record: dict, copies: FileCache | None = None):
        self.store = store
        self.record = record
        self.id: str = record["id"]
        self.as_of = date.fromisoformat(record["as_of"])
        self.layers = {name: Layer(store, name, layer["digest"], copies) for name, layer in record["layers"].items()}

    @cached_property
    def periods(self) -> list[str]:
        """Closed periods of the history, oldest first."""
        prefix = names.history_layer("")
        return sorted(name.removeprefix(prefix) for name in self.layers if name.startswith(prefix))

    def find(self, key: str) -> tuple[Layer, Entry] | None:
        """Layer and entry of a logical key, or None where the build has no such object."""
        layer = self.layers.get(names.layer_of(key) or "")
        entry = layer.index.find(key) if layer else None
        return (layer, entry) if entry else None

    def get(self, key: str) -> bytes | None:
        """The JSON of the object under a logical key as stored, or None."""
        found = self.find(key)
        return found[0].read(found[1]) if found else None

    def card(self, id_: int) -> SplicedCard | None:
        """A Card with its whole history, or None for an unknown product."""
        found = self._periods_of(id_)
        if not found:
            return None
        card, *periods = stored_all(found)
        return splice(card, periods)

    def card_since(self, id_: int, day: str) -> bytes | None:
        """The JSON of a Card with its history from a day on, or None for an unknown product."""
        found = self._periods_of(id_, day)
        if not found:
            return None
        card, *periods = stored_all(found)
        return detail_since(card, periods, day)

    def _periods_of(self, id_: int, day: str = "") -> list[tuple[Layer, Entry]]:
        """Where the object of a product lies, and those of its closed periods, oldest first; none if it is unknown."""
        layer = self.layers[names.CARDS]
        entry = layer.index.find_id(id_)
        if entry is None:
            return []
        closed = [self.layers[names.history_layer(p)] for p in self.periods if p >= day[: len(p)]]
        return [(layer, entry), *((period, found) for period in closed if (found := period.index.find_id(id_)))]

    def status(self) -> bytes:
        """The status object: the freshness as stored, with the build that says it."""
        status = {"build": {"id": self.id, "as_of": self.as_of.isoformat()}} | json.loads(self.get(names.STATUS_KEY))
        return json.dumps(status, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def document(self, key: str) -> bytes | None:
        """The JSON under a logical key as the API says it: details with their whole history, status with the build."""
        if names.layer_of(key) == names.CARDS:
            number = key.removeprefix("cards/").removesuffix(".json")
            card = self.card(int(number)) if number.lstrip("-").isdecimal() else None
            return card and decompress(card.member)
        if key == names.STATUS_KEY:
            return self.status()
        return self.get(key)
