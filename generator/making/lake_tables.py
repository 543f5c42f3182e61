"""The tables of a lake in the database of a context, each opened once, and the SQL that several layers read them by.

A task opens the tables that it needs. So a build after a new watch check never opens the price tables.

A file that is no Parquet, lacks a column or breaks a rule raises LakeError; one that is broken inside, duckdb.Error.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from generator.database import Database, sql_literal
from generator.lake.files import PRICE_TABLES
from generator.lake.lake import Lake
from generator.lake.tables import OFFER_SUMMARIES, check_rules, open_table, summarise_offers
from generator.making.layer import Period, ProductRange
from generator.storage import bodies

# The checks with their lists of offers that sources/filtered_checks reads.
_REPEATED_CHECKS = ("sources/newest_checks", "sources/repeated_keys")
PRICE_SOURCES = tuple(f"sources/{table}" for table in PRICE_TABLES)
# What the layers of prices are made from.
PRICE_SQL = (OFFER_SUMMARIES["filtered_checks"], *_REPEATED_CHECKS, *PRICE_SOURCES)
# The SQL and the format of histories, for the layers of closed periods and of card details.
HISTORY_SQL = (*PRICE_SQL, "views/month_rows", "views/month_newest", "views/period", "views/history")
HISTORY_CONSTANTS = (bodies.BETWEEN, bodies.HISTORY_MARKS, bodies.PERIOD_TAIL)
# The SQL of Cards, for the catalogue and the card details.
CARD_SQL = ("sources/products", "sources/expansions", *HISTORY_SQL, "views/newest", "views/market_price", "views/cards")
# What the layers of the tracked products are made from.
WATCH_SQL = (
    OFFER_SUMMARIES["watch_checks"],
    *(f"sources/{name}" for name in ("watchlist", "all_watch_checks", "watch_checks")),
)


class TablesRead(NamedTuple):
    """Tables of the lake that layers read together."""

    tables: tuple[str, ...]
    sql: tuple[str, ...]  # the files of `build/` that make their views
    inputs: dict[str, tuple[str, ...]]  # of a layer's digest: tables by the name of the input
    main_thread: bool = False  # see `Task`


NO_TABLES = TablesRead((), (), {})
CATALOGUE = TablesRead(
    ("expansions", "products"),
    ("sources/products", "sources/expansions"),
    {"catalogue": ("products", "expansions")},
)
GAME_NAMES = CATALOGUE._replace(sql=(*CATALOGUE.sql, "views/game_names"))
WATCHLIST = TablesRead(("watchlist",), WATCH_SQL, {"watch": ("watchlist", "watch_checks")}, main_thread=True)
FINGERPRINTS = TablesRead(("fingerprints",), ("sources/fingerprints",), {"fingerprints": ("fingerprints",)})
# Their layers also depend on the products that they name, see `plan.NamedProducts`.
IDENTIFIERS = TablesRead((*CATALOGUE.tables, "identifiers"), ("sources/identifiers",), {})


class LakeTables:
    """The tables of one lake in one database."""

    def __init__(self, db: Database, lake: Lake, product_ids: NDArray[np.int64] | None = None):
        self._db = db
        self._lake = lake
        self.known_product_ids = product_ids
        self.are_checked = False  # whether layers that the store has were made from what is still to be opened
        self._done: set[str] = set()  # tables that are open, and files of `build/` that were run

    def open(self, reads: TablesRead) -> None:
        """Open tables and make their views, each once."""
        tables = [table for table in reads.tables if table not in self._done]
        for table in tables:
            open_table(self._db, table, self._lake.fetch(table))
        if not self.are_checked:
            check_rules(self._db, tables)
        if "watchlist" in tables:
            self._open_watch_checks()
            self._done.update(reads.sql)
        self._done.update(tables)
        self.run_once(*reads.sql)

    def run_once(self, *names: str) -> None:
        """Run files of `build/`, but those that were run before."""
        for name in names:
            if name not in self._done:
                self._db.run(name)
                self._done.add(name)

    def _open_watch_checks(self) -> None:
        """Open the checks of the watchlist. Of the days whose offers nothing shows, only the numbers are read."""
        files = self._lake.fetch("watch_checks")
        open_table(self._db, "watch_checks", files)
        summarise_offers(self._db, "watch_checks")
        check_rules(self._db, ("watch_checks",))
        self._db.run("sources/watchlist", "sources/all_watch_checks")
        days = {day for (day,) in self._db.rows("select distinct day from watch_times_with_offers")}
        open_table(self._db, "watch_checks", [file for file in files if file.day in days])
        self._db.run("sources/watch_checks")

    def product_ids(self) -> NDArray[np.int64]:
        if self.known_product_ids is None:
            self.open(CATALOGUE)
            self.known_product_ids = self._db.table("select id_product from products order by id_product")[0].to_numpy()
        return self.known_product_ids

    @contextmanager
    def month(self, days: Period) -> Iterator[None]:
        """Make the views month_<array> until the body ends. The reader of the guide's sorted rows checks its rules."""
        self._open_days(days, PRICE_TABLES)
        summarise_offers(self._db, "filtered_checks")
        check_rules(self._db, [table for table in PRICE_TABLES if table != "price_guide"])
        self._db.run(*_REPEATED_CHECKS, *PRICE_SOURCES, "views/month_rows")
        yield
        self._db.run("views/close_month")  # not after an error, which ends the work of the database

    def named_ids(self, days: Period, *tables: str) -> NDArray[np.int64]:
        """Return the sorted ids that tables (default: the price tables) name. Daily tables: on some days."""
        tables = tables or PRICE_TABLES
        self._open_days(days, tables)
        named = " union ".join(f"select id_product from raw.{table}" for table in tables)
        query = f"select distinct id_product from ({named}) where id_product is not null order by 1"
        ids: NDArray[np.int64] = self._db.table(query)[0].to_numpy()
        return ids

    def priced_ids(self, days: Period) -> NDArray[np.int64]:
        """Return the sorted ids on the day with the largest file, about all of some days; none if it cannot be read."""
        files = (self._lake.files_of(table, days.first, days.last) for table in PRICE_TABLES)
        largest = max(next(filter(None, files), []), key=lambda file: (file.size, file.day), default=None)
        if largest and largest.day:
            with suppress(duckdb.Error):
                return self.named_ids(Period("", largest.day, largest.day), largest.table)
        return np.empty(0, np.int64)

    def open_files(self, view: str, paths: Iterable[Path], ids: ProductRange | None = None) -> None:
        """Make a view over Parquet files, of all products or of a range."""
        quoted = ", ".join(map(sql_literal, paths))
        condition = f" where {ids.condition}" if ids else ""
        self._db.connection.execute(
            f"create or replace view {view} as select * from read_parquet([{quoted}], union_by_name = true){condition}"
        )

    def _open_days(self, days: Period, tables: Iterable[str]) -> None:
        for table in tables:
            open_table(self._db, table, self._lake.fetch(table, days.first, days.last))


def card_content(lake: Lake) -> dict[str, list[str]]:
    """Return the content that a layer with Cards reads: the catalogue, and all price tables for their newest rows."""
    return {"catalogue": lake.content("products", "expansions"), "prices": lake.content(*PRICE_TABLES)}
