"""Whose key a request carries (specification, section 5).

The key records are read again at most every POLL seconds, so a change is in force within 5 seconds. Where they
cannot be read, or are gone, the last good copy stays in force: revoking is what takes a key out.
"""

from collections.abc import Mapping
from threading import Lock
from time import monotonic

from edge_auth.contract.keys import KeyFile, KeyRecord, digest, parse_records, well_formed
from edge_auth.errors import EdgeError, ExpiredKey, InvalidKey, NoKey, RevokedKey, StoreError
from edge_auth.log import Log

POLL = 1.5


class Keyring:
    """The keys in force, by their hash."""

    def __init__(self, file: KeyFile, log: Log, poll: float = POLL):
        self._file = file
        self._log = log
        self._poll = poll
        self._records: dict[str, KeyRecord] | None = None
        self._version: str | None = None
        self._next_look = 0.0
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
        record = self.records().get(digest(key)) if well_formed(key) else None
        if record is None:
            raise InvalidKey("the API key is wrong or malformed")
        if record.revoked:
            raise RevokedKey("the API key has been switched off")
        if record.expired(now):
            raise ExpiredKey(f"the API key expired at {record.expires_at}")
        return record

    def records(self) -> dict[str, KeyRecord]:
        """The records by hash. Raises EdgeError where they were never readable."""
        if monotonic() >= self._next_look and self._lock.acquire(blocking=self._records is None):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._records if self._records is not None else {}

    def _look(self) -> None:
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
        self._next_look = monotonic() + self._poll


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
