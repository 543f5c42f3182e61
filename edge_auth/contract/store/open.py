"""From a location to a store.

A location is a folder or a URL. A new backend is one module here and one line in `BACKENDS`.
"""

from importlib import import_module
from pathlib import Path

from edge_auth.contract.store.folder import FolderStore
from edge_auth.contract.store.interface import Store
from edge_auth.errors import StoreError

# URL scheme: module of this folder, and its function from (location, timeout in seconds or None) to a store.
BACKENDS = {
    "s3": ("s3", "open_s3"),
}


def open_store(location: str, timeout_seconds: float | None = None) -> Store:
    """Open the store at a location: a folder, or a URL such as `s3://bucket/prefix`.

    Args:
        timeout_seconds: How long one request may wait for an answer. None waits as long as a server may need.

    Raises:
        StoreError: The location is not a folder and has no known scheme.
    """
    scheme = scheme_of(location)
    if scheme in BACKENDS:
        module, function = BACKENDS[scheme]
        # Imported when needed: boto3 takes a third of a second.
        store: Store = getattr(import_module(f"edge_auth.contract.store.{module}"), function)(location, timeout_seconds)
        return store
    if scheme:
        raise StoreError(f"store {location}: a store is a folder or s3://bucket/prefix")
    if Path(location).is_file():
        raise StoreError(f"store {location} is a file: name the folder that holds the builds, or a new one")
    return FolderStore(location)


def scheme_of(location: str) -> str:
    """Return the URL scheme of a location, or '' for a folder."""
    if location.startswith("s3:"):  # `s3:bucket` is a slip of the pen, not a folder
        return "s3"
    scheme, separator, _ = location.partition("://")
    return scheme if separator else ""


def is_folder(location: str) -> bool:
    """Return whether a location is a folder rather than a URL."""
    return not scheme_of(location)


def parent_and_name(location: str) -> tuple[str, str]:
    """Split the location of one object into the location of its store and its name."""
    folder, _, name = location.rpartition("/")
    return folder or ("/" if location.startswith("/") else "."), name
