"""Compares two builds in a scratch database: which objects differ, and the values of those that do.

Layers with the same digest are equal and are not read. For the others, the indexes tell which objects differ, and
`values` reads those that hold values. The views of `build/diff/` answer everything else.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from generator.database import Database, query_fault
from generator.errors import BuildError
from generator.reading.diff.fields import compared_fields
from generator.reading.diff.object_reader import HashedKeys, object_hashes, page_hashes
from generator.reading.diff.values import read_histories, read_values
from generator.releases.bulk_rows import read_bulk_table
from generator.terminal.progress import Progress

# The resources of the API.
RESOURCES = tuple(name for name, kind in layer_names.LAYERS.items() if kind.compared)
_VIEWS = ("products", "prices", "distribution", "counts", "for_people")
_IDENTIFIERS = pa.schema([("id_product", pa.int64()), ("scheme", pa.string()), ("value", pa.string())])
# The list of the largest moves in percent leaves out prices below this.
PERCENT_FLOOR_EUROS = 1


@dataclass(frozen=True)
class ObjectCounts:
    """How many objects of a layer or resource were added, removed or changed, and how many are the same."""

    name: str
    added: int
    removed: int
    changed: int
    unchanged: int


@dataclass(frozen=True)
class LayerCounts(ObjectCounts):
    """The counts of a layer's stored objects, and its digest in each build; None if that build lacks the layer."""

    old_digest: str | None
    new_digest: str | None


@contextmanager
def compare(
    old: Build, new: Build, *, threads: int | None, memory: str | None, progress: Progress
) -> Iterator["Comparison"]:
    """Compare two builds. The comparison is valid inside the `with` block.

    Args:
        threads: How many threads DuckDB may use; None for one per core.
        memory: How much memory DuckDB may use before it spills to disk; None for the default.

    Raises:
        BuildError, StoreError: A build cannot be read, or DuckDB fails.
    """
    try:
        db = Database(threads, memory)
        try:
            yield Comparison(old, new, db, progress)
        finally:
            db.close()
    except duckdb.Error as error:
        raise query_fault(error, f"{old.id} and {new.id} cannot be compared", BuildError) from error


class Comparison:
    """A comparison of two builds. `db` holds the tables and views of `build/diff/`."""

    def __init__(self, old: Build, new: Build, db: Database, progress: Progress):
        self.old, self.new = old, new
        self.db = db
        self._compare(progress)

    def layers(self) -> list[LayerCounts]:
        """Return the counts of stored objects per layer, by name."""
        return [
            LayerCounts(*self._counts("object_changes", "layer", name, self._stored_count(name)), old, new)
            for name, old, new in self._layer_digests()
        ]

    def resources(self) -> list[ObjectCounts]:
        """Return the counts of the API's objects per resource, as `cardpress export` writes them."""
        joined = {layer_names.LISTS: len(self.old.list_pages), layer_names.CARDS: len(self.old.catalogue.ids)}
        return [
            ObjectCounts(
                *self._counts("api_object_changes", "resource", name, joined.get(name, self._stored_count(name)))
            )
            for name in RESOURCES
        ]

    def _compare(self, progress: Progress) -> None:
        differing = [name for name, old, new in self._layer_digests() if old != new]
        self.db.run("diff/tables")
        self.db.set(resources=RESOURCES, old_build=self.old.id, new_build=self.new.id, floor=PERCENT_FLOOR_EUROS)
        with progress.bar("compare", len(differing) + 2) as bar:
            for name in differing:
                self._compare_objects(name, [self._object_hashes(build, name) for build in (self.old, self.new)])
                bar.update(1)
            if layer_names.CATALOGUE in differing:
                self._compare_objects(layer_names.LISTS, [page_hashes(build) for build in (self.old, self.new)])
            self._compare_card_details()
            bar.update(1)
            read_values(self.db, self.old, self.new, differing)
            self._compare_fields()
            self._compare_identifiers()
            self.db.run(*(f"diff/{view}" for view in _VIEWS))
            bar.update(1)

    def _object_hashes(self, build: Build, name: str) -> HashedKeys | None:
        return object_hashes(build, name) if name in build.layers else None

    def _compare_objects(self, name: str, indexes: list[HashedKeys | None]) -> None:
        """Note the objects of a layer, or the list pages, that differ.

        Args:
            indexes: The key pattern and the hashes in the old and in the new build; None if that build has no such
                layer.
        """
        pattern, empty = next((index[0], index[1].slice(0, 0)) for index in indexes if index)
        for side, index in zip(("old", "new"), indexes, strict=True):
            self.db.connection.register(f"{side}_index", index[1] if index else empty)
        self.db.set(layer=name, pattern=pattern)
        self.db.run("diff/objects")

    def _compare_card_details(self) -> None:
        """Find the card details that differ. Several stored objects of one may differ although their union does not."""
        self.db.connection.register("new_cards", pa.table({"id": self.new.catalogue.ids}))
        self.db.run("diff/card_details")
        read_histories(self.db, self.old, self.new)
        self.db.run("diff/same_history", "diff/api_objects")

    def _compare_fields(self) -> None:
        self.db.run("diff/items")
        for resource, fields in compared_fields().items():
            self.db.set(resource=resource, fields=fields, paths=[f"$.{field}" for field in fields])
            self.db.run("diff/field_changes")

    def _compare_identifiers(self) -> None:
        for side, build in (("old", self.old), ("new", self.new)):
            self.db.connection.register(f"{side}_identifiers", read_bulk_table(build, "identifiers", _IDENTIFIERS))
        self.db.run("diff/identifiers")

    def _layer_digests(self) -> Iterator[tuple[str, str | None, str | None]]:
        """Yield each layer's name with its digest in the old and in the new build."""
        old, new = self.old.record["layers"], self.new.record["layers"]
        for name in sorted((old.keys() | new.keys()) - {layer_names.LISTS}):
            before, after = (layers[name]["digest"] if name in layers else None for layers in (old, new))
            yield name, before, after

    def _counts(self, table: str, column: str, name: str, old: int) -> tuple[str, int, int, int, int]:
        query = f"select change, count(*) from {table} where {column} = $1 group by change"
        by_change = dict(self.db.connection.execute(query, [name]).fetchall())
        added, removed, changed = (by_change.get(change, 0) for change in ("added", "removed", "changed"))
        return name, added, removed, changed, old - removed - changed

    def _stored_count(self, name: str) -> int:
        return len(object_hashes(self.old, name)[1]) if name in self.old.layers else 0
