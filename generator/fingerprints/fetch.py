"""Fetches the fingerprint index from the API."""

import gzip
import json
import urllib.error
import urllib.request
import zlib
from contextlib import suppress
from http.client import HTTPException

from generator.errors import RecognitionError

_TIMEOUT_SECONDS = 60
_MAX_MESSAGE_CHARACTERS = 300


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the API has none, and the key must not be sent to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


def fetch(url: str, api_key: str | None) -> bytes:
    """Fetch the JSON of the index."""
    if not api_key:
        raise RecognitionError(f"{url} needs an API key: give --key, or set CARDPRESS_KEY")
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {api_key}", "Accept-Encoding": "gzip"})
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=_TIMEOUT_SECONDS) as response:
            body: bytes = response.read()
            coding = response.headers.get("Content-Encoding")
        return gzip.decompress(body) if coding == "gzip" else body
    except urllib.error.HTTPError as error:
        raise RecognitionError(f"{url}: {error.code} {_message(error)}") from error
    except (OSError, HTTPException, ValueError, EOFError, zlib.error) as error:
        reason = getattr(error, "reason", None) or error
        raise RecognitionError(f"{url}: {getattr(reason, 'strerror', None) or reason}") from error


def _message(error: urllib.error.HTTPError) -> str:
    """Return the message of an error response, on one line."""
    with suppress(ValueError, KeyError, TypeError, OSError):
        return " ".join(str(json.loads(error.read())["error"]["message"]).split())[:_MAX_MESSAGE_CHARACTERS]
    return str(error.reason)
