"""The key records in force in a shim: each is read when it is first used, and dropped when it changes."""

from itertools import islice
from threading import Lock
from typing import Protocol

from edge_auth.errors import StoreError
from edge_auth.live.key_file import KeyChanges
from edge_auth.live.keys import KeyRecord
from edge_auth.live.log import Log
from edge_auth.live.metrics import Metrics
from edge_auth.live.poller import Poller

_POLL_SECONDS = 1.0
_FIRST_SECONDS = 1.0  # how long a request waits for the first poll
_MAX_KEPT = 20_000  # records; to read another one from a file takes 0.05 ms


class KeySource(Protocol):
    """Key records that are read one by one: a `KeyFile`, or `KeyCopies` of one.

    Attributes:
        problem: What is wrong although the changes could be read, or ''.
    """

    problem: str

    def changes(self) -> KeyChanges:
        """Return what `keys.json` says now."""
        ...

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of a key, or None."""
        ...


class Keyring:
    """The key records by the hash of the key.

    Attributes:
        last_error: Why the changes could not be read at the last poll, or the problem of the source, or ''.
    """

    def __init__(
        self,
        source: KeySource,
        log: Log,
        metrics: Metrics,
        poll_seconds: float = _POLL_SECONDS,
    ):
        self._source = source
        self._log = log
        self._metrics = metrics
        self._kept: dict[str, KeyRecord] = {}
        self._keeping = Lock()
        self._changes: KeyChanges | None = None
        self.last_error = ""
        self._poller = Poller(self._poll, poll_seconds)

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of the key with this hash (hex), or None.

        Raises:
            KeyFormatError: The record cannot be read.
            StoreError: The store failed.
        """
        record = self._kept.get(sha256)
        if record is None:
            before = self.check()
            record = self._source.find(sha256)
            if record is not None:
                self._keep(record, before)
        return record

    def check(self) -> KeyChanges:
        """Return the changes that are in force.

        Raises:
            StoreError: They could never be read.
        """
        if self._changes is None:
            self._poller.refresh(_FIRST_SECONDS)
        if self._changes is None:
            raise StoreError(self.last_error or "the key records are still being read")
        return self._changes

    def _keep(self, record: KeyRecord, before: KeyChanges) -> None:
        """Keep a record unless keys changed while it was read: it may be one of them."""
        with self._keeping:
            if self._changes is not before:
                return
            if len(self._kept) >= _MAX_KEPT:
                for oldest in list(islice(self._kept, _MAX_KEPT // 10)):
                    del self._kept[oldest]
            self._kept[record.sha256] = record

    def _poll(self) -> None:
        try:
            new = self._source.changes()
        except Exception as error:  # whatever the error is, the next poll may succeed
            message = str(error) or repr(error)
            if self._changes is not None and message != self.last_error:
                self._log.line(f"the key records that were used stay in force: {message}")
            self.last_error = message
        else:
            if new != self._changes:
                self._follow(new)
            problem = self._source.problem
            if problem and problem != self.last_error:
                self._log.line(problem)
            self.last_error = problem

    def _follow(self, new: KeyChanges) -> None:
        """Drop the records that changed."""
        with self._keeping:
            changed = new.since(self._changes or KeyChanges())
            if changed is None:
                self._kept.clear()
            else:
                for sha256 in changed:
                    self._kept.pop(sha256, None)
            self._changes = new
