"""What `cardpress keys issue` checks first: that the store exists, and whether the key of `--reuse` still works."""

from collections.abc import Sequence
from pathlib import Path

from edge_auth.live.keys import KeyRecord, digest
from edge_auth.store.disk import replace_file
from generator.commands.build_names import store_exists
from generator.errors import BuildError

_PRIVATE_FILE_MODE = 0o600


def check_store_exists(location: str) -> None:
    """Raise BuildError if there is no such folder, or nothing of a store at the prefix."""
    if not store_exists(location):
        raise BuildError(
            f"there is no store {location}: correct the name, make a build first, or pass --create to begin with a key"
        )


def read_key(path: Path, records: Sequence[KeyRecord], now: float) -> tuple[str, KeyRecord] | None:
    """Return the key in a file and its record, or None if the file is absent or the key is not valid here.

    Args:
        now: Unix time.
    """
    if not path.exists():
        return None
    key = path.read_text("ascii", "replace").strip()
    found = next((record for record in records if record.sha256 == digest(key)), None)
    return (key, found) if found and not found.revoked and not found.expired(now) else None


def write_key(path: Path, key: str) -> None:
    """Write a key into a file that only its owner may read."""
    replace_file(path, [f"{key}\n".encode("ascii")], mode=_PRIVATE_FILE_MODE)
