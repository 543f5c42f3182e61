"""The answer to a request for a bulk file: 200, 304, a range as 206, or 416.

A large body is not read here. The answer holds a stream, which the server sends after the request has been answered.
"""

import re

from edge_auth.api.endpoints import Endpoint
from edge_auth.api.request import Asked
from edge_auth.api.responses import Answer
from edge_auth.builds.bodies import matches_tag
from edge_auth.builds.bulk import LIVE_CATALOGUE
from edge_auth.errors import RangeNotSatisfiable
from edge_auth.live.bulk_files import MAX_READ_BYTES, Holder, Span, StoredBulkFiles

_TAG_DIGITS = 32
_ONE_RANGE = re.compile(r"bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*", re.IGNORECASE)
_MAX_DIGITS = 18


def file_answer(files: StoredBulkFiles, asked: Asked, endpoint: Endpoint) -> Answer:
    """Return the answer to a request for a bulk file.

    Raises:
        NotFound: No build that the store keeps lists it.
        StoreError: The store failed.
        RateLimited: The key, its address or all keys together download too much already.
        RangeNotSatisfiable: The range begins beyond the end of the file.
    """
    assert asked.record is not None, "downloads are counted by key"
    file = files.find(asked.subject)
    tag = file.sha256[:_TAG_DIGITS]
    fields = {**endpoint.headers, **asked.headers, "ETag": f'"{tag}"'}
    if asked.subject == LIVE_CATALOGUE:  # tomorrow this address has another file
        fields["Cache-Control"] = "private, no-cache"
    if matches_tag(asked.environ.get("HTTP_IF_NONE_MATCH", ""), tag):
        return Answer(304, fields)
    fields["Content-Type"] = file.media_type
    part = _requested_span(asked, tag, file.size)
    if part is not None:
        fields["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{file.size}"
    span = part or Span(0, file.size)
    length = span.end - span.start
    status, fields = 200 if part is None else 206, fields | {"Content-Length": str(length)}
    if asked.method == "HEAD":
        return Answer(status, fields)
    if length <= MAX_READ_BYTES:
        return Answer(status, fields, files.read(file, span))
    return Answer(status, fields, chunks=files.stream(file, span, Holder(asked.record.id, asked.client)))


def _requested_span(asked: Asked, tag: str, size: int) -> Span | None:
    """Return the range that a request names, or None for the whole file.

    Raises:
        RangeNotSatisfiable: The range begins beyond the end of the file.
    """
    text, quoted = asked.environ.get("HTTP_RANGE"), f'"{tag}"'
    if text is None or asked.method == "HEAD" or asked.environ.get("HTTP_IF_RANGE", quoted) != quoted:
        return None
    found = _ONE_RANGE.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    first, last = (digits and (digits.lstrip("0") or "0") for digits in found.groups())
    if first and last and (len(last), last) < (len(first), first):
        return None
    if first:
        span = Span(_position(first), min(_position(last) + 1, size) if last else size)
    else:
        span = Span(max(0, size - _position(last)), size)
    if span.start >= size:
        raise RangeNotSatisfiable(f"the file has {size} bytes", Content_Range=f"bytes */{size}")
    return span


def _position(digits: str) -> int:
    """Return a position of a range. Python refuses to read very long numbers; no file is that large."""
    return int(digits) if len(digits) <= _MAX_DIGITS else 10**_MAX_DIGITS
