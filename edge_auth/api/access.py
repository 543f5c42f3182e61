"""The API key of a request: found in the headers, and checked."""

from collections.abc import Mapping
from typing import Protocol

from edge_auth.errors import ExpiredKey, InvalidKey, NoKey, RevokedKey
from edge_auth.live.keys import KEY_PREFIX, KeyRecord, digest, well_formed

_NO_KEY = "an API key is needed: Authorization: Bearer <key>, or X-API-Key: <key>"
_NO_BEARER = "Authorization holds a key without the word Bearer: send Authorization: Bearer <key>"


class Keys(Protocol):
    """The key records that are valid now."""

    def find(self, sha256: str) -> KeyRecord | None:
        """Return the record of the key with this hash (hex), or None.

        Raises:
            StoreError: The key records cannot be read.
        """
        ...


def authenticate(keys: Keys, headers: Mapping[str, str], now: float) -> KeyRecord:
    """Return the record of the key of a request.

    Args:
        headers: The request's headers, by lower-case name.
        now: Unix time.

    Raises:
        KeyRefused: The request has no key, or one that is not valid now.
        StoreError: The key records cannot be read.
    """
    key = sent_key(headers)
    if key is None:
        raise NoKey(_NO_BEARER if _lacks_bearer(headers) else _NO_KEY)
    record = keys.find(digest(key)) if well_formed(key) else None
    if record is None:
        raise InvalidKey("the API key is wrong or malformed")
    if record.revoked:
        raise RevokedKey("the API key has been switched off")
    if record.expired(now):
        raise ExpiredKey(f"the API key expired at {record.expires_at}")
    return record


def sent_key(headers: Mapping[str, str]) -> str | None:
    """Return the key in the headers, "" for an unreadable one, or None if there is none.

    `Authorization` is read first. A scheme other than Bearer counts as absent.
    """
    authorization = headers.get("authorization")
    if authorization is not None:
        scheme, _, rest = authorization.strip(" ").partition(" ")
        if scheme.lower() in ("bearer", ""):
            return rest.strip(" ")
    key = headers.get("x-api-key")
    return key.strip(" ") if key is not None else None


def _lacks_bearer(headers: Mapping[str, str]) -> bool:
    """Return whether Authorization ends in what looks like a key, after another word than Bearer or none."""
    return headers.get("authorization", "").strip(" ").rpartition(" ")[2].startswith(KEY_PREFIX)
