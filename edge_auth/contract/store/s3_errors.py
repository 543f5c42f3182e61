"""What boto3 raises, in our words: translated once, here, into StoreError and its kinds.

A refusal is never "not found": only NoSuchKey, or the 404 of a HEAD, says that an object is not there.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from edge_auth.errors import AccessDenied, Conflict, MissingObject, StoreError

FAILURES = (BotoCoreError, Boto3Error, ResponseParserError, HTTPError, OSError, ValueError)
# An answer that was cut off or garbled in a place where boto3 does not notice, or does not ask again.
TORN = (ResponseParserError, ValueError)
# What a conditional write may answer though somebody else's, or our own lost first try, decided the race.
_RACED = (404, 409, 412)


@contextmanager
def translated(location: str, name: str) -> Iterator[None]:
    """Raise StoreError, MissingObject or Conflict for whatever boto3 raises in the body."""
    try:
        yield
    except ClientError as error:
        raise _refusal(location, name, error) from error
    except FAILURES as error:
        raise StoreError(f"{_where(location, name)}: {in_one_line(error)}") from error


def is_final(error: StoreError) -> bool:
    """Whether a conditional write certainly failed, and would again."""
    cause = error.__cause__
    if not isinstance(cause, ClientError):
        return False
    status = _status(cause)
    return _code(cause) == "NoSuchBucket" or status == 501 or (status < 500 and status not in _RACED)


def is_unknown(error: StoreError) -> bool:
    """Whether the server said that it knows nothing of what was asked for."""
    return isinstance(error.__cause__, ClientError) and _status(error.__cause__) == 501


def in_one_line(error: Exception) -> str:
    """An error's text without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def _refusal(location: str, name: str, error: ClientError) -> StoreError:
    code, status, where = _code(error), _status(error), _where(location, name)
    if code == "NoSuchBucket":
        return StoreError(f"{location}: there is no such bucket")
    if code == "NoSuchKey" or (status == 404 and error.operation_name == "HeadObject"):
        return MissingObject(f"{name} is not in {location}")
    if status == 412:
        return Conflict(f"{where} was changed by somebody else meanwhile: look, then try again")
    if status == 416:
        return StoreError(f"{where}: ends before the range that was asked for")
    if status == 403:
        return AccessDenied(
            f"{where}: access denied ({code}): check the credentials, and grant s3:GetObject and s3:ListBucket "
            "(to writers s3:PutObject and s3:DeleteObject too); without s3:ListBucket what is not there is denied"
        )
    return StoreError(f"{where}: the server answered {code} ({status}) to {error.operation_name}")


def _where(location: str, name: str) -> str:
    return f"{name} in {location}" if name else location


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")


def _status(error: ClientError) -> int:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
