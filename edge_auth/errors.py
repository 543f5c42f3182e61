"""What can go wrong at the edge and in what both sides share.

EdgeError
├── StoreError            the store failed: unreachable, refused, torn, a wrong hash. Never "not found"
│   ├── MissingObject     an object that an index or a record names is not there
│   ├── AccessDenied      the store refuses; it may be that there is no such object, which it then does not tell
│   └── Conflict          a conditional write lost: somebody else moved the object first
├── KeyFormatError        key records that cannot be read
├── UnknownKey            no key record has that id
├── NoLiveBuild           the store holds no live build
├── UnknownBuild          the store does not hold that build
├── ServeError            the shim cannot start
└── ApiError              a refusal that the client sees, one per row of the specification's error table
"""


class EdgeError(Exception):
    """Root of everything that edge_auth raises on purpose."""


class StoreError(EdgeError):
    """The store failed. A client sees 500, never 404: only an index decides that something does not exist."""


class MissingObject(StoreError):
    """An object that should be there is not: a failure of the store, not an answer."""


class AccessDenied(StoreError):
    """The store refuses to read or write. S3 refuses so what is missing, too, to who may not list the bucket."""


class Conflict(StoreError):
    """A conditional write lost against another writer; the object is as that writer left it."""


class KeyFormatError(EdgeError):
    """The key records cannot be read."""


class UnknownKey(EdgeError):
    """No key record has the id that was named."""


class NoLiveBuild(EdgeError):
    """The store has no live build yet."""


class UnknownBuild(EdgeError):
    """The store does not hold the build that was asked for."""


class ServeError(EdgeError):
    """The shim cannot start."""


class ApiError(EdgeError):
    """A refusal that the client sees (specification, section 7); `headers` go with it."""

    status = 500
    code = "internal_error"

    def __init__(self, message: str, **headers: str):
        super().__init__(message)
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class InternalError(ApiError):
    """Something failed on our side."""


class InvalidParameter(ApiError):
    status, code = 400, "invalid_parameter"


class KeyRefused(ApiError):
    """Root of the four 401s."""

    status = 401

    def __init__(self, message: str):
        super().__init__(message, WWW_Authenticate="Bearer")


class NoKey(KeyRefused):
    code = "unauthorized"


class InvalidKey(KeyRefused):
    code = "invalid_api_key"


class ExpiredKey(KeyRefused):
    code = "expired_api_key"


class RevokedKey(KeyRefused):
    code = "revoked_api_key"


class InsufficientScope(ApiError):
    status, code = 403, "insufficient_scope"


class NotFound(ApiError):
    status, code = 404, "not_found"


class MethodNotAllowed(ApiError):
    status, code = 405, "method_not_allowed"


class AmbiguousSlug(ApiError):
    status, code = 409, "ambiguous_slug"


class RateLimited(ApiError):
    status, code = 429, "rate_limited"
