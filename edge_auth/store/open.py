"""Opening a store by its location: a folder or a URL.

A new backend is one module in this folder and one line in `BACKENDS`.
"""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from edge_auth.errors import StoreError
from edge_auth.store.folder import FolderStore
from edge_auth.store.interface import Store


class Backend(NamedTuple):
    """The function that opens the stores of a URL scheme.

    Attributes:
        module: A module of this folder. It is imported at the first use, since boto3 takes a third of a second.
        function: Its function from (location, timeout in seconds or None, swaps) to a store.
        example: A location, for messages and help.
    """

    module: str
    function: str
    example: str


# By URL scheme.
BACKENDS = {
    "s3": Backend("s3", "open_s3", "s3://bucket/prefix"),
}
LOCATION = " or ".join(["folder", *(backend.example for backend in BACKENDS.values())])


def open_store(
    location: str,
    timeout_seconds: float | None = None,
    private: bool = False,
    *,
    what: str = "store",
    swaps: bool = True,
) -> Store:
    """Open the store at a location: a folder, or a URL such as `s3://bucket/prefix`.

    Args:
        timeout_seconds: How long one request may wait for an answer. None waits as long as a batch run would.
        private: Whether only the owner of a folder may read what is written.
        what: What lies there, for messages.
        swaps: Whether the caller uses `put_new` or `swap`.

    Raises:
        StoreError: The location is not a folder and has no known scheme.
    """
    scheme = scheme_of(location)
    if scheme in BACKENDS:
        backend = BACKENDS[scheme]
        module = import_module(f"{__package__}.{backend.module}")
        store: Store = getattr(module, backend.function)(location, timeout_seconds, swaps)
        return store
    if scheme:
        raise StoreError(f"{what} {location}: a {what} is a {LOCATION}")
    if Path(location).is_file():
        instead = "the folder that holds the builds" if what == "store" else "a folder"
        raise StoreError(f"{what} {location} is a file: name {instead}, or a new one")
    return FolderStore(location, private)


def scheme_of(location: str) -> str:
    """Return the URL scheme of a location, or '' for a folder."""
    scheme, separator, _ = location.partition("://")
    if separator:
        return scheme
    scheme, colon, _ = location.partition(":")
    return scheme if colon and scheme in BACKENDS else ""  # `s3:bucket` is a typing error, not a folder


def is_folder(location: str) -> bool:
    """Return whether a location is a folder rather than a URL."""
    return not scheme_of(location)


def parent_and_name(location: str) -> tuple[str, str]:
    """Split the location of one object into the location of its store and its name."""
    folder, _, name = location.rpartition("/")
    return folder or ("/" if location.startswith("/") else "."), name
