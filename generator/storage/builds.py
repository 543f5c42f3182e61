"""Builds in a store: the pointer to the live one, their records, their objects. What cannot be read is a StoreError.

What reads objects is imported when it is used: it needs numpy and pyarrow, which take longer to import than a command
such as `cardpress show` takes otherwise. The shim imports it at its start, see `edge_auth.live.open_build`.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, cast

from generator.storage import bodies, errors, layout
from generator.storage.bulk import BulkFile, read_manifest
from generator.storage.splice import SplicedCard, detail_since, splice
from generator.storage.stores.file_cache import FileCache
from generator.storage.stores.interface import Store, parse_json, read_json

if TYPE_CHECKING:
    from generator.storage.catalogue import Catalogue
    from generator.storage.identifiers import Identifiers
    from generator.storage.layers import Entry, Layer
    from generator.storage.market import Group, Market, Movers, Series

FORMAT = 6


@dataclass(frozen=True)
class Pointer:
    """The object that names the live build. Its lists begin with the newest."""

    build: str
    previous: list[str] = field(default_factory=list)  # the builds that were live before
    hold: bool = False  # whether a rollback has blocked publishing
    nonce: str = ""  # a random text that makes each pointer unique
    ended: dict[str, str] = field(default_factory=dict)  # when builds stopped being live; X-Build may name them longer
    moved_from: list[str] = field(default_factory=list)  # for each move of the pointer the build that it left
    failed: list[str] = field(default_factory=list)  # those that failed their smoke test: only a person publishes them

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode() + b"\n"

    @staticmethod
    def from_bytes(data: bytes) -> "Pointer":
        """Parse a stored pointer, or raise StoreError."""
        try:
            fields = parse_json(data)
            if isinstance(fields, dict) and fields.keys() - Pointer.__dataclass_fields__:
                raise errors.OtherVersion(
                    f"{layout.POINTER} is of another version of cardpress: use that one, or make a store of this "
                    "version beside it, by `cardpress build --lake LAKE --store NEW --publish`"
                )
            return Pointer(**fields)
        except (ValueError, TypeError) as error:
            raise errors.StoreError(f"{layout.POINTER} is not a pointer to a build: {error}") from error


def read_pointer(store: Store) -> tuple[Pointer | None, str | None]:
    """Return the pointer and its tag for `swap`, or (None, None) if nothing was ever published."""
    found = store.get_versioned(layout.POINTER)
    return (Pointer.from_bytes(found.data), found.etag) if found else (None, None)


def live_pointer(store: Store) -> Pointer:
    """Return the pointer, or raise NoLiveBuild: nothing was published yet."""
    pointer, _ = read_pointer(store)
    if pointer is None:
        raise errors.NoLiveBuild(f"no build is live in {store.location}: run `cardpress build … --publish`")
    return pointer


def live_build_id(store: Store) -> str:
    """Return the id of the live build, or raise NoLiveBuild: nothing was published yet."""
    return live_pointer(store).build


def last_build_id(store: Store) -> str:
    """Return the id of the live build, or else of the newest one, or ''."""
    pointer, _ = read_pointer(store)
    return pointer.build if pointer else max(map(layout.id_of, store.list(layout.BUILDS)), default="")


class RecordedLayer(TypedDict):
    """A layer of a build: its digest, and what went into it, by name, as hashes."""

    digest: str
    inputs: dict[str, str]


class Provenance(TypedDict):
    """Where a build comes from: the files of each table, the code, and the name of the object with its gate results.

    Of a table: `files`, `bytes`, `sha256`; of one with days also `first_day`, `last_day`, `sha256_of_last_day`, and in
    `days` the hashes of the files of each day of the open month.
    """

    inputs: dict[str, dict[str, Any]]
    code: dict[str, str]
    gates: str


class BuildRecord(TypedDict):
    """The record of a build. Layers, objects and bytes are by layer."""

    format: int
    id: str
    as_of: str
    layers: dict[str, RecordedLayer]
    objects: dict[str, int]
    bytes: dict[str, int]
    freshness: dict[str, Any]  # the sections of the status object, without the build
    left_out: list[dict[str, Any]]  # rows of the lake that could not be used: `table`, `reason`, `rows`, an `example`
    quarantine: list[dict[str, Any]]  # the day files of the lake that the build left out
    provenance: Provenance
    versions: dict[str, str]
    games: list[dict[str, Any]]  # how fresh and complete the price guide of each is


def open_build(store: Store, build_id: str, file_cache: FileCache | None = None) -> "Build":
    """Open a build, or raise UnknownBuild. Without a shim's file cache, what must be copied goes to the user's."""
    try:
        record = read_json(store, layout.record_name(build_id))
    except errors.MissingObject as error:
        raise errors.UnknownBuild(
            f"build {build_id} is not in {store.location}: `cardpress builds` lists the builds of a store"
        ) from error
    except ValueError as error:
        raise errors.DamagedObject(f"the record of build {build_id} is not JSON: {error}") from error
    if not isinstance(record, dict):
        raise errors.DamagedObject(f"the record of build {build_id} is no record")
    if (found := record.get("format")) != FORMAT:
        kind = errors.OlderVersion if found in range(FORMAT) else errors.OtherVersion
        raise kind(
            f"build {build_id} is of another version of cardpress (format {found}, this one reads {FORMAT}): "
            f"`cardpress build --lake LAKE --store {store.location} --publish` makes it anew"
        )
    digests = {name: layer["digest"] for name, layer in record["layers"].items()}
    if layout.build_id(record["as_of"], digests) != build_id:
        raise errors.DamagedObject(f"the record of build {build_id} is damaged: it does not match the id")
    return Build(store, cast("BuildRecord", record), file_cache)


def last_record(store: Store) -> BuildRecord | None:
    """Return the record of the last build; None if there is none, or if it cannot be read."""
    with suppress(errors.StorageError):
        return open_build(store, last_build_id(store)).record
    return None


class Build:
    """A build in a store. Builds never change, so everything read from one may be cached."""

    def __init__(self, store: Store, record: BuildRecord, file_cache: FileCache | None = None):
        self.store = store
        self.record = record
        self.file_cache = file_cache
        self.id: str = record["id"]
        self.as_of = date.fromisoformat(record["as_of"])

    @cached_property
    def layers(self) -> "dict[str, Layer]":
        from generator.storage.layers import Layer

        layers = self.record["layers"].items()
        return {name: Layer(self.store, name, layer["digest"], self.file_cache) for name, layer in layers}

    @cached_property
    def periods(self) -> "dict[str, Layer]":
        """The layers of the history by period: the closed years, oldest first, then the open month."""
        return dict(sorted(self._by_period(layout.HISTORY).items()))

    def _by_period(self, kind: str) -> "dict[str, Layer]":
        prefix = layout.sublayer(kind, "")
        return {name.removeprefix(prefix): layer for name, layer in self.layers.items() if name.startswith(prefix)}

    @cached_property
    def catalogue(self) -> "Catalogue":
        from generator.storage.catalogue import CARD_LINES, Catalogue

        return Catalogue(self.layers[layout.CATALOGUE], self.layers[layout.sublayer(layout.BULK, CARD_LINES)])

    @cached_property
    def movers(self) -> "Movers":
        from generator.storage.market import Movers

        return Movers(self.layers[layout.MOVERS])

    @cached_property
    def series(self) -> "Series":
        from generator.storage.market import Series

        extremes = self.layers[layout.sublayer(layout.EXTREMES, layout.OPEN_MONTH)]
        return Series(self._by_period(layout.SERIES), extremes, self.as_of, self.catalogue.ids)

    @cached_property
    def identifiers(self) -> "Identifiers":
        from generator.storage.identifiers import Identifiers

        return Identifiers(self.layers[layout.IDENTIFIERS])

    @cached_property
    def market(self) -> "Market":
        from generator.storage.market import Market

        return Market(self.layers[layout.MARKET])

    @cached_property
    def _market_periods(self) -> "list[tuple[str, Layer]]":
        return sorted((self._by_period(layout.MARKET) | {layout.OPEN_MONTH: self.layers[layout.MARKET]}).items())

    def market_points(self, group: "Group", day: str = "") -> "list[tuple[Layer, Entry]]":
        """Return the objects with the points of a group in the periods that end on `day` or later, oldest first."""
        kept = [(period, layer) for period, layer in self._market_periods if period >= day[: len(period)]]
        found = ((layer, layer.index.find(layout.market_points(period, group.path))) for period, layer in kept)
        return [(layer, entry) for layer, entry in found if entry]

    def market_history(self, group: "Group", day: str = "") -> bytes:
        """Return the history of a group from a day (YYYY-MM-DD) on as JSON."""
        periods = [layer.read(entry) for layer, entry in self.market_points(group, day)]
        rows = bodies.BETWEEN.join(filter(None, periods))
        points = bodies.rows_since(rows, day) if day else rows
        return b"".join((group.head[:-1], b',"points":[\n', points, b"\n]}\n"))

    def find(self, key: str) -> "tuple[Layer, Entry] | None":
        """Return the layer and the entry of a logical key, or None if the build has no such object."""
        layer = self.layers.get(layout.layer_of(key) or "")
        entry = layer.index.find(key) if layer else None
        return (layer, entry) if layer and entry else None

    def get(self, key: str) -> bytes | None:
        """Return the stored JSON under a logical key, or None."""
        found = self.find(key)
        return found[0].read(found[1]) if found else None

    def card(self, id_: int) -> SplicedCard | None:
        """Return a Card with its whole history, or None for an unknown product."""
        line = self._line(id_)
        return splice(line, self._history(id_)) if line else None

    def card_since(self, id_: int, day: str) -> bytes | None:
        """Return the JSON of a Card with its history from a day (YYYY-MM-DD) on, or None for an unknown product."""
        line = self._line(id_)
        return detail_since(line, self._history(id_, day), day) if line else None

    def _line(self, id_: int) -> bytes | None:
        ordinal = self.catalogue.ordinal(id_)
        return None if ordinal is None else self.catalogue.card_lines.checked_line(ordinal)

    def _history(self, id_: int, day: str = "") -> list[bytes]:
        """Return the members of a product's history, of the periods that end on `day` or later, oldest first."""
        layers = [layer for period, layer in self.periods.items() if period >= day[: len(period)]]
        return [layer.read_member(found) for layer in layers if (found := layer.index.find_id(id_))]

    def status(self) -> bytes:
        """Return the status object: the stored freshness and the id of this build."""
        freshness = json.loads(self._object(layout.STATUS_KEY))
        return bodies.dumps({"build": {"id": self.id, "as_of": self.as_of.isoformat()}} | freshness) + b"\n"

    @cached_property
    def bulk_files(self) -> dict[str, BulkFile]:
        return read_manifest(self._object(layout.BULK_KEY), self.layers)

    def manifest(self) -> bytes:
        """Return the manifest of the bulk files as the API answers it."""
        head = f'{{"build":"{self.id}","as_of":"{self.as_of.isoformat()}",'
        return head.encode() + self._object(layout.BULK_KEY)[1:]

    def _object(self, key: str) -> bytes:
        found = self.get(key)
        if found is None:
            raise errors.StoreError(f"build {self.id} has no {key}")
        return found
