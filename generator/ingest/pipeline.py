"""An import: read files, and under the lake's lock judge them, merge their rows, write.

A source is a kind of files: how they are read, what is doubtful about them, and how their rows are merged into the
lake. Nothing is written before every file was read and every table merged. In a folder, all changed files then appear
together or not at all.

What is found in files that can be read but are probably wrong is a case with a name. One of `MEANINGS` stops the
import or leaves a link out, because readers of the API would see the damage, and `--accept CASE` imports it all the
same. Other cases are only counted and reported.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from generator.errors import IngestError
from generator.lake.table_writer import LakeWriter

DUPLICATES = "duplicates"
EMPTY_GUIDE = "empty-guide"
MISSING_PRICES = "missing-prices"
TWO_FOIL_PRICES = "two-foil-prices"
FUTURE = "future"
FAR_DAY = "far-day"
CONTRADICTION = "contradiction"
INCOMPLETE_OFFERS = "incomplete-offers"
OTHER_NAMES = "other-names"
OTHER_KIND = "other-kind"
# The cases that stop an import, and what accepting them means. A lake remembers which of these a game's files may have:
OF_GAMES = {
    DUPLICATES: "of several rows of one product, the greatest is taken",
    EMPTY_GUIDE: "the file changes nothing",
    MISSING_PRICES: "these prices are null",
    TWO_FOIL_PRICES: "the price under -holo is taken",
}
OF_ONE_FILE = {FUTURE: "builds then speak for that day", FAR_DAY: "history then has that day"}  # of its time
OF_LISTS = {OTHER_KIND: "the products are of the kind that the option or the name says"}
OF_CHECKS = {CONTRADICTION: "both are stored as they are", INCOMPLETE_OFFERS: "builds leave these offers out"}
OF_LINKS = {OTHER_NAMES: "links of cards with other names than their products are taken"}  # else it leaves them out
MEANINGS = OF_GAMES | OF_ONE_FILE | OF_LISTS | OF_CHECKS | OF_LINKS
OnRead = Callable[[object], None]  # called with each file after it was read
# The changes of an import to a file of the lake, in rows, under the names that `--json` prints.
Counts = dict[str, int]
_PLAIN = ("rows", "new", "changed", "unchanged", "removed")
_SKIPPED = {
    "elsewhere": "skipped, already in other files of the lake",
    "older": "skipped, the lake has newer rows with other values",
    "lesser": "skipped, a greater row has the same product and time",
}


class ImportFinding(NamedTuple):
    """A case in a file: in how many rows or keys, a line for people, and whether it stops an import."""

    case: str
    source: str
    occurrences: int
    message: str
    is_refused: bool = True
    target: str = ""  # the file of the lake, where `--json` says what was found by file

    def __str__(self) -> str:
        return f"{self.source}: {self.message}"


def refuse(findings: Iterable[ImportFinding], accepts: Callable[[ImportFinding], bool]) -> None:
    """Raise IngestError if there are findings that are not accepted. It names the first, and how to insist."""
    refused = [finding for finding in findings if finding.is_refused and not accepts(finding)]
    if not refused:
        return
    first, others = refused[0], len(refused) - 1
    more = f" (and {others:,} more finding{'s' * (others > 1)})" if others else ""
    cases = " ".join(f"--accept {case}" for case in dict.fromkeys(finding.case for finding in refused))
    raise IngestError(f"{first}{more}; nothing was imported: {cases} imports it all the same")


def row_counts(rows: int, new: int, changed: int, elsewhere: int) -> Counts:
    """Return the counts of a file. `elsewhere` are imported rows whose key another file of the table has."""
    return {"rows": rows, "new": new, "changed": changed, "unchanged": rows - new - changed, "elsewhere": elsewhere}


class FileChange(NamedTuple):
    """A file of the lake after an import. `data` is None if it stays as it is, `counts` for a file that is no table."""

    path: str
    counts: Counts | None
    data: pa.Buffer | None
    remark: str = ""

    def __str__(self) -> str:
        counts = self.counts or {}
        said = ", ".join(f"{counts[name]} {name}" for name in _PLAIN if name in counts)
        skipped = (f"; {counts[name]} {why}" for name, why in _SKIPPED.items() if counts.get(name))
        return f"{self.path}: {said}{''.join(skipped)}{self.remark}"


@dataclass
class ImportFiles:
    """Files of one kind, while they are imported. Cases of findings that are accepted do not stop the import."""

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
        return ""

    @property
    def counts(self) -> Mapping[str, object]:
        """What `--json` says about what was read."""
        raise NotImplementedError

    def as_json(self, tables: Iterable[FileChange]) -> Mapping[str, object]:
        """Return what `--json` says of an import that changed tables."""
        counts = {change.path: change.counts for change in tables}
        return {**self.counts, "tables": counts} | {found.case: found.occurrences for found in self.findings}

    def find(
        self, case: str, source: object, count: int, message: str, is_refused: bool = False, target: str = ""
    ) -> None:
        self.findings.append(ImportFinding(case, str(source), count, message, is_refused, target))


def import_into(lake: LakeWriter, source: ImportFiles) -> list[FileChange]:
    """Import the files of a source that were read: all of them or nothing. Return the changes of tables."""
    with lake.locked():
        source.judge(lake)
        refuse(source.findings, source.accepts)
        changes = list(source.merge(lake))
        source.before_writing()
        lake.write({change.path: change.data for change in changes if change.data is not None})
    return [change for change in changes if change.counts]
