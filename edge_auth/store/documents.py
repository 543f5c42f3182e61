"""Changes JSON documents of a store that several processes may change at the same time."""

from collections.abc import Callable

from edge_auth.errors import Conflict, StoreError
from edge_auth.store.interface import Store

_MAX_ATTEMPTS = 100


def update_json(store: Store, name: str, change: Callable[[bytes | None], bytes | None]) -> None:
    """Replace a document by what a change makes of it. The write is conditional, so no change of another is lost.

    If another writer was faster, the change is applied to its document. If the store's answer is lost, the document
    itself shows whether the write succeeded.

    Args:
        change: Returns the new document, or None to leave it as it is. It gets the newest one, or None if there is
            none, and may be called several times.

    Raises:
        Conflict: Others changed the document all the time.
        StoreError: The store failed; the document may have been written only if it cannot be read either.
    """
    problem: StoreError = Conflict(name)
    for _ in range(_MAX_ATTEMPTS):
        found = store.get_versioned(name)
        data = change(found.data if found else None)
        if data is None or (found and found.data == data):
            return
        try:
            store.swap(name, data, found.etag if found else None)
        except StoreError as error:
            if _is(store, name, data):
                return
            if not isinstance(error, Conflict):
                raise
            problem = error
        else:
            return
    raise problem


def _is(store: Store, name: str, data: bytes) -> bool:
    try:
        found = store.get_versioned(name)
    except StoreError:
        return False
    return found is not None and found.data == data
