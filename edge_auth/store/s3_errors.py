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

FAILURES = (BotoCoreError, Boto3Error, ResponseParserError, HTTPError, OSError, ValueError)
# An incomplete or garbled response that boto3 does not notice, or does not retry.
INCOMPLETE = (ResponseParserError, ValueError)
# Statuses of a conditional write that lost against another writer, or against an earlier attempt of this process whose
# answer was lost.
_CONFLICT_STATUSES = (404, 409, 412)
_THROTTLED_STATUSES = (429, 503)


@contextmanager
def translated_errors(location: str, name: str) -> Iterator[None]:
    """Turn the exceptions that boto3 raises in the body into StoreError, MissingObject, AccessDenied or Conflict."""
    try:
        yield
    except ClientError as error:
        raise _translate(location, name, error) from error
    except FAILURES as error:
        raise StoreError(f"{_where(location, name)}: {in_one_line(error)}") from error


def is_final(error: StoreError) -> bool:
    """Return whether a conditional write has certainly failed, and would fail again."""
    cause = error.__cause__
    if not isinstance(cause, ClientError):
        return False
    status = _status(cause)
    return _code(cause) == "NoSuchBucket" or status == 501 or (status < 500 and status not in _CONFLICT_STATUSES)


def is_not_implemented(error: StoreError) -> bool:
    """Return whether the server does not implement the request (501)."""
    return isinstance(error.__cause__, ClientError) and _status(error.__cause__) == 501


def in_one_line(error: Exception) -> str:
    """Return the text of an error without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def _translate(location: str, name: str, error: ClientError) -> StoreError:
    code, status, where = _code(error), _status(error), _where(location, name)
    if code == "NoSuchBucket":
        return StoreError(f"{location}: there is no such bucket")
    if code == "NoSuchKey" or (status == 404 and error.operation_name == "HeadObject"):
        return MissingObject(f"{name} is not in {location}")
    if status == 412:
        return Conflict(f"another writer has changed {where}: check it, then try again")
    if status == 416:
        return StoreError(f"{where}: the object is shorter than the requested range")
    if status == 403:
        return AccessDenied(
            f"{where}: access denied ({code}): check the credentials, and grant s3:GetObject and s3:ListBucket "
            "(to writers also s3:PutObject and s3:DeleteObject); without s3:ListBucket, missing objects are denied too"
        )
    kind = Throttled if status in _THROTTLED_STATUSES else StoreError
    return kind(f"{where}: the server answered {code} ({status}) to {error.operation_name}")


def _where(location: str, name: str) -> str:
    return f"{name} in {location}" if name else location


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
