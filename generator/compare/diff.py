"""Finds what differs between two builds: which objects, and the values of those that do.

Layers with the same digest are equal and are not read. For the others, the indexes tell which objects differ, and those
that hold values are read into text tables. The views of `build/diff/` answer everything else.
"""

import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from edge_auth.builds import layout
from edge_auth.builds.builds import Build
from edge_auth.builds.layers import INDEX_NAME, Layer, map_table
from edge_auth.store.codec import decompress
from generator.compare.comparison import Comparison, bulk_entries, read_cards
from generator.database import Database
from generator.site.texts import REFERENCE, schemas
from generator.terminal import Progress
from generator.tree.documents import card_lists

OBJECTS_PER_BATCH = 3000
Counts = dict[str, Any]
HashedKeys = tuple[str, pa.Table]  # the pattern of keys, and a table with at least `key` and `json_sha256`


def object_hashes(build: Build, name: str) -> HashedKeys:
    """Return the keys and hashes of the objects of a layer: of the catalogue its Cards, of the manifest its files."""
    layer = build.layers[name]
    if name == layout.BULK:
        files = bulk_entries(build)
        hashes = pa.array([bytes.fromhex(file["sha256"]) for file in files], pa.binary())
        return "", pa.table({"key": [f"{layout.BULK}/{file['name']}" for file in files], "json_sha256": hashes})
    if name == layout.CATALOGUE:
        return "rows/{}.json", pa.table({"key": build.catalogue.ids, "json_sha256": build.catalogue.digests})
    pattern = layer.index.pattern  # raises StoreError if the index is missing or broken
    return pattern, map_table(layer.local(INDEX_NAME)).replace_schema_metadata(None)


def page_hashes(build: Build) -> HashedKeys:
    """Return the keys and hashes of the list pages of a build."""
    lists = card_lists(build).items()
    pages = [(f"{folder}/{number}.json", one.tag(number)) for folder, one in lists for number in range(one.pages)]
    keys, tags = (list(column) for column in zip(*pages, strict=True))
    hashes = pa.array(map(bytes.fromhex, tags), pa.binary())
    return "", pa.table({"key": pa.array(keys, pa.string()), "json_sha256": hashes})


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


# The resources of the API.
RESOURCES = layout.COMPARED
_VIEWS = ("identifiers", "products", "prices", "distribution", "counts", "for_people")
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
        self._compare(progress)

    def layers(self) -> list[Counts]:
        """Return the counts of stored objects per layer, by name, and its digest in each build; None without it."""
        return [
            self._counts("object_changes", "layer", name, self._stored_count(name))
            | {"old_digest": old, "new_digest": new}
            for name, old, new in self._layer_digests()
        ]

    def resources(self) -> list[Counts]:
        """Return the counts of the API's objects per resource, as `cardpress export` writes them."""
        old = {name: self._stored_count(name) for name in RESOURCES}
        old[layout.LISTS] = sum(one.pages for one in card_lists(self.old).values())
        old[layout.CARDS] = len(self.old.catalogue.ids)
        return [self._counts("api_object_changes", "resource", name, old[name]) for name in RESOURCES]

    def _compare(self, progress: Progress) -> None:
        differing = [name for name, old, new in self._layer_digests() if old != new]
        self.db.run("diff/tables")
        self.db.set(resources=RESOURCES, old_build=self.old.id, new_build=self.new.id, floor=PERCENT_FLOOR_EUROS)
        with progress.bar("compare", len(differing) + 2) as bar:
            for name in differing:
                builds = (self.old, self.new)
                self._compare_objects(name, [object_hashes(b, name) if name in b.layers else None for b in builds])
                bar.update(1)
            if layout.CATALOGUE in differing:
                self._compare_objects(layout.LISTS, [page_hashes(build) for build in (self.old, self.new)])
            # Several stored objects of one card detail may differ although their union does not.
            _ = self.comparison.cards
            self.db.run("diff/card_details")
            _read_histories(self.db, self.old, self.new)
            self.db.run("diff/same_history", "diff/api_objects")
            bar.update(1)
            _read_values(self.db, self.old, self.new, differing)
            self.db.run("diff/items")
            for resource, fields in compared_fields().items():
                self.db.set(resource=resource, fields=fields, paths=[f"$.{field}" for field in fields])
                self.db.run("diff/field_changes")
            _ = self.comparison.identifiers
            self.db.run(*(f"diff/{view}" for view in _VIEWS))
            bar.update(1)

    def _compare_objects(self, name: str, indexes: list[HashedKeys | None]) -> None:
        """Note the objects of a layer, or the list pages, that differ; None stands for a build without them."""
        pattern, empty = next((index[0], index[1].slice(0, 0)) for index in indexes if index)
        for side, index in zip(("old", "new"), indexes, strict=True):
            self.db.connection.register(f"{side}_objects", index[1] if index else empty)
        self.db.set(layer=name, pattern=pattern)
        self.db.run("diff/objects")

    def _layer_digests(self) -> Iterator[tuple[str, str | None, str | None]]:
        old, new = self.old.record["layers"], self.new.record["layers"]
        for name in sorted(old.keys() | new.keys()):
            before, after = (layers[name]["digest"] if name in layers else None for layers in (old, new))
            yield name, before, after

    def _counts(self, table: str, column: str, name: str, old: int) -> Counts:
        """Return how many objects were added, removed or changed, and how many of `old` ones are the same."""
        query = f"select change, count(*) from {table} where {column} = $1 group by change"
        by_change = dict(self.db.connection.execute(query, [name]).fetchall())
        counts = {change: by_change.get(change, 0) for change in ("added", "removed", "changed")}
        return {"name": name} | counts | {"unchanged": old - counts["removed"] - counts["changed"]}

    def _stored_count(self, name: str) -> int:
        return len(object_hashes(self.old, name)[1]) if name in self.old.layers else 0


