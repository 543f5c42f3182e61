"""The exceptions of `edge_auth`."""


class EdgeError(Exception):
    """Base class of the exceptions of `edge_auth`."""


class ApiError(EdgeError):
    """An error that the client sees. Its subclasses are the table of errors in the guide: `when` it occurs, and what
    the client can do. `headers` are those of the response, with `_` for `-` in their names.
    """

    status = 500
    code = "internal_error"
    when: str
    advice: str

    def __init__(self, message: str, **headers: str):
        super().__init__(message)
        headers |= {"WWW_Authenticate": "Bearer"} if self.status == 401 else {}
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class InvalidParameter(ApiError):
    status, code = 400, "invalid_parameter"
    when = "a parameter is out of range, not allowed, unknown or repeated; or `X-Build` names no build that is kept"
    advice = "read the message: it names the parameter and what is allowed"


class NoKey(ApiError):
    status, code = 401, "unauthorized"
    when = "no key was sent"
    advice = "send one"


class InvalidKey(ApiError):
    status, code = 401, "invalid_api_key"
    when = "the key is wrong or malformed"
    advice = "look for cut or added characters"


class ExpiredKey(ApiError):
    status, code = 401, "expired_api_key"
    when = "the key has expired"
    advice = "ask the operator for a new one"


class RevokedKey(ApiError):
    status, code = 401, "revoked_api_key"
    when = "the key was switched off"
    advice = "ask the operator"


class InsufficientScope(ApiError):
    status, code = 403, "insufficient_scope"
    when = "the key may not read this"
    advice = "`/api/v1/me` lists its scopes; ask the operator for more"


class NotFound(ApiError):
    status, code = 404, "not_found"
    when = "there is no such path, product, set or tracked product"
    advice = "compare the path with the reference; look for the id or name with `/cards?q=`, `/sets?q=` or `/watchlist`"


class MethodNotAllowed(ApiError):
    status, code = 405, "method_not_allowed"
    when = "the method is not GET; bulk files also take HEAD"
    advice = "send a GET; `Allow` lists the methods"


class AmbiguousSlug(ApiError):
    status, code = 409, "ambiguous_slug"
    when = "the slug is a part of the URLs of several tracked products"
    advice = "send the slug, or more of the URL"


class PreconditionFailed(ApiError):
    status, code = 412, "precondition_failed"
    when = "`If-Match` names another bulk file than the one that is here now"
    advice = "fetch the file again from its beginning"


class RangeNotSatisfiable(ApiError):
    status, code = 416, "range_not_satisfiable"
    when = "the range begins beyond the end of the bulk file"
    advice = "`Content-Range` has the size"


class RateLimited(ApiError):
    status, code = 429, "rate_limited"
    when = "the key, or the address, is over its limit"
    advice = "wait `Retry-After` seconds"


class InternalError(ApiError):
    status, code = 500, "internal_error"
    when = "something failed in the service"
    advice = "wait `Retry-After` seconds, then retry"


# Every error that a client can see, by status.
API_ERRORS: tuple[type[ApiError], ...] = tuple(ApiError.__subclasses__())
