"""Finds what differs between two builds: which objects and documents, and the values of those that do.

Layers with the same digest are equal and are not read. For the others, the indexes tell which objects differ, and those
that hold values are read into text tables. The views of `build/diff/` answer everything else.
"""

import itertools
import operator
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from generator.compare.comparison import Comparison, read_cards
from generator.compare.documents import count_changes, of_builds
from generator.site.texts import REFERENCE, schemas
from generator.storage import layout
from generator.storage.builds import Build
from generator.storage.layers import INDEX_NAME, Layer, map_table
from generator.storage.stores.codec import decompress
from generator.terminal import Progress

OBJECTS_PER_BATCH = 3000
_ABSENT = {"old": "added", "new": "removed"}  # the change of what a side lacks
HashedKeys = tuple[str, pa.Table]  # the pattern of keys, and a table with at least `key` and `json_sha256`


def object_hashes(build: Build, name: str) -> HashedKeys | None:
    """Return the keys and hashes of the objects of a layer, of the catalogue those of its Cards; None without it."""
    if name not in build.layers:
        return None
    if name == layout.CATALOGUE:
        return "rows/{}.json", pa.table({"key": build.catalogue.ids, "json_sha256": build.catalogue.digests})
    pattern = build.layers[name].index.pattern  # raises StoreError if the index is missing or broken
    return pattern, map_table(build.layers[name].local(INDEX_NAME)).replace_schema_metadata(None)


def read_objects(layer: Layer, keys: Iterable[str]) -> Iterator[pa.Table]:
    """Yield objects of a layer as tables of `key` and `json`."""
    entries = ((key, layer.index.find(key)) for key in keys)
    found = sorted((entry.pack, entry.offset, key, entry) for key, entry in entries if entry)
    for pack, in_pack in itertools.groupby(found, operator.itemgetter(0)):
        data, rows = layer.local(pack).read_bytes(), list(in_pack)
        for start in range(0, len(rows), OBJECTS_PER_BATCH):
            batch = rows[start : start + OBJECTS_PER_BATCH]
            texts = [
                decompress(layer.verified(entry, data[offset : offset + entry.length])).decode()
                for _, offset, _, entry in batch
            ]
            yield pa.table({"key": [key for _, _, key, _ in batch], "json": pa.array(texts, pa.string())})


_VIEWS = ("api_objects", "identifiers", "products", "prices", "distribution", "counts", "for_people")
# The list of the largest moves in percent leaves out prices below this.
PERCENT_FLOOR_EUROS = 1
_IS_WATCHLIST_ITEM = r"regexp_matches(key, '^watchlist/[^/]+\.json$')"
_IS_DOUBTFUL = "id in (select id from touched_details where doubtful)"
# A page of a list, and the fingerprint index, hold one item per line.
_ITEMS_QUERY = "select $1, rtrim(line, ',') from batch where line like '{%}' or line like '{%},'"
# The first line of the fingerprint index holds the index's own fields.
_INDEX_FIELDS_QUERY = """
select 'fingerprint index', left(line, len(line) - len(',"entries":[')) || '}' from batch
where line like '%,"entries":['
"""
# Per resource of the diff: its schema, and the members that are not compared (its key, and items of their own).
_SCHEMAS = {
    "products": ("Card", {"id_product"}),
    "sets": ("Set", {"id"}),
    "watchlist": ("WatchlistItem", {"slug"}),
    "fingerprints": ("FingerprintEntry", {"key"}),
    "fingerprint index": ("FingerprintIndex", {"entries"}),
}


