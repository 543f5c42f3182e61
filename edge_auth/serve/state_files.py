"""The files of the state folder that an nginx in front of the shim reads."""

from pathlib import Path

from edge_auth.live.counter import store_name


def copies_folder(state: str, store_location: str) -> Path:
    """Return the folder of a store's copies. It holds them under the names that they have in a store."""
    return Path(state) / f"edge-{store_name(store_location)}"


def live_file(state: str, store_location: str) -> Path:
    """Return the file that names the build from which the shim answers."""
    return Path(state) / f"live-{store_name(store_location)}"
