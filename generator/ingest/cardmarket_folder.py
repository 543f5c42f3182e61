"""Finds the marketplace's download files in folders, by their content. Names tell singles from sealed products."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from generator.errors import IngestError
from generator.ingest.bounded_file import FileLimits, open_bounded

_START_BYTES = 65_536
_LIST = re.compile(rb'"(products|priceGuides|expansions)"\s*:\s*\[')
_CREATED_AT = re.compile(rb'"createdAt"\s*:\s*"([0-9]{4}-[0-9]{2}-[0-9]{2})')


@dataclass
class FoundFiles:
    """The files of folders by what they are, and those that were left, with the reason."""

    singles: list[Path] = field(default_factory=list)
    nonsingles: list[Path] = field(default_factory=list)
    expansions: list[Path] = field(default_factory=list)
    price_guides: list[Path] = field(default_factory=list)
    left: list[tuple[Path, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.singles) + len(self.nonsingles) + len(self.expansions) + len(self.price_guides)


def find_files(places: Iterable[Path], limits: FileLimits) -> FoundFiles:
    """Look for files in folders and their sub-folders. A place may also be a file.

    Raises:
        IngestError: A place does not exist, or a file cannot be read.
    """
    found = FoundFiles()
    for path in dict.fromkeys(path for place in places for path in _files(place)):
        kind = _kind(path, limits)
        if isinstance(kind, str):
            found.left.append((path, kind))
        else:
            kind(found).append(path)
    return found


def guides_between(found: FoundFiles, first: date, last: date, limits: FileLimits) -> dict[Path, date]:
    """Return the price guides of some days, both days included, by path, in the order of days.

    Raises:
        IngestError: A file cannot be read.
    """
    days = {path: _day_of(path, limits) for path in found.price_guides}
    wanted = {path: day for path, day in days.items() if day and first <= day <= last}
    return dict(sorted(wanted.items(), key=lambda item: (item[1], item[0])))


def _day_of(path: Path, limits: FileLimits) -> date | None:
    """Return the calendar date that the `createdAt` of a file shows."""
    with open_bounded(path, limits) as file:
        match = _CREATED_AT.search(file.start(_START_BYTES))
    try:
        return date.fromisoformat(match[1].decode()) if match else None
    except ValueError:
        return None


def _files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from sorted(path for path in place.rglob("*") if path.is_file() and not path.name.startswith("."))
    elif place.exists():
        yield place
    else:
        raise IngestError(f"{place}: no such file or folder")


def _kind(path: Path, limits: FileLimits) -> Callable[[FoundFiles], list[Path]] | str:
    """Return the list that a file belongs to, or why it is none of the marketplace's files."""
    if not path.name.endswith((".json", ".json.gz")):
        return "its name does not end in .json or .json.gz"
    with open_bounded(path, limits) as file:
        match = _LIST.search(file.start(_START_BYTES))
    if match is None:
        return "it has no list of products, prices or expansions"
    if match[1] == b"priceGuides":
        return lambda found: found.price_guides
    if match[1] == b"expansions":
        return lambda found: found.expansions
    name = path.name.lower()
    if "nonsingle" in name:
        return lambda found: found.nonsingles
    if "single" in name:
        return lambda found: found.singles
    return "its products may be singles or sealed: give it with --singles or --nonsingles"
