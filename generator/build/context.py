"""The context of a build's tasks: the database over the lake, and the threads that compress and upload.

There is one context per process and build. A task opens the tables that it needs, and each is opened once. So a build
after a new watch check never opens the price tables.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from edge_auth.contract.index import map_table
from edge_auth.contract.layers import Layer
from edge_auth.contract.store.interface import Store
from generator.build.kept_summaries import summarise_watch_checks
from generator.build.periods import Period
from generator.build.step_times import StepTime
from generator.build.tasks import ProductRange
from generator.database import Database, sql_literal
from generator.lake.files import LakeFile
from generator.lake.filtered_checks import NEWEST_CHECKS, summarise_checks
from generator.lake.lake import PRICE_TABLES, Lake
from generator.lake.tables import OFFER_SUMMARIES, check_rules, open_table
from generator.pack.intermediate_store import IntermediateStore
from generator.pack.output import Inputs
from generator.pack.uploads import Uploads
from generator.releases.verify import checked_file
from generator.threads import in_order

PRICE_SOURCES = tuple(f"sources/{table}" for table in PRICE_TABLES)
# What the layers of prices are made from.
PRICE_SQL = (OFFER_SUMMARIES["filtered_checks"], NEWEST_CHECKS, *PRICE_SOURCES)
# What the layers of the tracked products are made from.
WATCH_SQL = (
    OFFER_SUMMARIES["watch_checks"],
    *(f"sources/{name}" for name in ("watchlist", "all_watch_checks", "watch_checks")),
)

_Input = TypeVar("_Input")
_Result = TypeVar("_Result")


def once(method: Callable[["BuildContext"], None]) -> Callable[["BuildContext"], None]:
    """Make a method of a context do its work only at the first call."""

    @wraps(method)
    def first_call_only(self: "BuildContext") -> None:
        if method.__name__ not in self.opened:
            method(self)
            self.opened.add(method.__name__)

    return first_call_only


class BuildContext:
    """The database over one lake, and the threads that compress and upload.

    Each `open_…` method makes views or tables of the database.

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
        self.opened: set[str] = set()
        self.step_times: list[StepTime] = []
        self._days_of_rows: Period | None = None
        self._layers: dict[str, Layer] = {}  # by digest
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
        part.step_times, part._product_ids, part._cpu_clock = self.step_times, self._product_ids, time.thread_time
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

    @once
    def open_catalogue(self) -> None:
        """Make the views expansions and products."""
        self._open("expansions", "products")
        self.db.run("sources/expansions", "sources/products")

    @once
    def open_game_names(self) -> None:
        """Make the view game_names."""
        self.open_catalogue()
        self.db.run("views/game_names")

    @once
    def open_watchlist(self) -> None:
        """Make the views watchlist and watch_checks."""
        self._open("watchlist")
        files = summarise_watch_checks(self.db, self.lake)
        check_rules(self.db, ("watch_checks",))
        self.db.run("sources/watchlist", "sources/all_watch_checks")
        days = {day for (day,) in self.db.rows("select distinct day from watch_times_with_offers")}
        open_table(self.db, "watch_checks", [file for file in files if file.day in days])
        self.db.run("sources/watch_checks")

    @once
    def open_fingerprints(self) -> None:
        """Make the view fingerprints."""
        self._open("fingerprints")
        self.db.run("sources/fingerprints")

    def product_ids(self) -> NDArray[np.int64]:
        """Return the sorted ids of all products."""
        if self._product_ids is None:
            self.open_catalogue()
            self._product_ids = self.db.table("select id_product from products order by id_product")[0].to_numpy()
        return self._product_ids

    def open_products(self, ids: ProductRange) -> None:
        """Make the view task_products: the products of a range."""
        self.open_catalogue()
        self.db.connection.execute(
            f"create or replace view task_products as select * from products where {ids.condition}"
        )

    def open_month(self, days: Period) -> None:
        """Make the views month_<array> of a month, in place of another month's.

        The rules of the price guide are not checked: the reader of its sorted rows does that.

        Raises:
            LakeError: A file breaks a rule.
        """
        summarise_checks(self.db, self._open_days(days)["filtered_checks"])
        check_rules(self.db, [table for table in PRICE_TABLES if table != "price_guide"])
        self.db.run(*PRICE_SOURCES, "views/month_rows")

    def check_price_guide(self) -> None:
        """Check the rules of the price guide of the open days.

        Raises:
            LakeError: A row breaks a rule.
        """
        check_rules(self.db, ["price_guide"])

    def open_newest_of_month(self) -> None:
        """Make the tables newest_in_month_<table> of the open month. Its rows must keep the rules."""
        self.db.run("views/month_newest")

    def open_day_rows(self, days: Period) -> None:
        """Make the tables day_rows_<array> of some days, in place of other days'.

        The rules are not checked: the task of the days' month does that.
        """
        if self._days_of_rows != days:
            summarise_checks(self.db, self._open_days(days)["filtered_checks"])
            self.db.run(*PRICE_SOURCES, "views/month_rows", "views/day_rows")
            self._days_of_rows = days

    def price_ids(self, days: Period) -> NDArray[np.int64]:
        """Return the sorted ids that the price tables name on some days.

        Raises:
            LakeError: A file is no Parquet, or lacks a column.
        """
        self._open_days(days)
        union = " union ".join(f"select id_product from raw.{table}" for table in PRICE_TABLES)
        ids: NDArray[np.int64] = self.db.table(f"from ({union}) order by id_product")[0].to_numpy()
        return ids

    def price_ids_by_day(self, days: Period) -> dict[date, NDArray[np.int64]]:
        """Return the sorted ids that the price tables name on each of some days.

        Raises:
            LakeError: A file is no Parquet, or lacks a column.
        """
        self._open_days(days)
        union = " union ".join(f"select day, id_product from raw.{table}" for table in PRICE_TABLES)
        found = self.db.table(f"from ({union}) order by day, id_product")
        by_day, ids = found["day"].to_numpy(), found["id_product"].to_numpy()
        starts = np.flatnonzero(np.diff(by_day, prepend=by_day[:1] - 1).astype(bool))
        groups = np.split(ids, starts[1:])
        return {by_day[start].item(): group for start, group in zip(starts, groups, strict=False)}

    def open_newest(self, inputs: Inputs, closed: dict[str, str], ids: ProductRange | None = None) -> None:
        """Make the views all_<table> and newest_<table> over the open month and all closed periods.

        Args:
            inputs: The outputs of the open month and of the closed periods that this build makes.
            closed: The digests of the layers of closed periods, by name.
            ids: The range of products, None for all.
        """
        for table in PRICE_TABLES:
            files = [self.layer_file(inputs, layer, digest, table) for layer, digest in closed.items()]
            self.open_files(f"all_{table}", [*self.intermediate_files(inputs, table), *files], ids)
        self._open_newest_views()

    def open_files(self, view: str, paths: Iterable[Path], ids: ProductRange | None = None) -> None:
        """Make a view over Parquet files, of all products or of a range."""
        quoted = ", ".join(map(sql_literal, paths))
        condition = f" where {ids.condition}" if ids else ""
        self.db.connection.execute(
            f"create or replace view {view} as select * from read_parquet([{quoted}], union_by_name = true){condition}"
        )

    def mapped(self, inputs: Inputs, name: str) -> pa.Table:
        """Return the intermediate files of that name as one table, mapped into memory."""
        return pa.concat_tables(map_table(path) for path in self.intermediate_files(inputs, name))

    @contextmanager
    def registered(self, **tables: pa.Table) -> Iterator[None]:
        """Let the database read Arrow tables by name while the body runs."""
        for name, table in tables.items():
            self.db.connection.register(name, table)
        try:
            yield
        finally:
            for name in tables:
                self.db.connection.unregister(name)

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

    def layer_file(self, inputs: Inputs, layer: str, digest: str, stem: str) -> Path:
        """Return a local copy of a file of a layer, which an input has just written or the store has.

        Raises:
            BuildError: The file in the store is damaged.
            StoreError: It cannot be read.
        """
        opened = self.layer(layer, digest)
        for output in inputs.values():
            for file in output.files if output.layer == layer else ():
                if file.name.startswith(f"{stem}-"):
                    return opened.local(file.name, file.sha256)
        return checked_file(opened, stem)

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

    @once
    def open_bulk_prices(self) -> None:
        """Make the views bulk_<table> of the price tables, which read the views rows_<array>."""
        self.open_catalogue()
        self.db.run("views/bulk_prices")

    @once
    def open_history_views(self) -> None:
        """Make the views history_<array>, which read the views sorted_<array>."""
        self.db.run("views/history")

    @once
    def _open_newest_views(self) -> None:
        self.db.run("views/newest")

    def _open_days(self, days: Period) -> dict[str, list[LakeFile]]:
        """Open the price tables over some days, and return their files."""
        files = {}
        for table in PRICE_TABLES:
            files[table] = self.lake.fetch(table, days.first, days.last)
            open_table(self.db, table, files[table])
        return files

    def _open(self, *tables: str) -> None:
        for table in tables:
            open_table(self.db, table, self.lake.fetch(table))
        check_rules(self.db, tables)
