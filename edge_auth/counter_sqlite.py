"""The rate limit's counter of a machine: exact over all shims of a store that share a state folder.

It is a SQLite file, so it outlives a restart and is shared by processes. Where it fails, the shim counts on its own
and says so in the log: an answer is worth more than an exact count.
"""

import sqlite3
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from pathlib import Path
from threading import Lock
from time import monotonic

from edge_auth.ratelimit import Usage, usage, window_of

_OLD_WINDOWS = 60
_TIDY_SECONDS = 600
_RETRY_SECONDS = 5
_LOG_SECONDS = 60

_TABLE = """create table if not exists counts
    (name text primary key, window integer not null, used integer not null) without rowid"""
# A refused request changes nothing and returns no row. The window never goes back, whatever the clock does.
_COUNT = """insert into counts values (:name, :window, 1)
    on conflict (name) do update set
        used = case when excluded.window > window then 1 else used + 1 end,
        window = max(window, excluded.window)
    where excluded.window > window or used < :limit
    returning window, used"""
_WINDOW = "select window from counts where name = ?"
_TIDY = "delete from counts where window < ?"


class SqliteCounter:
    """The counter of one process. To be made in the process that uses it: a connection does not survive a fork."""

    def __init__(self, file: Path, log: Callable[[str], None]):
        self._file = file
        self._log = log
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._own: dict[str, tuple[int, int]] = {}
        self._next_try = self._next_log = self._next_tidy = 0.0

    def hit(self, name: str, limit: int, now: float) -> Usage:
        """Count a request unless it is over the limit."""
        window = window_of(now)
        with self._lock:
            window, used = self._shared(name, limit, window) or self._counted_here(name, limit, window)
        return usage(limit, used, window, used <= limit)

    def _shared(self, name: str, limit: int, window: int) -> tuple[int, int] | None:
        """Window and count after this request (over the limit: refused), or None where the file fails."""
        if self._connection is None and monotonic() < self._next_try:
            return None
        try:
            connection = self._connection or self._connect()
            self._tidy(connection, window)
            rows = connection.execute(_COUNT, {"name": name, "window": window, "limit": limit}).fetchall()
            return rows[0] if rows else (connection.execute(_WINDOW, (name,)).fetchone()[0], limit + 1)
        except (sqlite3.Error, OSError) as error:
            self._fail(error)
            return None

    def _connect(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._file, timeout=5, isolation_level=None, check_same_thread=False)
        # SQLite does not wait while two processes turn one new file to WAL: it refuses one of them.
        with self._file.with_name(f"{self._file.name}.opening").open("a") as turn:
            flock(turn, LOCK_EX)
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = off")
            connection.execute(_TABLE)
        self._connection = connection
        self._own.clear()
        return connection

    def _tidy(self, connection: sqlite3.Connection, window: int) -> None:
        if monotonic() >= self._next_tidy:
            self._next_tidy = monotonic() + _TIDY_SECONDS
            connection.execute(_TIDY, (window - _OLD_WINDOWS,))

    def _fail(self, error: Exception) -> None:
        self._next_try = monotonic() + _RETRY_SECONDS
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if monotonic() >= self._next_log:
            self._next_log = monotonic() + _LOG_SECONDS
            self._log(f"the rate limit counter {self._file} fails, counting in this process alone: {error}")

    def _counted_here(self, name: str, limit: int, window: int) -> tuple[int, int]:
        latest, used = self._own.get(name, (window, 0))
        latest, used = (window, 0) if window > latest else (latest, used)
        if used >= limit:
            return latest, limit + 1
        if len(self._own) > 10_000:
            self._own.clear()
        self._own[name] = (latest, used + 1)
        return latest, used + 1
