"""Two builds into one scratch database: which objects differ, and the values of those that do.

Layers of the same digest are the same, and only their objects are counted. Of the others the indexes tell which
objects differ; `values` reads of those what has values of its own. Everything after that is a view of `build/diff/`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from edge_auth.contract import names
from edge_auth.contract.builds import Build
from generator.database import Database
from generator.errors import BuildError
from generator.progress import Progress
from generator.reading.diff.object_reader import index_table, listed
from generator.reading.diff.values import read_histories, read_values

# What the API says, each with the layer that holds it (and card details with those of the history).
RESOURCES = (names.CARDS, names.LISTS, names.SETS, names.WATCHLIST, names.FINGERPRINTS, names.STATUS, names.SITE)
VIEWS = ("items", "field_changes", "products", "prices", "distribution", "counts")


@dataclass(frozen=True)
class Count:
    """How many objects of a layer or resource were added, removed or changed, and how many are the same."""

    name: str
    added: int
    removed: int
    changed: int
    unchanged: int


@dataclass(frozen=True)
class LayerCount(Count):
    """A layer's stored objects, and its digest in either build; None: that build has no such layer."""

    old_digest: str | None
    new_digest: str | None


@contextmanager
def compare(old: Build, new: Build, *, threads: int | None, memory: str, progress: Progress) -> Iterator["Comparison"]:
    """Two builds compared, for as long as the scratch database lives.

    Args:
        threads, memory: what DuckDB may use; beyond its memory it spills to disk.

    Raises:
        BuildError, StoreError: a build cannot be read, or DuckDB cannot work on it.
    """
    try:
        db = Database(threads, memory)
        try:
            yield Comparison(old, new, db, progress)
        finally:
            db.close()
    except duckdb.Error as error:
        raise BuildError(f"{old.id} and {new.id} cannot be compared: {str(error).splitlines()[0]}") from error


class Comparison:
    """Two builds compared; `db` answers the views of `build/diff/`."""

    def __init__(self, old: Build, new: Build, db: Database, progress: Progress):
        self.old, self.new = old, new
        self.db = db
        self._compare(progress)

    def layers(self) -> list[LayerCount]:
        """Stored objects, layer by layer, by name."""
        return [LayerCount(*self._count("object_changes", "layer", name), old, new) for name, old, new in self._pairs()]

    def resources(self) -> list[Count]:
        """Objects of the API, as `cardpress export` writes them, resource by resource."""
        return [Count(*self._count("document_changes", "resource", name)) for name in RESOURCES]

    def _compare(self, progress: Progress) -> None:
        differing = [name for name, old, new in self._pairs() if old != new]
        self.db.run("diff/tables")
        self.db.set(old_build=self.old.id, new_build=self.new.id)
        with progress.bar("compare", len(differing) + 2) as bar:
            for name in differing:
                self._compare_indexes(name)
                bar.update(1)
            self._judge_details()
            bar.update(1)
            read_values(self.db, self.old, self.new, differing)
            self.db.run(*(f"diff/{view}" for view in VIEWS))
            bar.update(1)

    def _compare_indexes(self, name: str) -> None:
        indexes = [listed(build.layers[name]) if name in build.layers else None for build in self._builds()]
        pattern, nothing = next((found[0], found[1].slice(0, 0)) for found in indexes if found)
        for side, found in zip(("old", "new"), indexes, strict=True):
            self.db.connection.register(f"{side}_index", found[1] if found else nothing)
        self.db.set(layer=name, pattern=pattern)
        self.db.run("diff/objects")

    def _judge_details(self) -> None:
        """Card details, of which several stored objects may differ and yet say the same together."""
        _, cards = index_table(self.new.layers[names.CARDS])
        self.db.connection.register("new_cards", pa.table({"id": cards["key"]}))
        self.db.run("diff/card_details")
        read_histories(self.db, self.old, self.new)
        self.db.run("diff/same_history", "diff/documents")

    def _pairs(self) -> Iterator[tuple[str, str | None, str | None]]:
        """Each layer's name with its digest in either build."""
        old, new = (build.record["layers"] for build in self._builds())
        for name in sorted(old.keys() | new.keys()):
            yield name, *(layers[name]["digest"] if name in layers else None for layers in (old, new))

    def _builds(self) -> tuple[Build, Build]:
        return self.old, self.new

    def _count(self, table: str, column: str, name: str) -> tuple[str, int, int, int, int]:
        query = f"select change, count(*) from {table} where {column} = $1 group by change"
        found = dict(self.db.connection.execute(query, [name]).fetchall())
        added, removed, changed = (found.get(change, 0) for change in ("added", "removed", "changed"))
        before = len(listed(self.old.layers[name])[1]) if name in self.old.layers else 0
        return name, added, removed, changed, before - removed - changed
