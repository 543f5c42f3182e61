"""The record of an exported tree: `.cardpress-export.json` at its top.

It has no time and no host, so a tree that was brought up to date has the same bytes as a new one.
"""

import json
from dataclasses import dataclass, field
from typing import NamedTuple

from generator.errors import ExportError

RECORD = ".cardpress-export.json"
_FORMAT = 1


class TreeFile(NamedTuple):
    """A file of a tree.

    Attributes:
        size: Bytes of the file as it is stored.
        tag: A hash of what the document is made from; it is known without reading the document.
        digest: A hash of the content.
    """

    size: int
    tag: str
    digest: str


@dataclass(frozen=True)
class TreeRecord:
    """What an export wrote.

    Attributes:
        build: The build of the tree; while an export runs, and after it was killed, the build before.
        files: The files by name; None for a file that an export may have been writing when it was killed.
        plain: Whether the objects of a bucket are not compressed.
    """

    build: str | None = None
    files: dict[str, TreeFile | None] = field(default_factory=dict)
    plain: bool = False

    def to_bytes(self) -> bytes:
        """Return the record as it is stored, one file on each line."""
        head = json.dumps({"format": _FORMAT, "build": self.build} | ({"plain": True} if self.plain else {}))[:-1]
        lines = (f"{json.dumps(name)}: {json.dumps(file)}" for name, file in sorted(self.files.items()))
        return (head + ', "files": {\n' + ",\n".join(lines) + "\n}}\n").encode()

    @staticmethod
    def from_bytes(data: bytes, location: str) -> "TreeRecord":
        """Parse a stored record.

        Raises:
            ExportError: It is not a record, or a newer version wrote it.
        """
        try:
            fields = json.loads(data)
            if fields["format"] != _FORMAT:
                raise ExportError(f"{RECORD} in {location} was written by a newer version: export to another place")
            files = {name: file and TreeFile(*file) for name, file in fields["files"].items()}
            return TreeRecord(fields["build"], files, fields.get("plain", False))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ExportError(f"{RECORD} in {location} is not a record of an export: {error}") from error
