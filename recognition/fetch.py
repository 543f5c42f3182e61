"""The fingerprint index over HTTP, with a key."""

import gzip
import json
import urllib.error
import urllib.request
import zlib
from contextlib import suppress
from http.client import HTTPException

from recognition.errors import RecognitionError

_SECONDS = 60


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The API redirects nothing, and a key must not follow one to somewhere else."""

    def redirect_request(self, *_: object) -> None:
        return None


def fetch(url: str, key: str | None) -> bytes:
    """GET the index.

    Raises:
        RecognitionError: no key, unreachable, cut off, or refused: with what the API says of it.
    """
    if not key:
        raise RecognitionError(f"{url} needs an API key: give --key, or set CARDPRESS_KEY")
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}", "Accept-Encoding": "gzip"})
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=_SECONDS) as answer:
            body, coding = answer.read(), answer.headers.get("Content-Encoding")
        return gzip.decompress(body) if coding == "gzip" else body
    except urllib.error.HTTPError as error:
        raise RecognitionError(f"{url}: {error.code} {_message(error)}") from error
    except (OSError, HTTPException, ValueError, EOFError, zlib.error) as error:
        reason = getattr(error, "reason", None) or error
        raise RecognitionError(f"{url}: {getattr(reason, 'strerror', None) or reason}") from error


def _message(error: urllib.error.HTTPError) -> str:
    """What an answer of the API says is wrong, on one line."""
    with suppress(ValueError, KeyError, TypeError, OSError):
        return " ".join(str(json.loads(error.read())["error"]["message"]).split())[:300]
    return str(error.reason)
