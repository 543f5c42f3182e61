"""Translation of boto3's errors into StoreError and its subclasses.

A denied request never means "not found". Only NoSuchKey, or 404 to a HEAD request, means that an object does not exist.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from edge_auth.errors import AccessDenied, Conflict, MissingObject, StoreError, Throttled
from edge_auth.store.remedies import REMEDIES, with_remedy

FAILURES = (BotoCoreError, ResponseParserError, HTTPError, OSError, ValueError)
# Statuses of a conditional write that lost against another writer, or against an earlier attempt of this process whose
# answer was lost.
_CONFLICT_STATUSES = (404, 409, 412)
_THROTTLED_STATUSES = (429, 503)
_DENIED_CODES = ("AccessDenied", "AllAccessDisabled", "Forbidden", "403", "")
_CREDENTIAL_STATUSES = (400, 401, 403)
_CREDENTIAL_REMEDY = "check the credentials"


@contextmanager
def translated_errors(location: str, name: str) -> Iterator[None]:
    """Turn the exceptions that boto3 raises in the body into StoreError, MissingObject, AccessDenied or Conflict."""
    try:
        yield
    except ClientError as error:
        raise _translate(location, name, error) from error
    except FAILURES as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise StoreError(with_remedy(f"{_where(location, name)}: {said}", error)) from error


def status_of(error: BaseException | None) -> int:
    """Return the HTTP status of the answer that is, or caused, an error; 0 if there was no answer."""
    answer = error.__cause__ if isinstance(error, StoreError) else error
    return int(answer.response["ResponseMetadata"]["HTTPStatusCode"]) if isinstance(answer, ClientError) else 0


def may_be_credentials(error: Exception) -> bool:
    """Return whether other credentials might help."""
    return status_of(error) in _CREDENTIAL_STATUSES or type(error).__name__.endswith("CredentialsError")


def _translate(location: str, name: str, error: ClientError) -> StoreError:
    code, status, where = str(error.response["Error"].get("Code", "")), status_of(error), _where(location, name)
    if code == "NoSuchBucket":
        return StoreError(f"{location}: there is no such bucket: {REMEDIES[code]}")
    if status == 412 or (error.operation_name == "PutObject" and status in _CONFLICT_STATUSES):
        return Conflict(f"another writer has changed {where}: check it, then try again")
    if code == "NoSuchKey" or (status == 404 and error.operation_name == "HeadObject"):
        return MissingObject(f"{name} is not in {location}")
    if status == 416:
        return StoreError(f"{where}: the object is shorter than the requested range")
    remedy = REMEDIES.get(code)
    if status == 403 and code in _DENIED_CODES:
        return AccessDenied(f"{where}: access denied ({code or status}): {REMEDIES['AccessDenied']}")
    if remedy and remedy.startswith(_CREDENTIAL_REMEDY):
        return StoreError(f"{where}: access denied ({code}): {remedy}")
    kind = Throttled if status in _THROTTLED_STATUSES else StoreError
    text = " ".join(str(error.response["Error"].get("Message", "")).split())
    said = remedy or (text if text != code else "")
    return kind(f"{where}: the server answered {code} ({status}) to {error.operation_name}{': ' * bool(said)}{said}")


def _where(location: str, name: str) -> str:
    return f"{name} in {location}" if name else location
