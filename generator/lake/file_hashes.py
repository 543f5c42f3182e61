"""SHA-256 of files seen before, in the user's cache folder, so that an unchanged lake is recognised unread.

What is remembered of a file goes with its state (size and times, or size and ETag); losing it costs only time.
"""

import hashlib
import json
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from edge_auth.contract.store.file_cache import user_cache

# A file that changed this recently may change again within the same tick of the file system's clock.
_SETTLED_NS = 2_000_000_000
# Files of a lake of three tables and of ten years, several times over.
_MOST = 50_000
_WRITING = ".hashes-"
_LEFT_SECONDS = 3600


class Hashes:
    """Digests by name and state; `save` keeps what was looked up."""

    def __init__(self) -> None:
        self.path = user_cache() / "hashes.json"
        self._known: dict[str, list] = {}
        self._seen: dict[str, list] = {}
        with suppress(OSError, ValueError):  # nothing remembered
            self._known = json.loads(self.path.read_bytes())

    def find(self, name: str, state: list) -> str | None:
        """The digest of what `name` was in that state, if it is remembered."""
        entry = self._known.get(name)
        if not entry or entry[:-1] != state:
            return None
        self._seen[name] = entry
        return entry[-1]

    def note(self, name: str, state: list, sha256: str) -> None:
        """Remember a digest."""
        self._seen[name] = [*state, sha256]

    def of_file(self, path: Path) -> str:
        """Digest of a local file. Raises OSError where it cannot be read."""
        stat = path.stat()
        name, state = str(path.resolve()), [stat.st_size, stat.st_mtime_ns, stat.st_ino]
        digest = self.find(name, state)
        if digest is None:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if stat.st_mtime_ns < time.time_ns() - _SETTLED_NS:
                self.note(name, state, digest)
        return digest

    def save(self) -> None:
        """Keep what was found and noted, and of the rest what was looked up last."""
        if all(self._known.get(name) == entry for name, entry in self._seen.items()):
            return
        others = {name: entry for name, entry in self._known.items() if name not in self._seen}
        kept = dict(list((others | self._seen).items())[-max(_MOST, len(self._seen)) :])
        with suppress(OSError):  # not being able to remember is no reason to fail
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._clear()
            with tempfile.NamedTemporaryFile("w", dir=self.path.parent, prefix=_WRITING, delete=False) as file:
                json.dump(kept, file)
            os.replace(file.name, self.path)

    def _clear(self) -> None:
        """Delete what killed writers left."""
        for path in self.path.parent.glob(f"{_WRITING}*"):
            if path.stat().st_mtime < time.time() - _LEFT_SECONDS:
                path.unlink(missing_ok=True)
