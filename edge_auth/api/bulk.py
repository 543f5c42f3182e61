"""The answer to a request for a bulk file: 200, 304, a range as 206, or 416.

A large body is not read here. The answer holds a stream, which the host sends after the request has been answered.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from edge_auth.builds.bodies import matches_tag
from edge_auth.builds.bulk import BulkFile
from edge_auth.errors import RangeNotSatisfiable
from edge_auth.live.bulk_files import Span
from edge_auth.live.request import Answer, Request

# A body up to this size is read at once. A larger one is streamed.
MAX_READ_BYTES = 1 << 20
_TAG_DIGITS = 32
_ONE_RANGE = re.compile(r"bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*", re.IGNORECASE)
_MAX_DIGITS = 18


class BulkFiles(Protocol):
    """The bulk files of the builds that the store keeps."""

    def find(self, name: str) -> BulkFile:
        """Return the file with this name.

        Raises:
            NotFound: No build that the store keeps lists it.
            StoreError: The store failed.
        """
        ...

    def read(self, file: BulkFile, span: Span) -> bytes:
        """Return some bytes of a file.

        Raises:
            StoreError: They cannot be read.
        """
        ...

    def stream(self, file: BulkFile, span: Span, key_id: str) -> Iterable[bytes]:
        """Return the chunks of a part of a file. Its iterator ends early, with an error, if the store fails.

        Raises:
            StoreError: The file cannot be read, or the key or all keys together download too much already.
        """
        ...

    def stream_local(self, path: Path, size: int, key_id: str) -> Iterable[bytes]:
        """Return the chunks of a local file.

        Raises:
            StoreError: It is missing, or the key or all keys together download too much already.
        """
        ...


def file_answer(files: BulkFiles, name: str, request: Request, headers: Mapping[str, str], key_id: str) -> Answer:
    """Return the answer to a request for a bulk file.

    Args:
        headers: The headers of every such answer.

    Raises:
        NotFound, StoreError: See `BulkFiles`.
        RangeNotSatisfiable: The range begins beyond the end of the file.
    """
    file = files.find(name)
    tag = file.sha256[:_TAG_DIGITS]
    described = {**headers, "ETag": f'"{tag}"'}
    if matches_tag(request.headers.get("if-none-match", ""), tag):
        return Answer(304, described)
    described["Content-Type"] = file.media_type
    span = _requested_span(request, tag, file.size)
    if span is not None:
        described["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{file.size}"
    start, end = span or (0, file.size)
    answer = Answer(200 if span is None else 206, described | {"Content-Length": str(end - start)})
    if request.method != "HEAD":
        if end - start <= MAX_READ_BYTES:
            answer.body = files.read(file, Span(start, end))
        else:
            answer.stream = files.stream(file, Span(start, end), key_id)
    return answer


def _requested_span(request: Request, tag: str, size: int) -> Span | None:
    """Return the range that a request names, or None for the whole file.

    Raises:
        RangeNotSatisfiable: The range begins beyond the end of the file.
    """
    text = request.headers.get("range")
    if text is None or request.method == "HEAD" or request.headers.get("if-range", f'"{tag}"') != f'"{tag}"':
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
