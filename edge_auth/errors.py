"""The exceptions of `edge_auth`.

EdgeError
├── StoreError            the store failed: unreachable, access refused, incomplete or damaged data. Never "not found"
│   ├── MissingObject     an object that an index or a record names does not exist
│   ├── DamagedObject     the bytes of an object do not match their hash
│   ├── AccessDenied      the store refuses access; the object may also be missing, S3 does not always tell
│   └── Conflict          a conditional write failed: another writer changed the object first
├── KeyFormatError        the key records cannot be read
├── UnknownKey            no key record has this id
├── NoLiveBuild           the store has no live build
├── UnknownBuild          the store does not hold this build
├── ServeError            the shim cannot start
└── ApiError              an error that the client sees; one class for each error in the table of docs/api.md
"""


class EdgeError(Exception):
    """Base class of the exceptions of `edge_auth`."""


class StoreError(EdgeError):
    """The store failed. The client gets 500, never 404: only an index decides that an object does not exist."""


class MissingObject(StoreError):
    """An object that should exist is missing. This is a failure of the store, not a 404."""


class DamagedObject(StoreError):
    """The bytes of an object do not match their hash."""


class AccessDenied(StoreError):
    """The store denies access. Without permission to list a bucket, S3 also denies access to missing objects."""


class Conflict(StoreError):
    """A conditional write failed because another writer changed the object first."""


class KeyFormatError(EdgeError):
    """The key records cannot be read."""


class UnknownKey(EdgeError):
    """No key record has this id."""


class NoLiveBuild(EdgeError):
    """The store has no live build yet."""


class UnknownBuild(EdgeError):
    """The store does not hold this build."""


class ServeError(EdgeError):
    """The shim cannot start."""


class ApiError(EdgeError):
    """An error that the client sees; docs/api.md lists them.

    Args:
        message: Text for the client.
        headers: Headers of the response, with `_` for `-` in their names.
    """

    status = 500
    code = "internal_error"

    def __init__(self, message: str, **headers: str):
        super().__init__(message)
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class InternalError(ApiError):
    """500: something failed in the shim or in the store."""


class InvalidParameter(ApiError):
    """400: a query parameter, an id or X-Build is not valid."""

    status, code = 400, "invalid_parameter"


class KeyRefused(ApiError):
    """401: base class of the four errors of the key check."""

    status = 401

    def __init__(self, message: str):
        super().__init__(message, WWW_Authenticate="Bearer")


class NoKey(KeyRefused):
    """401: the request has no key."""

    code = "unauthorized"


class InvalidKey(KeyRefused):
    """401: the key is malformed or unknown."""

    code = "invalid_api_key"


class ExpiredKey(KeyRefused):
    """401: the key has expired."""

    code = "expired_api_key"


class RevokedKey(KeyRefused):
    """401: the key was revoked."""

    code = "revoked_api_key"


class InsufficientScope(ApiError):
    """403: the key lacks the scope of the endpoint."""

    status, code = 403, "insufficient_scope"


class NotFound(ApiError):
    """404: there is no such path, product, set or slug."""

    status, code = 404, "not_found"


class MethodNotAllowed(ApiError):
    """405: the method is not GET."""

    status, code = 405, "method_not_allowed"


class AmbiguousSlug(ApiError):
    """409: a slug matches the URLs of several watchlist products."""

    status, code = 409, "ambiguous_slug"


class RangeNotSatisfiable(ApiError):
    """416: the requested range begins beyond the end of the file."""

    status, code = 416, "range_not_satisfiable"


class RateLimited(ApiError):
    """429: the key or the address is over its limit."""

    status, code = 429, "rate_limited"
