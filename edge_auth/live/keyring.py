"""The key records that are valid now.

A thread reads the key records every 1.5 seconds, so a change takes effect within 5 seconds. An unknown key makes the
shim read them at once, so a new key is valid from its first request. If the records cannot be read or their file is
missing, the last good copy stays valid: deleting the file must not revoke keys. It is valid for a limited time only,
since the shim does not hear about keys that are revoked meanwhile.
"""

from time import monotonic

from edge_auth.errors import StoreError
from edge_auth.live.keys import KeyFile, KeyRecord, parse_records
from edge_auth.live.log import Log
from edge_auth.live.metrics import Metrics
from edge_auth.live.poller import POLL_SECONDS, Poller
from edge_auth.live.refresh_budget import RefreshBudget

KEYS_MAX_AGE_SECONDS = 3600.0
_REFRESH_TIMEOUT_SECONDS = 1


class Keyring:
    """The key records by the hash of the key.

    Args:
        max_age_seconds: How long records stay valid that cannot be read again.

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
    ):
        self._file = file
        self._log = log
        self._metrics = metrics
        self._max_age_seconds = max_age_seconds
        self._records: dict[str, KeyRecord] | None = None
        self._version: str | None = None
        self._read_at = 0.0
        self._budget = RefreshBudget()
        self.last_error = ""
        self._poller = Poller(self._poll, poll_seconds)

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of the key with this hash (hex), or None.

        Raises:
            StoreError: The records could never be read, or not for too long.
        """
        record = self.records().get(sha256)
        if record is None and not self.last_error and (self._poller.requested or self._budget.take()):
            self._poller.refresh(_REFRESH_TIMEOUT_SECONDS)  # the key may have been issued a moment ago
            record = self.records().get(sha256)
        return record

    def records(self) -> dict[str, KeyRecord]:
        """Return the records by hash.

        Raises:
            StoreError: The records could never be read, or not for too long.
        """
        if self._records is None:
            self._poller.refresh(_REFRESH_TIMEOUT_SECONDS)
        if self._records is None:
            raise StoreError(self.last_error or "the key records are still being read")
        if monotonic() > self._read_at + self._max_age_seconds:
            raise StoreError(f"the key records could not be read for {self._max_age_seconds:g} s: {self.last_error}")
        return self._records

    def _poll(self) -> None:
        started_at = monotonic()
        try:
            self._read_records()
            self._read_at, self.last_error = started_at, ""
        except Exception as error:  # whatever the error is, the next poll may succeed
            message = str(error) or repr(error)
            if self._records is not None and message != self.last_error:
                self._log.line(f"the last key records stay in force for {self._max_age_seconds:g} s: {message}")
            self.last_error = message
        self._metrics.flush()

    def _read_records(self) -> None:
        found = self._file.store.get_versioned(self._file.name)
        if found is None and self._version is not None:
            raise StoreError(f"{self._file.name} is missing from {self._file.store.location}")
        if found is None:
            self._records = {}
        elif found.etag != self._version:
            self._records = {record.sha256: record for record in parse_records(found.data)}
            self._version = found.etag
