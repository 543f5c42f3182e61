"""An import: read files, and under the lake's lock judge them, merge their rows, write.

A source is a kind of files: how they are read, what is doubtful about them, and how their rows are merged into the
lake. Nothing is written before every file was read and every table merged. In a folder, all changed files then appear
together or not at all.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from generator.ingest.findings import ImportFinding, refuse
from generator.lake.writer import LakeWriter

OnRead = Callable[[object], None]  # called with each file after it was read


@dataclass(frozen=True)
class RowCounts:
    """The changes of an import to a file of the lake, in rows.

    Attributes:
        in_other_files: Imported rows that were skipped because another file of the table has their key.
        outranked: Imported rows that were skipped because a greater row has the same product and time. None for
            tables with one row per product.
        older: Imported rows that were skipped because the lake has newer rows with other values.
        in_two_games: Products that the files of two games name. The newest file wins.
        example_in_two_games: The smallest id of them.
    """

    rows: int
    new: int
    changed: int
    unchanged: int
    in_other_files: int
    outranked: int | None = None
    older: int = 0
    in_two_games: int = 0
    example_in_two_games: int | None = None

    def as_json(self) -> dict[str, int]:
        """Return the counts under the names that `--json` prints."""
        counts = {"rows": self.rows, "new": self.new, "changed": self.changed, "unchanged": self.unchanged}
        counts["elsewhere"] = self.in_other_files
        if self.older:
            counts["older"] = self.older
        if self.in_two_games:
            counts["in_two_games"] = self.in_two_games
        return counts if self.outranked is None else counts | {"lesser": self.outranked}

    def __str__(self) -> str:
        said = f"{self.rows} rows, {self.new} new, {self.changed} changed, {self.unchanged} unchanged"
        if self.in_other_files:
            said += f"; {self.in_other_files} skipped, already in other files of the lake"
        if self.older:
            said += f"; {self.older} skipped, the lake has newer rows with other values"
        if self.outranked:
            said += f"; {self.outranked} skipped, a greater row has the same product and time"
        if self.in_two_games:
            said += (
                f"; {self.in_two_games} products are in the files of two games, "
                f"such as id_product {self.example_in_two_games}: the newest file wins"
            )
        return said


class IdCounts(NamedTuple):
    """The rows of a file of ids after an import, and how many of them are new and how many it lost."""

    rows: int
    new: int
    removed: int

    def as_json(self) -> dict[str, int]:
        """Return the counts under the names that `--json` prints."""
        return self._asdict()

    def __str__(self) -> str:
        return f"{self.rows} rows, {self.new} new, {self.removed} removed"


class FileChange(NamedTuple):
    """A file of the lake after an import. `data` is None if it stays as it is, `counts` for a file that is no table."""

    path: str
    counts: RowCounts | IdCounts | None
    data: pa.Buffer | None


@dataclass(frozen=True)
class ImportResult:
    """The result of an import.

    Attributes:
        summary: What was read, as a sentence.
        counts: What `--json` says about what was read.
        tables: What changed in each file of the lake, by its path.
        findings: What was accepted, or only reported.
        remarks: Further sentences.
    """

    summary: str
    counts: dict[str, object]
    tables: dict[str, RowCounts | IdCounts]
    findings: tuple[ImportFinding, ...] = ()
    remarks: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return what `--json` prints."""
        tables = {path: counts.as_json() for path, counts in self.tables.items()}
        return self.counts | {"tables": tables} | {found.case: found.occurrences for found in self.findings}

    def tables_as_json(self) -> dict[str, dict[str, int]]:
        """Return the counts of each file of the lake, with those of the findings that are about it."""
        found: dict[str, dict[str, int]] = {path: counts.as_json() for path, counts in self.tables.items()}
        for finding in self.findings:
            counts = found.setdefault(finding.target, {})
            counts[finding.case] = counts.get(finding.case, 0) + finding.occurrences
        return found


@dataclass
class ImportSource:
    """Files of one kind, while they are imported.

    Attributes:
        accepted: The cases of `findings` that do not stop the import.
        findings: What is doubtful about the files.
        remarks: Further sentences about the import.
    """

    accepted: Collection[str] = field(default=frozenset(), kw_only=True)
    findings: list[ImportFinding] = field(default_factory=list, init=False)
    remarks: list[str] = field(default_factory=list, init=False)

    def read(self, on_read: OnRead) -> None:
        """Read every file. Raise IngestError if one cannot be read, or is of another form."""
        raise NotImplementedError

    def judge(self, lake: LakeWriter) -> None:
        """Add what is doubtful to the findings. Raise IngestError for rows that no build would accept."""

    def accepts(self, finding: ImportFinding) -> bool:
        """Return whether the import goes on in spite of a finding."""
        return finding.case in self.accepted

    def merge(self, lake: LakeWriter) -> Iterable[FileChange]:
        """Yield the files of the lake as they are after the import, in the order in which they are written."""
        raise NotImplementedError

    def before_writing(self) -> None:
        """Keep what would else be lost. Raise IngestError to stop the import."""

    @property
    def summary(self) -> str:
        """What was read, as a sentence."""
        raise NotImplementedError

    @property
    def counts(self) -> Mapping[str, object]:
        """What `--json` says about what was read."""
        raise NotImplementedError


def import_into(lake: LakeWriter, source: ImportSource, on_read: OnRead) -> ImportResult:
    """Import the files of a source: all of them or nothing.

    Raises:
        IngestError: A file cannot be read; or as `merge_into`.
    """
    source.read(on_read)
    return merge_into(lake, source)


def merge_into(lake: LakeWriter, source: ImportSource) -> ImportResult:
    """Import the files of a source that were read.

    Raises:
        IngestError: A table of the lake cannot be read, or a finding is not accepted, and nothing was written; or
            writing failed.
    """
    with lake.locked():
        source.judge(lake)
        refuse(source.findings, source.accepts)
        changes = list(source.merge(lake))
        source.before_writing()
        lake.write({change.path: change.data for change in changes if change.data is not None})
    tables = {change.path: change.counts for change in changes if change.counts}
    return ImportResult(source.summary, dict(source.counts), tables, tuple(source.findings), tuple(source.remarks))
