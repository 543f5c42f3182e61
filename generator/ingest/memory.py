"""What a lake remembers of how the files of a game are imported: `imports.json`, by the number in the names of files.

An option that an import is given once holds for the next imports of the same game: those of `fetch`, of timers and of
other people. `cardpress lake show` prints it, `cardpress lake remember` and the options of an import change it.
"""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa

from generator.errors import IngestError
from generator.ingest.findings import REFUSED
from generator.ingest.pipeline import FileChange
from generator.lake.writer import LakeWriter

FILE = "imports.json"
DEFAULT_PATTERN = r"\(([A-Z]{1,4}[0-9]{0,2}-T?[0-9]{2,3}[a-z]?)\)"


class GameImport(NamedTuple):
    """How the files of a game are imported."""

    game: str | None = None  # where the marketplace's number does not say it
    number_pattern: str | None = None  # None: numbers are not taken from names
    accepted: frozenset[str] = frozenset()  # the cases of `findings` that do not stop an import

    def __str__(self) -> str:
        said = [f"game {self.game}"] if self.game else []
        if self.number_pattern:
            other = "" if self.number_pattern == DEFAULT_PATTERN else f" by {self.number_pattern}"
            said.append(f"numbers from names{other}")
        return ", ".join([*said, *(f"accepts {case}" for case in sorted(self.accepted))]) or "nothing"

    def as_json(self) -> dict[str, object]:
        """Return it as the file has it."""
        return self._asdict() | {"accepted": sorted(self.accepted)}


def remembered(lake: LakeWriter) -> dict[int, GameImport]:
    """Return what a lake remembers."""
    data = lake.read_bytes(FILE)
    if data is None:
        return {}
    try:
        games = json.loads(data)["games"]
        return {int(number): _parse(fields) for number, fields in games.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise IngestError(f"{FILE} in lake {lake.location}: {error}: repair or delete it") from error


def _parse(fields: dict[str, object]) -> GameImport:
    game, pattern, accepted = (fields.get(name) for name in GameImport._fields)
    if not isinstance(accepted, list) or not set(accepted) <= REFUSED.keys():
        raise ValueError("accepted must be a list of cases")
    return GameImport(str(game) if game else None, str(pattern) if pattern else None, frozenset(accepted))


def memory_file(lake: LakeWriter, memory: Mapping[int, GameImport]) -> Iterator[FileChange]:
    """Yield the file of what is remembered, if it changes."""
    kept = {str(number): one.as_json() for number, one in sorted(memory.items()) if one != GameImport()}
    data = (json.dumps({"games": kept}, ensure_ascii=False, indent=1) + "\n").encode()
    before = lake.read_bytes(FILE)
    if data != before and (kept or before is not None):
        yield FileChange(FILE, None, pa.py_buffer(data))