def _read_values(db: Database, old: Build, new: Build, differing: list[str]) -> None:
    """Fill old_texts and new_texts from the layers named in `differing`."""
    for side, build in (("old", old), ("new", new)):
        if layout.CATALOGUE in differing:
            _insert_cards(db, build, side)
        if layout.WATCHLIST in differing:
            for batch in _changed_objects(db, build, side, layout.WATCHLIST, _IS_WATCHLIST_ITEM):
                db.insert(f"{side}_texts", "select $1, json from batch", batch, "watchlist")
        for layer in (layout.SETS, layout.FINGERPRINTS):
            if layer in differing:
                _insert_lines(db, build.layers[layer], side)


def _read_histories(db: Database, old: Build, new: Build) -> None:
    """Fill history_texts with the history arrays of the doubtful card details."""
    layers = db.rows(f"select distinct layer from object_changes where {_IS_DOUBTFUL} order by layer")
    for side, build in (("old", old), ("new", new)):
        for (name,) in layers:
            for batch in _changed_objects(db, build, side, name, _IS_DOUBTFUL):
                db.insert("history_texts", "select $1, $2, key, json from batch", batch, side, name)


def _insert_cards(db: Database, build: Build, side: str) -> None:
    ids = db.table(
        f"select id from object_changes where layer = '{layout.CATALOGUE}' and change <> '{_absent_in(side)}' "
        "order by id"
    )
    for batch in read_cards(build.catalogue, ids["id"].to_numpy()):
        db.insert(f"{side}_texts", "select $1, json from batch", batch, "products")


def _changed_objects(db: Database, build: Build, side: str, name: str, condition: str) -> Iterator[pa.Table]:
    """Yield the objects (key, json) of a layer of this build that meet a condition and differ from the other build."""
    if name not in build.layers:
        return iter(())
    keys = db.rows(
        f"select key from object_changes where layer = '{name}' and change <> '{_absent_in(side)}' and {condition}"
    )
    return read_objects(build.layers[name], (key for (key,) in keys))


def _absent_in(side: str) -> str:
    return "added" if side == "old" else "removed"


def _insert_lines(db: Database, layer: Layer, side: str) -> None:
    """Insert the items of pages, and of the index of fingerprints, which have one on each line."""
    for position in range(len(layer.index)):
        lines = layer.read(layer.index.entry(position)).decode().split("\n")
        batch = pa.table({"line": pa.array(lines, pa.large_string())})
        db.insert(f"{side}_texts", _ITEMS_QUERY, batch, layer.name)
        if layer.name == layout.FINGERPRINTS:
            db.insert(f"{side}_texts", _INDEX_FIELDS_QUERY, batch)


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
