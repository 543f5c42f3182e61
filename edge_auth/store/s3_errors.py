"""Translation of boto3's errors into StoreError and its subclasses.

A denied request never means "not found". Only NoSuchKey, or 404 to a HEAD request, means that an object does not exist.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from edge_auth.errors import AccessDenied, Conflict, MissingObject, StoreError, Throttled
from edge_auth.store.remedies import REMEDIES, with_remedy

FAILURES = (BotoCoreError, Boto3Error, ResponseParserError, HTTPError, OSError, ValueError)
# An incomplete or garbled response that boto3 does not notice, or does not retry.
INCOMPLETE = (ResponseParserError, ValueError)
# Statuses of a conditional write that lost against another writer, or against an earlier attempt of this process whose
# answer was lost.
_CONFLICT_STATUSES = (404, 409, 412)
_THROTTLED_STATUSES = (429, 503)
# Statuses of a request in a form that the server does not take. Another form may be taken.
_REFUSED_STATUSES = (400, 405, 411, 501)
_DENIED_CODES = ("AccessDenied", "AllAccessDisabled", "Forbidden", "403", "")
_CREDENTIAL_STATUSES = (400, 401, 403)
_CREDENTIAL_REMEDY = "check the credentials"
_BYTES_CODES = ("BadDigest", "XAmzContentSHA256Mismatch")  # bytes that changed on the way, whatever the form
EXPIRED_CODES = ("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired")


@contextmanager
def translated_errors(location: str, name: str) -> Iterator[None]:
    """Turn the exceptions that boto3 raises in the body into StoreError, MissingObject, AccessDenied or Conflict."""
    try:
        yield
    except ClientError as error:
        raise _translate(location, name, error) from error
    except FAILURES as error:
        answer = client_error(error)
        if answer is not None:  # boto3 wraps the answer to a part of an upload
            raise _translate(location, name, answer) from answer
        raise StoreError(with_remedy(f"{_where(location, name)}: {in_one_line(error)}", error)) from error


def client_error(error: BaseException | None) -> ClientError | None:
    """Return the answer of the server among an error and its causes, or None."""
    while error is not None and not isinstance(error, ClientError):
        error = error.__cause__ or error.__context__
    return error


def is_final(error: StoreError) -> bool:
    """Return whether a conditional write has certainly failed, and would fail again."""
    cause = error.__cause__
    if not isinstance(cause, ClientError):
        return False
    status = status_of(cause)
    return code_of(cause) == "NoSuchBucket" or status == 501 or (status < 500 and status not in _CONFLICT_STATUSES)


def is_refusal(error: StoreError) -> bool:
    """Return whether the server does not take the form of a request, so that another form may help."""
    cause = error.__cause__
    if not isinstance(cause, ClientError) or status_of(cause) not in _REFUSED_STATUSES:
        return False
    return code_of(cause) not in (*_BYTES_CODES, *EXPIRED_CODES)


def is_not_implemented(error: StoreError) -> bool:
    """Return whether the server does not implement the request (501)."""
    return isinstance(error.__cause__, ClientError) and status_of(error.__cause__) == 501


def is_unchanged(error: StoreError) -> bool:
    """Return whether the server says that an object is the one that the reader knows (304)."""
    return isinstance(error.__cause__, ClientError) and status_of(error.__cause__) == 304


def may_be_credentials(error: BaseException) -> bool:
    """Return whether other credentials might help."""
    answer = client_error(error)
    return status_of(answer) in _CREDENTIAL_STATUSES if answer else type(error).__name__.endswith("CredentialsError")


def in_one_line(error: Exception) -> str:
    """Return the text of an error without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def code_of(error: ClientError) -> str:
    """Return the code of an answer; to a HEAD request it is the status."""
    return str(error.response.get("Error", {}).get("Code", ""))


def status_of(error: ClientError) -> int:
    """Return the HTTP status of an answer."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _translate(location: str, name: str, error: ClientError) -> StoreError:
    code, status, where = code_of(error), status_of(error), _where(location, name)
    if code == "NoSuchBucket":
        return StoreError(f"{location}: there is no such bucket: {REMEDIES[code]}")
    if code == "NoSuchKey" or (status == 404 and error.operation_name == "HeadObject"):
        return MissingObject(f"{name} is not in {location}")
    if status == 412:
        return Conflict(f"another writer has changed {where}: check it, then try again")
    if status == 416:
        return StoreError(f"{where}: the object is shorter than the requested range")
    remedy = REMEDIES.get(code)
    if status == 403 and code in _DENIED_CODES:
        return AccessDenied(f"{where}: access denied ({code or status}): {REMEDIES['AccessDenied']}")
    if remedy and remedy.startswith(_CREDENTIAL_REMEDY):
        return StoreError(f"{where}: access denied ({code}): {remedy}")
    kind = Throttled if status in _THROTTLED_STATUSES else StoreError
    text = " ".join(str(error.response.get("Error", {}).get("Message", "")).split())
    said = remedy or (text if text != code else "")
    return kind(f"{where}: the server answered {code} ({status}) to {error.operation_name}{': ' * bool(said)}{said}")


def _where(location: str, name: str) -> str:
    return f"{name} in {location}" if name else location
