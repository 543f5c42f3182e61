"""The files of the state folder that an nginx in front of the shim reads."""

from pathlib import Path

from edge_auth.live.counter import store_name
from edge_auth.live.key_file import KeyFile


def copies_folder(state: str, keys: KeyFile) -> Path:
    """Return the folder of the copies of the records at a location. It has the names that they have in a store."""
    return Path(state) / f"edge-{store_name(f'{keys.store.location}/{keys.name}')}"


def live_file(state: str, store_location: str) -> Path:
    """Return the file that names the build from which the shim answers."""
    return Path(state) / f"live-{store_name(store_location)}"
