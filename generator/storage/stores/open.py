"""Opening a store by its location: a folder or a URL."""

from pathlib import Path

from generator.storage.errors import StoreError
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.interface import Store

LOCATION = "folder or s3://bucket/prefix"


def open_store(
    location: str,
    timeout_seconds: float | None = None,
    private: bool = False,
    *,
    what: str = "store",
    swaps: bool = True,
) -> Store:
    """Open the store at a location: a folder, or a URL such as `s3://bucket/prefix`. Raise StoreError for another one.

    Args:
        timeout_seconds: How long one request may wait for an answer. None waits as long as a batch run would.
        private: Whether only the owner of a folder may read what is written.
        what: What lies there, for messages.
        swaps: Whether the caller uses `swap`.
    """
    scheme = _scheme_of(location)
    if scheme == "s3":
        from generator.storage.stores.s3 import S3Store  # boto3 takes a third of a second to import

        return S3Store(location, timeout_seconds, swaps)
    if scheme:
        raise StoreError(f"{what} {location}: a {what} is a {LOCATION}")
    if Path(location).is_file():
        instead = "the folder that holds the builds" if what == "store" else "a folder"
        raise StoreError(f"{what} {location} is a file: name {instead}, or a new one")
    return FolderStore(location, private)


def is_folder(location: str) -> bool:
    return not _scheme_of(location)


def _scheme_of(location: str) -> str:
    """Return the URL scheme of a location, or '' for a folder."""
    scheme, separator, _ = location.partition("://")
    return scheme if separator else "s3" * location.startswith("s3:")  # `s3:bucket` is a typing error, not a folder
