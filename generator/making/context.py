"""The context of a build's tasks: the database over the lake, and the threads that compress and upload.

There is one context for each thread that executes tasks of a build.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from edge_auth.contract.layers import Layer
from edge_auth.contract.store.interface import Store
from generator.database import Database
from generator.lake.lake import PRICE_TABLES, Lake
from generator.making.intermediates import Intermediate
from generator.making.lake_tables import LakeTables
from generator.making.step_times import StepTime
from generator.making.tasks import ProductRange
from generator.pack.intermediate_store import IntermediateStore
from generator.pack.output import Inputs
from generator.pack.uploads import Uploads
from generator.releases.verify import checked_file
from generator.threads import in_order

_Input = TypeVar("_Input")
_Result = TypeVar("_Result")


class BuildContext:
    """The database over one lake, and the threads that compress and upload.

    Args:
        threads: The number of threads of the database, and of compression.
        memory: What DuckDB may use before it spills to disk, such as `2GB`.
        intermediates: Makes the place of intermediate files when it is first needed.
        resend: Upload also what the store already has.
    """

    def __init__(
        self,
        lake: Lake,
        store: Store,
        threads: int,
        memory: str,
        intermediates: Callable[["BuildContext"], IntermediateStore],
        resend: bool = False,
    ):
        self.lake = lake
        self.store = store
        self.threads = threads
        self.memory = memory
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="pack")
        self.uploads = Uploads(store, resend)
        self.step_times: list[StepTime] = []
        self._layers: dict[str, Layer] = {}  # by digest
        self._checked: set[tuple[str, str]] = set()  # files of stored layers, by digest and stem
        self.tick: Callable[[int], object] = lambda objects: None  # called with the number of new objects
        self._make_intermediates = intermediates
        self._product_ids: NDArray[np.int64] | None = None
        self._cpu_clock: Callable[[], float] = time.process_time
        self._pool_seconds = 0.0  # of CPU

    def split(self, count: int) -> list["BuildContext"]:
        """Give parts of the threads and the memory to new contexts of the same build, for other threads.

        Args:
            count: The number of parts. One of them remains here.
        """
        number, unit = self.db.rows("select current_setting('memory_limit')")[0][0].split()
        threads, memory = self.threads // count, f"{float(number) / count:.3f}{unit}"
        self.threads -= threads * (count - 1)
        self.db.connection.execute(f"set threads = {self.threads}")
        self.db.connection.execute(f"set memory_limit = '{memory}'")
        self._cpu_clock = time.thread_time
        return [self._part(threads, memory) for _ in range(count - 1)]

    def _part(self, threads: int, memory: str) -> "BuildContext":
        part = BuildContext(self.lake, self.store, threads, memory, lambda _: self.intermediates, self.uploads.resend)
        part.step_times, part._cpu_clock = self.step_times, time.thread_time
        part._product_ids = self.tables.known_product_ids
        return part

    def interrupt(self) -> None:
        """End the query that runs now in another thread."""
        if "db" in self.__dict__:
            self.db.interrupt()

    def cpu_seconds(self) -> float:
        """Return the CPU time so far: of the process, or of this context's threads if there are other contexts."""
        of_pool = self._pool_seconds if self._cpu_clock is time.thread_time else 0
        return self._cpu_clock() + of_pool

    def close(self) -> None:
        """Stop the threads and drop the database."""
        self.pool.shutdown(cancel_futures=True)
        self.uploads.close()
        if "db" in self.__dict__:
            self.db.close()

    @cached_property
    def intermediates(self) -> IntermediateStore:
        """The place of intermediate files."""
        return self._make_intermediates(self)

    @cached_property
    def db(self) -> Database:
        """The scratch database, with the as-of day set."""
        db = Database(self.threads, self.memory)
        db.set(as_of=self.lake.as_of.isoformat())
        return db

    @cached_property
    def tables(self) -> LakeTables:
        """The tables of the lake in the database."""
        return LakeTables(self.db, self.lake, self._product_ids)

    def open_newest(self, inputs: Inputs, closed: dict[str, str], ids: ProductRange | None = None) -> None:
        """Make the views all_<table> and newest_<table> over the open month and all closed periods.

        Args:
            inputs: The outputs of the open month and of the closed periods that this build makes.
            closed: The digests of the layers of closed periods, by name.
            ids: The range of products, None for all.
        """
        for table in PRICE_TABLES:
            files = [self.layer_file(inputs, layer, digest, table) for layer, digest in closed.items()]
            month = self.intermediate_files(inputs, Intermediate.NEWEST_ROWS.of(table))
            self.tables.open_files(f"all_{table}", [*month, *files], ids)
        self.tables.open_newest_views()

    def intermediate_files(self, inputs: Inputs, name: str) -> list[Path]:
        """Return the local intermediate files of that name, in the order of the inputs."""
        files = (output.intermediates.get(name) for output in inputs.values())
        return [self.intermediates.path(file) for file in files if file is not None]

    def layer(self, name: str, digest: str) -> Layer:
        """Return a layer of the store. Each index is read once, however many steps of the build need it."""
        return self._layers.setdefault(digest, Layer(self.store, name, digest))

    def forget_layer(self, digest: str) -> None:
        """Read the index of a layer again when it is next needed: it was made anew."""
        self._layers.pop(digest, None)
        self._checked = {file for file in self._checked if file[0] != digest}

    def layer_file(self, inputs: Inputs, layer: str, digest: str, stem: str) -> Path:
        """Return a local copy of a file of a layer, which an input has just written or the store has.

        A file of the store is compared with its hash the first time.

        Raises:
            BuildError: The file in the store is damaged.
            StoreError: It cannot be read.
        """
        opened = self.layer(layer, digest)
        for output in inputs.values():
            for file in output.files if output.layer == layer else ():
                if file.name.startswith(f"{stem}-"):
                    return opened.local(file.name, file.sha256)
        if (digest, stem) in self._checked:
            return opened.file(stem)
        path = checked_file(opened, stem)
        self._checked.add((digest, stem))
        return path

    def in_order(
        self, work: Callable[[_Input], _Result], inputs: Iterable[_Input], ahead: int | None = None
    ) -> Iterator[_Result]:
        """Run `work` over inputs on the threads, with results in input order.

        Args:
            ahead: How many calls may start before their result is due. None: two per thread.
        """
        return in_order(self.pool, 2 * self.threads if ahead is None else ahead, partial(self._timed, work), inputs)

    def _timed(self, work: Callable[[_Input], _Result], item: _Input) -> _Result:
        started = time.thread_time()
        try:
            return work(item)
        finally:
            self._pool_seconds += time.thread_time() - started
