"""What tasks are made with: the lake's tables opened, checked and viewed, and the threads that compress and put.

One per process, for as long as it works on one build. Tables are opened only once and only if a task asks: a layer
that is already in the store has no tasks, so a new watch check never opens the price tables.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, wraps
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from edge_auth.contract.builds import Layer
from edge_auth.contract.index import map_table
from edge_auth.contract.store.interface import Store
from generator.build.periods import Period
from generator.database import Database
from generator.lake.lake import PRICE_TABLES, Lake
from generator.lake.tables import check_rules, open_table
from generator.pack.intermediate_store import IntermediateStore
from generator.pack.output import Inputs
from generator.pack.uploads import Uploads
from generator.releases.verify import checked_file
from generator.threads import in_order

_Task, _Result = TypeVar("_Task"), TypeVar("_Result")


def once(method: Callable[["BuildContext"], None]) -> Callable[["BuildContext"], None]:
    """Let a method of a context do its work the first time only."""

    @wraps(method)
    def first_time_only(self: "BuildContext") -> None:
        if method.__name__ not in self.opened:
            method(self)
            self.opened.add(method.__name__)

    return first_time_only


class BuildContext:
    """The database over one lake, and the threads that compress and put.

    Args:
        scratch: makes the place where parts lie, when it is first needed.
        resend: whether to put also what the store says it has.

    Each `open_…` method prepares views or tables; a task calls what it needs. `tick` is told of objects made.
    """

    def __init__(
        self,
        lake: Lake,
        store: Store,
        threads: int,
        memory: str,
        scratch: Callable[["BuildContext"], IntermediateStore],
        resend: bool = False,
    ):
        self.lake = lake
        self.store = store
        self.threads = threads
        self.memory = memory
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="pack")
        self.uploads = Uploads(store, resend)
        self.opened: set[str] = set()
        self.tick: Callable[[int], object] = lambda objects: None
        self._scratch = scratch

    def close(self) -> None:
        """Stop the threads and drop the database."""
        self.pool.shutdown(cancel_futures=True)
        self.uploads.close()
        if "db" in self.__dict__:
            self.db.close()

    @cached_property
    def scratch(self) -> IntermediateStore:
        """Where parts lie."""
        return self._scratch(self)

    @cached_property
    def db(self) -> Database:
        """The scratch database, with the as-of day set."""
        db = Database(self.threads, self.memory)
        db.set(as_of=self.lake.as_of.isoformat())
        return db

    @once
    def open_catalogue(self) -> None:
        """Views expansions and, of the range at work, products."""
        self._open("expansions", "products")
        open_table(self.db, "products", self.lake.fetch("products"), "in_range(id_product)")
        self.db.run("sources/expansions", "sources/products")

    @once
    def open_watchlist(self) -> None:
        """Views watchlist, watch_checks."""
        self._open("watchlist", "watch_checks")
        self.db.run("sources/watchlist", "sources/watch_checks")

    @once
    def open_fingerprints(self) -> None:
        """View fingerprints."""
        self._open("fingerprints")
        self.db.run("sources/fingerprints")

    def open_prices(self, days: Period | None) -> None:
        """Tables period_<table> and view history over the files of these days, in place of those before.

        Raises:
            LakeError: a file breaks a rule.
        """
        for table in PRICE_TABLES:
            open_table(self.db, table, self.lake.fetch(table, days.first, days.last) if days else [])
        check_rules(self.db, PRICE_TABLES)
        self._open_price_views()
        for table in PRICE_TABLES:
            self.db.connection.execute(f"drop table if exists period_{table}")
        self.db.run("views/month", "views/history")
        self.opened.add("open_history_json")

    @once
    def open_history_json(self) -> None:
        """The macro history_json, where no month was opened in this process."""
        self.open_prices(None)

    def open_newest(self, inputs: Inputs, closed: dict[str, str]) -> None:
        """Views all_<table> and newest_<table> of the range at work, over the open month and all closed periods.

        Args:
            inputs: the open month, and what was made of closed periods just now.
            closed: digests of the layers of closed periods, by name.
        """
        for table in PRICE_TABLES:
            files = [self.file(inputs, layer, digest, table) for layer, digest in closed.items()]
            self.open_files(f"all_{table}", [*self.parts(inputs, table), *files], in_range=True)
        self._open_newest_views()

    def open_files(self, view: str, paths: Iterable[Path], *, in_range: bool = False) -> None:
        """A view over Parquet files, of all products or of the range at work."""
        listed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
        only = " where in_range(id_product)" if in_range else ""
        self.db.connection.execute(
            f"create or replace view {view} as select * from read_parquet([{listed}], union_by_name = true){only}"
        )

    def mapped(self, inputs: Inputs, part: str) -> pa.Table:
        """The parts of that name as one table, mapped into memory."""
        return pa.concat_tables(map_table(path) for path in self.parts(inputs, part))

    @contextmanager
    def registered(self, **tables: pa.Table) -> Iterator[None]:
        """Tables that the database sees by their names while the body runs; what it does not ask for is not read."""
        for name, table in tables.items():
            self.db.connection.register(name, table)
        try:
            yield
        finally:
            for name in tables:
                self.db.connection.unregister(name)

    def parts(self, inputs: Inputs, part: str) -> list[Path]:
        """Local files of the parts of that name, in the order of the tasks."""
        return [self.scratch.path(made.parts[part]) for made in inputs.values() if part in made.parts]

    def file(self, inputs: Inputs, layer: str, digest: str, stem: str) -> Path:
        """A file of a layer by its stem: as one of the needed tasks has just made it, or from the store."""
        opened = Layer(self.store, layer, digest)
        for made in inputs.values():
            for file in made.files if made.layer == layer else ():
                if file.name.startswith(f"{stem}-"):
                    return opened.local(file.name, file.sha256)
        return checked_file(opened, stem)

    def in_order(self, work: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
        """Run work on the threads, results in the order of what it is for."""
        return in_order(self.pool, 2 * self.threads, work, tasks)

    @once
    def _open_price_views(self) -> None:
        self.db.run(*(f"sources/{table}" for table in PRICE_TABLES))

    @once
    def _open_newest_views(self) -> None:
        self.db.run("views/newest")

    def _open(self, *tables: str) -> None:
        for table in tables:
            open_table(self.db, table, self.lake.fetch(table))
        check_rules(self.db, tables)
