"""The context of a build's tasks: the database over the lake, and the threads that compress and upload.

There is one context for each thread that executes tasks of a build.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from edge_auth.builds.layers import Layer
from edge_auth.store.folder import FolderStore
from edge_auth.store.interface import Store
from generator.database import Database
from generator.lake.lake import Lake
from generator.making.lake_tables import LakeTables
from generator.pack.verify import checked_file
from generator.pack.writer import IntermediateStore, Uploads
from generator.threads import Resources, in_order

_Input = TypeVar("_Input")
_Result = TypeVar("_Result")


class Intermediate(StrEnum):
    """A kind of intermediate files. A task writes one file of a kind for each of its parts."""

    KNOWN_ROWS = "known-rows"  # of an array of histories in a month, of products that the catalogue knows
    UNKNOWN_ROWS = "unknown-rows"  # the same, of products that it does not know
    ROWS_OF_DAY = "rows-of-day"  # of an array, of known products on one day
    NEWEST_ROWS = "newest-rows"  # of a price table: the newest row of each product in a month
    CARDS = "cards"  # of a range of products, by id: their sort keys and the sizes of their texts
    CARD_TEXTS = "card-texts"  # of the same products: their Cards as lines of JSON

    def of(self, *parts: object) -> str:
        """Return the name of a part's file among a task's outputs, such as `rows-of-day price_guide 2026-02-01`."""
        return " ".join(map(str, (self, *parts)))


class StoredLayers:
    """Layers of one store. Each index is read once, and each file is compared with its hash once."""

    def __init__(self, store: Store):
        self._store = store
        self._opened: dict[str, Layer] = {}  # by digest
        self._checked: dict[tuple[str, str], Path] = {}  # by digest of the layer, and stem

    def open(self, name: str, digest: str) -> Layer:
        """Return a layer."""
        return self._opened.setdefault(digest, Layer(self._store, name, digest))

    def forget(self, digest: str) -> None:
        """Read a layer again when it is next needed: it was made anew."""
        self._opened.pop(digest, None)

    def checked_file(self, name: str, digest: str, stem: str) -> Path:
        """Return a local copy of a file of a layer of the store. Raise BuildError if it is damaged."""
        key = digest, stem
        if key not in self._checked:
            self._checked[key] = checked_file(self.open(name, digest), stem)
        return self._checked[key]


class BuildContext:
    """What the tasks of a build work with.

    Args:
        resources: What the database may use. As many threads compress.
        resend: Upload also what the store already has.
        intermediates: The place of intermediate files. None for the temporary folder of the database.
    """

    def __init__(
        self,
        lake: Lake,
        store: Store,
        resources: Resources,
        *,
        resend: bool = False,
        intermediates: IntermediateStore | None = None,
        product_ids: NDArray[np.int64] | None = None,
    ):
        self.lake = lake
        self.store = store
        self.resources = resources
        self.layers = StoredLayers(store)
        self.digests: dict[str, str] = {}
        self.uploads = Uploads(store, resend)
        self.tick: Callable[[int], object] = lambda objects: None
        self._pool = ThreadPoolExecutor(resources.cores, thread_name_prefix="pack")
        self._product_ids = product_ids
        self._intermediates = intermediates
        self._db: Database | None = None

    def split(self, count: int) -> list["BuildContext"]:
        """Give all but one of so many parts of the threads and the memory to new contexts, for other threads."""
        all_threads = self.resources.cores
        part = Resources(all_threads // count, self.db.part_of_memory(count))
        self.resources = replace(part, threads=all_threads - part.cores * (count - 1))
        self.db.limit(self.resources)
        contexts = [
            BuildContext(
                self.lake,
                self.store,
                part,
                resend=self.uploads.resend,
                intermediates=self.intermediates,
                product_ids=self.tables.known_product_ids,
            )
            for _ in range(count - 1)
        ]
        for context in contexts:
            context.digests = self.digests
        return contexts

    def interrupt(self) -> None:
        """End the query that runs now in another thread."""
        if self._db:
            self._db.interrupt()

    def close(self) -> None:
        """Stop the threads and drop the database."""
        self._pool.shutdown(cancel_futures=True)
        self.uploads.close()
        if self._db:
            self._db.close()

    @property
    def db(self) -> Database:
        """The scratch database, with the as-of day set. A build that makes nothing opens none."""
        if self._db is None:
            self._db = Database(self.resources)
            self._db.set(as_of=self.lake.as_of.isoformat())
        return self._db

    @cached_property
    def tables(self) -> LakeTables:
        """The tables of the lake in the database."""
        return LakeTables(self.db, self.lake, self._product_ids)

    @cached_property
    def intermediates(self) -> IntermediateStore:
        """The place of intermediate files."""
        return self._intermediates or IntermediateStore(FolderStore(str(self.db.scratch)), "intermediates/")

    def in_order(
        self, work: Callable[[_Input], _Result], inputs: Iterable[_Input], ahead: int | None = None
    ) -> Iterator[_Result]:
        """Run `work` over inputs on the threads, with results in input order, two per thread ahead of the next one."""
        return in_order(self._pool, 2 * self.resources.cores if ahead is None else ahead, work, inputs)
