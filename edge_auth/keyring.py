"""Whose key a request carries (specification, section 5).

The key records are read again every POLL seconds, so a change is in force within 5 seconds; for a key that they do
not hold at once, so a new one is good from its first request. Where they cannot be read, or are gone, the last good
copy stays in force: revoking is what takes a key out.
"""

from collections.abc import Mapping
from threading import Lock
from time import monotonic

from edge_auth.contract.keys import KeyFile, KeyRecord, digest, parse_records, well_formed
from edge_auth.errors import EdgeError, ExpiredKey, InvalidKey, NoKey, RevokedKey, StoreError
from edge_auth.log import Log

POLL = 1.5
# Whoever sends wrong keys makes us read so many times a second at most, and as many at once.
_RENEWALS = 10
_PATIENCE_SECONDS = 1


class Keyring:
    """The keys in force, by their hash."""

    def __init__(self, file: KeyFile, log: Log, poll: float = POLL):
        self._file = file
        self._log = log
        self._poll = poll
        self._records: dict[str, KeyRecord] | None = None
        self._version: str | None = None
        self._looked = -poll
        self._renewals, self._renewed = float(_RENEWALS), monotonic()
        self._trouble = ""
        self._lock = Lock()

    def holder(self, headers: Mapping[str, str], now: float) -> KeyRecord:
        """The record of the key that was sent.

        Raises:
            KeyRefused: none was sent, or it is not valid now.
            EdgeError: the records were never readable.
        """
        key = sent_key(headers)
        if key is None:
            raise NoKey("an API key is needed: Authorization: Bearer <key>, or X-API-Key: <key>")
        record = self._find(digest(key)) if well_formed(key) else None
        if record is None:
            raise InvalidKey("the API key is wrong or malformed")
        if record.revoked:
            raise RevokedKey("the API key has been switched off")
        if record.expired(now):
            raise ExpiredKey(f"the API key expired at {record.expires_at}")
        return record

    def _find(self, sha256: str) -> KeyRecord | None:
        return self.records(self._poll).get(sha256) or self._new_records().get(sha256)

    def _new_records(self) -> dict[str, KeyRecord]:
        """The records as they are now, for a key that was not there a moment ago; a look of another thread will do."""
        asked = monotonic()
        if self._lock.acquire(timeout=_PATIENCE_SECONDS):
            try:
                if self._looked < asked and self._may_renew(asked):
                    self._look()
            finally:
                self._lock.release()
        return self._records if self._records is not None else {}

    def _may_renew(self, now: float) -> bool:
        self._renewals = min(_RENEWALS, self._renewals + (now - self._renewed) * _RENEWALS)
        self._renewed = now
        if self._renewals < 1:
            return False
        self._renewals -= 1
        return True

    def records(self, age: float = POLL) -> dict[str, KeyRecord]:
        """The records by hash, as they were `age` seconds ago or later.

        Raises:
            EdgeError: they were never readable.
        """
        if monotonic() >= self._looked + age and self._lock.acquire(blocking=self._records is None):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._records if self._records is not None else {}

    def _look(self) -> None:
        began = monotonic()
        try:
            found = self._file.store.get_versioned(self._file.name)
            if found is None and self._version is not None:
                raise StoreError(f"{self._file.name} is gone from {self._file.store.location}")
            if found is None:
                self._records = {}
            elif found.etag != self._version:
                self._records = {record.sha256: record for record in parse_records(found.data)}
                self._version = found.etag
            self._trouble = ""
        except EdgeError as error:
            if self._records is None:
                raise
            if str(error) != self._trouble:
                self._log.line(f"the key records as last read stay in force: {error}")
            self._trouble = str(error)
        self._looked = began


def sent_key(headers: Mapping[str, str]) -> str | None:
    """The key in the headers ("" for an unreadable one), or None where none was sent.

    Authorization is read first; a scheme other than Bearer counts as absent.
    """
    authorization = headers.get("authorization")
    if authorization is not None:
        scheme, _, rest = authorization.strip(" ").partition(" ")
        if scheme.lower() in ("bearer", ""):
            return rest.strip(" ")
    key = headers.get("x-api-key")
    return key.strip(" ") if key is not None else None
