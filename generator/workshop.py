"""What the layers are made from: the lake's tables opened, checked and viewed, each only once and only if asked.

A layer that is already in the store is not made, so a new watch check never opens the price tables, and an
unchanged lake opens nothing at all.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, wraps
from pathlib import Path
from typing import TypeVar

from edge_auth.contract.builds import Layer
from edge_auth.contract.store import Store
from generator import periods
from generator.database import Database
from generator.lake import PRICE_TABLES, Lake
from generator.packs import in_order
from generator.periods import Period
from generator.progress import Progress
from generator.uploads import Uploads
from generator.verify import checked_file

# about 500 products of a month with all three arrays: what a range of products reads beyond its own is little
_ROWS_PER_GROUP = 40_960
_Task, _Result = TypeVar("_Task"), TypeVar("_Result")


def once(method: Callable[["Workshop"], None]) -> Callable[["Workshop"], None]:
    """Let a method of a workshop do its work the first time only."""

    @wraps(method)
    def first_time_only(self: "Workshop") -> None:
        if method.__name__ not in self.opened:
            method(self)
            self.opened.add(method.__name__)

    return first_time_only


class Workshop:
    """The database over one lake, and the threads that compress and put.

    Each `open_…` method prepares views or tables, the first time it is called; a layer calls what it needs.
    """

    def __init__(self, lake: Lake, store: Store, threads: int, memory: str, progress: Progress):
        self.lake = lake
        self.store = store
        self.threads = threads
        self.memory = memory
        self.progress = progress
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="pack")
        self.uploads = Uploads(store, progress)
        self.opened: set[str] = set()
        self.closed: dict[str, Layer] = {}  # layers of closed periods, by period, once they are in the store

    def close(self) -> None:
        """Stop the threads and drop the database."""
        self.pool.shutdown(cancel_futures=True)
        self.uploads.close()
        if "db" in self.__dict__:
            self.db.close()

    @cached_property
    def db(self) -> Database:
        """The scratch database, with the as-of day set."""
        db = Database(self.threads, self.memory)
        db.connection.execute("set variable as_of = $1", [self.lake.as_of.isoformat()])
        return db

    @once
    def open_catalogue(self) -> None:
        """Views products, expansions."""
        self._open("expansions", "products")
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

    def open_period(self, period: Period) -> None:
        """Tables period_<table> and view history_sorted over the files of one period, in place of those before.

        Months are read one by one, so memory does not grow with the days: the history of each is sorted into a
        file of the scratch folder, of which ranges of products are then read.

        Raises:
            LakeError: a file of the period breaks a rule.
        """
        for table in PRICE_TABLES:
            self.db.connection.execute(f"drop table if exists period_{table}")
        tiles = [self._tile(month) for month in period.months()]
        self.db.connection.execute(f"create or replace view history_sorted as from read_parquet({tiles})")

    def _tile(self, month: Period) -> str:
        """The history of one month as a file, sorted by product, array and day."""
        for table in PRICE_TABLES:
            self.db.open_raw(table, self.lake.at_hand(table, month.first, month.last))
        self.db.check(PRICE_TABLES)
        self._open_price_views()
        self.db.run("views/month", "views/history")
        tile = self.db.scratch / f"history-{month.first}.parquet"
        self.db.connection.execute(
            f"copy (from history order by id_product, part, day) to '{tile}' (row_group_size {_ROWS_PER_GROUP})"
        )
        return str(tile)

    @once
    def open_month(self) -> None:
        """The open month as the open period, and views newest_<table> over it and all closed ones."""
        self.open_period(periods.open_month(self.lake.as_of))
        for table in PRICE_TABLES:
            closed = [
                f"union all by name from read_parquet('{_quoted(checked_file(layer, table))}')"
                for layer in self.closed.values()
            ]
            self.db.connection.execute(f"create view all_{table} as from period_{table} " + " ".join(closed))
        self.db.run("views/newest")

    @once
    def open_cards(self) -> None:
        """Tables cards and rankings."""
        self.open_catalogue()
        self.open_month()
        self.db.run("views/cards", "views/rankings")

    def in_order(self, work: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
        """Run tasks on the threads, results in the order of the tasks."""
        return in_order(self.pool, 2 * self.threads, work, tasks)

    @once
    def _open_price_views(self) -> None:
        self.db.run(*(f"sources/{table}" for table in PRICE_TABLES))

    def _open(self, *tables: str) -> None:
        for table in tables:
            self.db.open_raw(table, self.lake.at_hand(table))
        self.db.check(tables)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
