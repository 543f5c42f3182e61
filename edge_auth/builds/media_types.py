"""The Content-Type of each object: what the suffix of its key means."""

from pathlib import PurePosixPath

MEDIA_TYPES = {
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".ico": "image/x-icon",
}


def media_type(key: str) -> str:
    """Return the Content-Type of an object."""
    return MEDIA_TYPES.get(PurePosixPath(key).suffix, "application/octet-stream")
