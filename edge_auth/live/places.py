"""Where a shim keeps what in its state folder. The nginx in front of it is told by the same functions."""

from hashlib import sha256
from pathlib import Path

from generator.storage.keys import KeyFile


def store_name(store_location: str) -> str:
    """Return a name for the location of a store, for files outside of it."""
    return sha256(store_location.encode()).hexdigest()[:16]


def counter_file(state: str, store_location: str) -> Path:
    return Path(state) / f"counts-{store_name(store_location)}"


def live_file(state: str, store_location: str) -> Path:
    """Return the file that names the build from which the shim answers."""
    return Path(state) / f"live-{store_name(store_location)}"


def used_keys_folder(state: str, keys: KeyFile, socket: Path | None) -> Path:
    """Return the folder where the shim of a socket writes the records down that it has used (see `keyring`)."""
    place = f"{keys.store.location}/{keys.name}"
    return Path(state) / f"edge-{store_name(f'{place} {socket.absolute()}' if socket else place)}"
