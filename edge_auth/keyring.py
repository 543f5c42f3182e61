"""Whose key a request carries (specification, section 5).

A thread reads the key records every 1.5 seconds, so a change is in force within 5 seconds; for a key that they do not
hold they are read at once, so a new one is good from its first request. Where they cannot be read, or are gone, the
last good copy stays in force, since revoking is what takes a key out; but only to a certain age, since nobody hears of
a key that is revoked meanwhile.
"""

from collections.abc import Mapping
from threading import Lock
from time import monotonic

from edge_auth.contract.keys import KeyFile, KeyRecord, digest, parse_records, well_formed
from edge_auth.errors import ExpiredKey, InvalidKey, NoKey, RevokedKey, StoreError
from edge_auth.log import Log
from edge_auth.metrics import Metrics
from edge_auth.watch import POLL, Watch

MOST_AGE = 3600.0
# Whoever sends wrong keys makes us read so many times a second at most, and as many at once.
_RENEWALS = 10
_PATIENCE_SECONDS = 1


class Keyring:
    """The keys in force, by their hash.

    Args:
        most_age: seconds for which records are good that cannot be read anew.
    """

    def __init__(self, file: KeyFile, log: Log, metrics: Metrics, most_age: float = MOST_AGE, poll: float = POLL):
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
        self._watch = Watch(self._look, poll)

    def holder(self, headers: Mapping[str, str], now: float) -> KeyRecord:
        """The record of the key that was sent.

        Raises:
            KeyRefused: none was sent, or it is not valid now.
            StoreError: the records were never readable, or not for too long.
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

    def records(self) -> dict[str, KeyRecord]:
        """The records by hash.

        Raises:
            StoreError: they were never readable, or not for too long.
        """
        if self._records is None:
            self._watch.now(_PATIENCE_SECONDS)
        if self._records is None:
            raise StoreError(self.trouble or "the key records are still being read")
        if monotonic() > self._read + self._most_age:
            raise StoreError(f"the key records could not be read for {self._most_age:g} s: {self.trouble}")
        return self._records

    def _find(self, sha256: str) -> KeyRecord | None:
        record = self.records().get(sha256)
        if record is None and not self.trouble and (self._watch.wanted or self._may_renew()):
            self._watch.now(_PATIENCE_SECONDS)  # the key may have been issued a moment ago
            record = self.records().get(sha256)
        return record

    def _may_renew(self) -> bool:
        with self._lock:
            now = monotonic()
            self._renewals = min(_RENEWALS, self._renewals + (now - self._renewed) * _RENEWALS)
            self._renewed = now
            if self._renewals < 1:
                return False
            self._renewals -= 1
            return True

    def _look(self) -> None:
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
