"""A reserve of disk space in a folder store, so that `rollback`, `publish` and `prune` work on a full disk.

`private/reserve` holds some bytes for nothing else. A command that meets a full disk deletes it and tries again. The
next night or prune that finds room writes it again.
"""

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from edge_auth.builds import layout
from edge_auth.errors import EdgeError
from edge_auth.store.interface import Store
from generator import settings
from generator.errors import GeneratorError, is_disk_full

_Result = TypeVar("_Result")


def with_reserve(store: Store, action: Callable[[], _Result]) -> _Result:
    """Return the result of an action. If the disk is full, free the reserve and try once more."""
    try:
        return action()
    except (GeneratorError, EdgeError, OSError) as error:
        if not is_disk_full(error) or not _release(store):
            raise
    return action()


def free_reserve_if_full(store: Store) -> None:
    """Delete the reserve if the disk of a folder store is full, so that a night can take its lock and prune."""
    folder = store.local_path("")
    if folder is not None and folder.is_dir() and shutil.disk_usage(folder).free < settings.RESERVE_BYTES // 2:
        _release(store)


def keep_reserve(store: Store) -> None:
    """Write the reserve of a folder store if it is missing and there is room."""
    if store.local_path("") and store.stat(layout.RESERVE) is None:
        with suppress(EdgeError):  # no room
            # Random bytes, because zeros may take no room; always the same, so that equal stores stay equal.
            store.put(layout.RESERVE, random.Random(0).randbytes(settings.RESERVE_BYTES))


def _release(store: Store) -> bool:
    found = bool(store.local_path("")) and store.stat(layout.RESERVE) is not None
    if found:
        store.delete([layout.RESERVE])
    return found
