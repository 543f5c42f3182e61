"""The interface of a store, and the change of a JSON document that several processes may change at the same time.

Object names are relative and use `/`. A backend translates the errors of its medium into `StoreError`. For an object
that does not exist, `stat` and `get_versioned` return None and `get` raises `MissingObject`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from generator.storage.errors import Conflict, MissingObject, StoreError

PRIVATE = "private/"  # where objects lie that only their owner may read
MAX_DOCUMENT_BYTES = 16 << 20  # of a pointer, a record, a key; a larger one is not read
_MAX_SWAPS = 100  # of a change of a document


class Versioned(NamedTuple):
    """An object's bytes, and the tag that `swap` compares."""

    data: bytes
    etag: str


class Digest(NamedTuple):
    """The size in bytes and the SHA-256 (hex) of an object, as a store has recorded them, and its state as listed."""

    size: int
    sha256: str
    state: str = ""


class Listed(NamedTuple):
    """An object in a listing: its size in bytes, and when it was modified, in Unix time.

    The state differs from that before if the object was replaced. In a bucket it is the tag of `get_versioned`.
    """

    name: str
    size: int
    modified: float
    state: str = ""


class Store(Protocol):
    """A store of objects; bodies here are those of a bucket. Methods raise StoreError when the medium fails."""

    location: str
    holds_copies: bool = False  # in files that no other program writes: they may be mapped where they lie

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Return an object, or `length` bytes of it from `offset`. An absent one raises MissingObject."""
        ...

    def get_versioned(
        self, name: str, known: Versioned | None = None, most: int | None = MAX_DOCUMENT_BYTES
    ) -> Versioned | None:
        """Return an object of at most `most` bytes with its tag, or None if it does not exist.

        `known` was read before. It is returned itself, and not sent again, if the object still has its tag.
        """
        ...

    def put(self, name: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Create or replace an object. Readers see the old bytes or the new ones, never a mixture.

        A power cut may leave the old bytes, or others, until `sync` returns. The headers are those that a bucket sends
        to readers: ContentType, CacheControl, ContentEncoding. A folder has none.
        """
        ...

    def swap(self, name: str, data: bytes, etag: str | None) -> None:
        """Replace an object if its tag is still `etag`, else raise Conflict; with None, create it if it does not exist.

        The new bytes survive a power cut once this returns.
        """
        ...

    def sync(self) -> None:
        """Wait until all objects survive a power cut. What names objects is written after this."""
        return

    def stat(self, name: str) -> int | None:
        """Return the size of an object in bytes, or None if it does not exist."""
        ...

    def digest(self, name: str) -> Digest | None:
        """Return the size and hash of an object, or None if the store does not keep hashes or has no such object."""
        return None

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the names below a prefix that ends in `/`, sorted."""
        return (entry.name for entry in self.entries(prefix))

    def entries(self, prefix: str, *, deep: bool = True) -> Iterator[Listed]:
        """Yield the objects below a prefix that is '' or ends in `/`, or the one object of that name, sorted.

        If not `deep`, these are what is directly below the prefix; the names of folders end in `/`.
        """
        ...

    def leftovers(self) -> Iterator[Listed]:
        """Yield the half-written files of writers that were killed. They are not objects."""
        return iter(())

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects. Names that do not exist are ignored."""
        ...

    def local_path(self, name: str) -> Path | None:
        """Return the file that holds the object, or None if this store has no files."""
        return None


def read_json(store: Store, name: str) -> Any:
    """Return the value of a JSON document, or raise MissingObject, StoreError, or ValueError: it is no JSON."""
    found = store.get_versioned(name)
    if found is None:
        raise MissingObject(f"{name} is not in {store.location}")
    return parse_json(found.data)


def parse_json(data: bytes) -> Any:
    """Return the value of a JSON document, or raise ValueError: it is no JSON, or is nested too deep."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def check_size(name: str, location: str, size: int, most: int | None) -> None:
    if most is not None and size > most:
        raise StoreError(
            f"{name} in {location} has {size:,} bytes, and a document of a store at most {most >> 20} MiB: "
            "restore it from a backup, or delete it"
        )


def update_json(store: Store, name: str, change: Callable[[bytes | None], bytes | None]) -> None:
    """Replace a document by what a change makes of it. The write is conditional, so no change of another is lost.

    A change gets the newest document, or None if there is none, and is called again if another writer was faster. It
    returns the new document, or None to leave it as it is.
    """
    for attempts_left in reversed(range(_MAX_SWAPS)):
        found = store.get_versioned(name)
        data = change(found.data if found else None)
        try:
            if data is not None and not (found and found.data == data):
                store.swap(name, data, found.etag if found else None)
            return
        except Conflict:
            if not attempts_left:
                raise
