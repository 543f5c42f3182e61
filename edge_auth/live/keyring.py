"""The key records in force in a shim: found by the hash of the key, and renewed when they change."""

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from threading import Lock
from time import monotonic

from edge_auth.errors import MissingObject, StoreError
from edge_auth.live.key_file import KeyFile, KeyList, find_in_shard
from edge_auth.live.keys import KeyRecord
from edge_auth.live.log import Log
from edge_auth.live.metrics import Metrics
from edge_auth.live.poller import MAX_REFRESHES_PER_SECOND, POLL_SECONDS, Budget, Poller
from edge_auth.store.interface import Versioned

KEYS_MAX_AGE_SECONDS = 3600.0
_REFRESH_TIMEOUT_SECONDS = 1
_MAX_REMEMBERED = 20_000  # records of shards: to find another one takes 0.1 ms


class Keyring:
    """The key records by the hash of the key.

    Args:
        max_age_seconds: How long records stay valid that cannot be read again.
        waiting: Returns the context in which a request waits for a read, which may be across a network.

    Attributes:
        last_error: Why the records could not be read at the last poll, or ''.
    """

    def __init__(
        self,
        file: KeyFile,
        log: Log,
        metrics: Metrics,
        max_age_seconds: float = KEYS_MAX_AGE_SECONDS,
        poll_seconds: float = POLL_SECONDS,
        waiting: Callable[[Hashable], AbstractContextManager[object]] = nullcontext,
    ):
        self._file = file
        self._log = log
        self._metrics = metrics
        self._max_age_seconds = max_age_seconds
        self._waiting = waiting
        self._list: KeyList | None = None
        self._remembered: dict[str, tuple[str, KeyRecord]] = {}  # by hash, with the token of the shard that was read
        self._remembering = Lock()
        self._version: Versioned | None = None
        self._state: tuple[int, int, int] | None = None  # of the file that was read last
        self._read_at = 0.0
        self._budget = Budget(MAX_REFRESHES_PER_SECOND, MAX_REFRESHES_PER_SECOND)
        self.last_error = ""
        self._poller = Poller(self._poll, poll_seconds)

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of the key with this hash (hex), or None.

        Raises:
            StoreError: The records could never be read, or not for too long.
        """
        record = self._find(self.check(), sha256)
        if record is None and not self.last_error and (self._poller.requested or self._budget.take()):
            self._refresh()  # the key may have been issued a moment ago
            record = self._find(self.check(), sha256)
        return record

    def check(self) -> KeyList:
        """Return the list of records in force.

        Raises:
            StoreError: The records could never be read, or not for too long.
        """
        if self._list is None:
            self._refresh()
        if self._list is None:
            raise StoreError(self.last_error or "the key records are still being read")
        if monotonic() > self._read_at + self._max_age_seconds:
            raise StoreError(f"the key records could not be read for {self._max_age_seconds:g} s: {self.last_error}")
        return self._list

    def _find(self, found: KeyList, sha256: str) -> KeyRecord | None:
        shard = sha256[: found.digits]
        token = found.shards.get(shard)
        if token is None:
            return found.by_hash.get(sha256)
        remembered = self._remembered.get(sha256)
        if remembered is not None and remembered[0] == token:
            return remembered[1]
        try:
            record = find_in_shard(self._shard(shard, token), sha256)
        except MissingObject:  # replaced long ago: the list is old
            self._refresh()
            token = self.check().shards.get(shard, "")
            record = find_in_shard(self._shard(shard, token), sha256) if token else None
        if record is not None:
            self._remember(record, token)
        return record

    # Requests for all keys wait in one place: after a start each key is a new one, and none may be refused for that.

    def _refresh(self) -> None:
        with self._waiting(self):
            self._poller.refresh(_REFRESH_TIMEOUT_SECONDS)

    def _shard(self, shard: str, token: str) -> bytes:
        with self._waiting(self):
            return self._file.shard(shard, token)

    def _remember(self, record: KeyRecord, token: str) -> None:
        with self._remembering:
            if len(self._remembered) >= _MAX_REMEMBERED:
                for oldest in list(islice(self._remembered, _MAX_REMEMBERED // 10)):
                    del self._remembered[oldest]
            self._remembered[record.sha256] = token, record

    def _poll(self) -> None:
        started_at = monotonic()
        try:
            self._read()
            self._read_at, self.last_error = started_at, ""
        except Exception as error:  # whatever the error is, the next poll may succeed
            message = str(error) or repr(error)
            if self._list is not None and message != self.last_error:
                self._log.line(f"the last key records stay in force for {self._max_age_seconds:g} s: {message}")
            self.last_error = message
        self._metrics.flush()

    def _read(self) -> None:
        path = self._file.store.local_path(self._file.name)
        state = _state(path) if path else None
        if state is not None and state == self._state:
            return  # the same file: a change of a record renames another one into its place
        found = self._file.store.get_versioned(self._file.name, self._version)
        if found is None and self._version is not None:
            raise StoreError(f"{self._file.name} is missing from {self._file.store.location}")
        if found is None:
            self._list = KeyList()
        elif self._version is None or found.etag != self._version.etag:
            self._put_into_force(KeyList.parse(found.data))
            self._version = found
        self._state = state

    def _put_into_force(self, new: KeyList) -> None:
        """Renew the records that were asked for, and then follow the list: so no request waits for the store."""
        if self._list is not None and self._list.digits == new.digits:
            changed = {shard for shard, token in new.shards.items() if self._list.shards.get(shard) != token}
            with self._remembering:
                asked = [sha256 for sha256 in self._remembered if sha256[: new.digits] in changed]
            contents = {shard: self._file.shard(shard, new.shards[shard]) for shard in {s[: new.digits] for s in asked}}
            for sha256 in asked:
                record = find_in_shard(contents[sha256[: new.digits]], sha256)
                if record is not None:
                    self._remember(record, new.shards[sha256[: new.digits]])
        self._list = new


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return what differs between two files that had the same path, or None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
