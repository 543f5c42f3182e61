"""Whose key a request carries (specification, section 5).

A thread reads the key records every 1.5 seconds, so a change is in force within 5 seconds; for a key that they do not
hold they are read at once, so a new one is good from its first request. Where they cannot be read, or are gone, the
last good copy stays in force, since revoking is what takes a key out; but only to a certain age, since nobody hears of
a key that is revoked meanwhile.
"""

from threading import Lock
from time import monotonic

from edge_auth.contract.keys import KeyFile, KeyRecord, parse_records
from edge_auth.errors import StoreError
from edge_auth.host.log import Log
from edge_auth.host.metrics import Metrics
from edge_auth.host.poller import POLL_SECONDS, Poller

MAX_AGE_SECONDS = 3600.0
# Whoever sends wrong keys makes us read so many times a second at most, and as many at once.
_RENEWALS = 10
_REFRESH_TIMEOUT_SECONDS = 1


class Keyring:
    """The keys in force, by their hash.

    Args:
        most_age: seconds for which records are good that cannot be read anew.
    """

    def __init__(
        self, file: KeyFile, log: Log, metrics: Metrics, most_age: float = MAX_AGE_SECONDS, poll: float = POLL_SECONDS
    ):
        self._file = file
        self._log = log
        self._metrics = metrics
        self._most_age = most_age
        self._records: dict[str, KeyRecord] | None = None
        self._version: str | None = None
        self._read = 0.0
        self._renewals, self._renewed = float(_RENEWALS), monotonic()
        self.trouble = ""
        self._lock = Lock()
        self._poller = Poller(self._poll, poll)

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of the key with this hash, or None.

        Raises:
            StoreError: The records were never readable, or not for too long.
        """
        record = self.records().get(sha256)
        if record is None and not self.trouble and (self._poller.requested or self._may_renew()):
            self._poller.refresh(_REFRESH_TIMEOUT_SECONDS)  # the key may have been issued a moment ago
            record = self.records().get(sha256)
        return record

    def records(self) -> dict[str, KeyRecord]:
        """The records by hash.

        Raises:
            StoreError: they were never readable, or not for too long.
        """
        if self._records is None:
            self._poller.refresh(_REFRESH_TIMEOUT_SECONDS)
        if self._records is None:
            raise StoreError(self.trouble or "the key records are still being read")
        if monotonic() > self._read + self._most_age:
            raise StoreError(f"the key records could not be read for {self._most_age:g} s: {self.trouble}")
        return self._records

    def _may_renew(self) -> bool:
        with self._lock:
            now = monotonic()
            self._renewals = min(_RENEWALS, self._renewals + (now - self._renewed) * _RENEWALS)
            self._renewed = now
            if self._renewals < 1:
                return False
            self._renewals -= 1
            return True

    def _poll(self) -> None:
        began = monotonic()
        try:
            self._read_records()
            self._read, self.trouble = began, ""
        except Exception as error:  # whatever it is, the next look may find it mended
            trouble = str(error) or repr(error)
            if self._records is not None and trouble != self.trouble:
                self._log.line(f"the key records as last read stay in force for {self._most_age:g} s: {trouble}")
            self.trouble = trouble
        self._metrics.flush()

    def _read_records(self) -> None:
        found = self._file.store.get_versioned(self._file.name)
        if found is None and self._version is not None:
            raise StoreError(f"{self._file.name} is gone from {self._file.store.location}")
        if found is None:
            self._records = {}
        elif found.etag != self._version:
            self._records = {record.sha256: record for record in parse_records(found.data)}
            self._version = found.etag