class Diff:
    """The objects and values of two builds that differ. `db` holds the tables and views of `build/diff/`."""

    def __init__(self, comparison: Comparison, progress: Progress):
        assert comparison.old is not None, "a diff has two builds"
        self.comparison, self.db = comparison, comparison.db
        self.old, self.new = comparison.old, comparison.new
        self._sides = (("old", self.old), ("new", self.new))
        differing = [name for name, old, new in self._layer_digests() if old != new]
        self.db.run("diff/tables")
        self.db.set(resources=layout.COMPARED, floor=PERCENT_FLOOR_EUROS)
        with progress.bar("compare", len(differing) + 2) as bar:
            for name in differing:
                self._compare_objects(name)
                bar.update(1)
            # Several stored objects of one card detail may differ although their union does not.
            self.comparison.read("cards")
            self.db.run("diff/card_details")
            self._read_histories()
            self.db.run("diff/same_history")
            bar.update(1)
            self._read_values(differing)
            self.db.run("diff/items")
            for resource, fields in compared_fields().items():
                self.db.set(resource=resource, fields=fields, paths=[f"$.{field}" for field in fields])
                self.db.run("diff/field_changes")
            self.comparison.read("identifiers")
            self._documents = of_builds(self.old, self.new)
            self.db.connection.register("document_changes", self._documents.table())
            self.db.run(*(f"diff/{view}" for view in _VIEWS))
            bar.update(1)

    def layers(self) -> list[dict[str, Any]]:
        """Return the counts of stored objects per layer, by name, and its digest in each build; None without it."""
        digests = {name: {"old_digest": old, "new_digest": new} for name, old, new in self._layer_digests()}
        counts = self._counts("object_changes", "layer", {name: self._stored_count(name) for name in digests})
        return [row | digests[row["name"]] for row in counts]

    def resources(self) -> list[dict[str, Any]]:
        """Return the counts of the API's objects per resource, as `cardpress export` writes them."""
        old = self._documents.old | {layout.CARDS: len(self.old.catalogue.ids)}
        return self._counts("api_object_changes", "resource", {name: old.get(name, 0) for name in layout.COMPARED})

    def differs(self) -> bool:
        """Return whether any object of the API was added, removed or changed."""
        return bool(self.db.rows("select 1 from api_object_changes limit 1"))

    def _compare_objects(self, name: str) -> None:
        """Note the objects of a layer that differ."""
        found = {side: object_hashes(build, name) for side, build in self._sides}
        pattern, empty = next((hashed[0], hashed[1].slice(0, 0)) for hashed in found.values() if hashed)
        for side, hashed in found.items():
            self.db.connection.register(f"{side}_objects", hashed[1] if hashed else empty)
        self.db.set(layer=name, pattern=pattern)
        self.db.run("diff/objects")

    def _layer_digests(self) -> Iterator[tuple[str, str | None, str | None]]:
        old, new = self.old.record["layers"], self.new.record["layers"]
        for name in sorted(old.keys() | new.keys()):
            before, after = (layers[name]["digest"] if name in layers else None for layers in (old, new))
            yield name, before, after

    def _counts(self, table: str, column: str, old: dict[str, int]) -> list[dict[str, Any]]:
        found = self.db.rows(f"select {column}, change, count(*) from {table} group by all")
        return count_changes(old, {(name, change): count for name, change, count in found})

    def _stored_count(self, name: str) -> int:
        hashed = object_hashes(self.old, name)
        return len(hashed[1]) if hashed else 0

    def _read_values(self, differing: list[str]) -> None:
        """Fill old_texts and new_texts from the layers named in `differing`."""
        for side, build in self._sides:
            insert = partial(self.db.insert, f"{side}_texts")
            if layout.CATALOGUE in differing:
                ids = self.db.table(f"{_changed('id', side, layout.CATALOGUE)} order by id")["id"].to_numpy()
                for batch in read_cards(build.catalogue, ids):
                    insert("select $1, json from batch", batch, "products")
            if layout.WATCHLIST in differing:
                for batch in self._changed_objects(side, build, layout.WATCHLIST, _IS_WATCHLIST_ITEM):
                    insert("select $1, json from batch", batch, "watchlist")
            # The items of pages, and of the index of fingerprints, are one on each line.
            for layer in (build.layers[name] for name in (layout.SETS, layout.FINGERPRINTS) if name in differing):
                for position in range(len(layer.index)):
                    lines = layer.read(layer.index.entry(position)).decode().split("\n")
                    batch = pa.table({"line": pa.array(lines, pa.large_string())})
                    insert(_ITEMS_QUERY, batch, layer.name)
                    if layer.name == layout.FINGERPRINTS:
                        insert(_INDEX_FIELDS_QUERY, batch)

    def _read_histories(self) -> None:
        """Fill history_texts with the history arrays of the doubtful card details."""
        layers = self.db.rows(f"select distinct layer from object_changes where {_IS_DOUBTFUL} order by layer")
        for side, build in self._sides:
            for (name,) in layers:
                for batch in self._changed_objects(side, build, name, _IS_DOUBTFUL):
                    self.db.insert("history_texts", "select $1, $2, key, json from batch", batch, side, name)

    def _changed_objects(self, side: str, build: Build, name: str, condition: str) -> Iterator[pa.Table]:
        """Yield the objects (key, json) of a layer of a build that meet a condition and differ from the other's."""
        if name in build.layers:
            keys = self.db.rows(f"{_changed('key', side, name)} and {condition}")
            yield from read_objects(build.layers[name], (key for (key,) in keys))


def _changed(column: str, side: str, layer: str) -> str:
    return f"select {column} from object_changes where layer = '{layer}' and change <> '{_ABSENT[side]}'"


def compared_fields() -> dict[str, list[str]]:
    """Return per resource the fields that a diff compares, in the order of `generator/site/schemas.md`.

    One of an inner object with a schema of its own is named by its path, such as `price_guide.holo.low`.
    """
    return {
        resource: [path for path in _paths(schema) if path not in excluded]
        for resource, (schema, excluded) in _SCHEMAS.items()
    }


def _paths(schema: str, prefix: str = "") -> Iterator[str]:
    for name, member in schemas()[schema]["properties"].items():
        inner = [option["$ref"] for option in (member, *member.get("anyOf", ())) if "$ref" in option]
        if inner:
            yield from _paths(inner[0].removeprefix(REFERENCE), f"{prefix}{name}.")
        else:
            yield prefix + name
