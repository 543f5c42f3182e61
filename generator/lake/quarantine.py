"""The quarantine of a store: day files of a lake that a refused night read. Later builds leave them out.

`private/quarantine.json` names each file by its table, its day and the SHA-256 of its content. Each change of it is one
conditional write. Another file of the same day is not in quarantine, whatever its name.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from edge_auth.builds import layout
from edge_auth.builds.record import BuildRecord
from edge_auth.errors import AccessDenied, StoreError
from edge_auth.store.documents import update_json
from edge_auth.store.interface import Store
from generator.lake.file_keys import NO_GAME, FileKey

FORMAT = 1
_MAX_NAMED = 3
HELD, ACCEPTED, DROPPED = "held", "accepted", "dropped"


@dataclass(frozen=True)
class QuarantinedFile:
    """A file in quarantine.

    Attributes:
        verdict: HELD: builds leave it out until a person decides. DROPPED: they leave it out for good. ACCEPTED: they
            read it, and it is no reason any more to refuse a night.
        gates: The gates that refused it, with the values that they measured.
        build: The refused build.
        run: The night that refused it.
        since: The time of that night.
        in_lake: Whether the lake of the last night had the file.
        game: As in `FileKey`.
    """

    table: str
    day: str
    sha256: str
    verdict: str
    gates: dict[str, float]
    build: str
    run: str
    since: str
    in_lake: bool = True
    game: str | None = None

    @property
    def key(self) -> FileKey:
        """The identity of the file, or of a game's rows in it."""
        return FileKey(self.table, self.day, self.sha256, self.game)

    @property
    def named(self) -> str:
        """Which rows are meant, for people."""
        games = {None: "", NO_GAME: " (the products without a game)"}
        return f"{self.table} of {self.day}" + games.get(self.game, f" ({self.game})")

    @property
    def waits(self) -> bool:
        """Whether builds leave the file out until a person decides."""
        return self.verdict == HELD and self.in_lake

    def is_left_out(self, limits: Mapping[str, float], forced: Collection[str]) -> bool:
        """Return whether builds leave the file out, under these thresholds and with these gates forced."""
        still = (gate not in forced and value > limits.get(gate, 0) for gate, value in self.gates.items())
        return self.verdict == DROPPED or (self.verdict == HELD and any(still))


def read_quarantine(store: Store) -> list[QuarantinedFile]:
    """Return all files that were ever put in quarantine, by day, table and content.

    Raises:
        StoreError: The object is damaged, or was written by a later version.
    """
    try:
        found = store.get_versioned(layout.QUARANTINE)
    except AccessDenied:  # policies of older versions refuse it, so nothing was ever put there
        return []
    return _parse(found.data, store.location) if found else []


def skipped_by_builds(
    store: Store, limits: Mapping[str, float] | None = None, forced: Collection[str] = ()
) -> set[FileKey]:
    """Return the files that a build for this store leaves out.

    Args:
        limits: The thresholds of the gates that will judge the build. A file that they would let pass is read again.
        forced: Gates that will not stop the build. A file that only they refused is read again.

    Raises:
        StoreError: The quarantine cannot be read.
    """
    return {file.key for file in read_quarantine(store) if file.is_left_out(limits or {}, forced)}


def skipped_files(record: BuildRecord) -> set[FileKey]:
    """Return the files in quarantine that a build left out, by its record."""
    return {
        FileKey(file["table"], file["day"], file["sha256"], file.get("game")) for file in record.get("quarantine", [])
    }


def original_of(record: BuildRecord, file: FileKey) -> FileKey:
    """Return the file of the lake for one that a build read, perhaps without the rows of some games."""
    for entry in record.get("quarantine", []):
        if entry.get("read_as") == file.sha256 and (entry["table"], entry["day"]) == (file.table, file.day):
            return file._replace(sha256=entry["sha256"])
    return file


def waiting_files(store: Store, record: BuildRecord) -> list[QuarantinedFile]:
    """Return the held files that a build left out, by its record."""
    skipped = skipped_files(record)
    return [file for file in read_quarantine(store) if file.verdict == HELD and file.key in skipped]


def describe_waiting(files: Collection[QuarantinedFile], location: str) -> str:
    """Return held files, and the command that ends it, as one sentence."""
    named = [f"{file.named} ({_few(list(file.gates))})" for file in files]
    days, them = " ".join(sorted({file.day for file in files})), "it" if len(named) == 1 else "them"
    return (
        f"in quarantine, left out of builds: {', '.join(named)}; `cardpress quarantine drop {days} --store {location}` "
        f"leaves {them} out for good, `accept` instead of `drop` lets {them} in"
    )


def waiting_in_short(files: Collection[QuarantinedFile], location: str) -> str:
    """Return held files as a line that does not grow with them: of few days with the command that ends it."""
    few = len({file.day for file in files}) <= _MAX_NAMED
    return describe_waiting(files, location) if few else count_waiting(files, location)


def change_quarantine(
    store: Store, change: Callable[[list[QuarantinedFile]], list[QuarantinedFile]]
) -> list[QuarantinedFile]:
    """Replace the files by others, and return those."""
    changed: list[QuarantinedFile] = []

    def changed_document(data: bytes | None) -> bytes | None:
        nonlocal changed
        files = _parse(data, store.location) if data else []
        changed = sorted(change(files), key=_order)
        listed = {"format": FORMAT, "files": [asdict(file) for file in changed]}
        return None if changed == files else json.dumps(listed, indent=1).encode() + b"\n"

    try:
        update_json(store, layout.QUARANTINE, changed_document)
    except AccessDenied:
        if change([]):
            raise
        return []  # policies of older versions refuse it, so nothing was ever put there
    return changed


def count_waiting(files: Collection[QuarantinedFile], location: str) -> str:
    """Return held files as a short line, for nights after the one that refused them."""
    return (
        f"in quarantine since earlier nights: {_few([file.named for file in files])}; "
        f"`cardpress quarantine list --store {location}`"
    )


def _few(texts: Sequence[str]) -> str:
    """Return the first few of some texts, and how many more there are."""
    more = len(texts) - _MAX_NAMED
    return ", ".join(texts[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _order(file: QuarantinedFile) -> tuple[str, ...]:
    return file.day, file.table, file.sha256, file.game or ""


def _parse(data: bytes, location: str) -> list[QuarantinedFile]:
    try:
        listed = json.loads(data)
        format_ = listed["format"]
        files = [_file(entry) for entry in listed["files"]] if format_ == FORMAT else []
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{layout.QUARANTINE} in {location} is damaged: restore it from a backup, or delete it, and nothing "
            "is in quarantine any more"
        ) from error
    if format_ != FORMAT:
        raise StoreError(
            f"{layout.QUARANTINE} in {location} has format {format_}, this version reads {FORMAT}: "
            "update cardpress on this machine"
        )
    return files


def _file(entry: dict[str, Any]) -> QuarantinedFile:
    """Return a file from JSON. Raises KeyError, TypeError or ValueError for anything else."""
    known = {"game": None} | entry  # versions before this one held files alone
    file = QuarantinedFile(**{field.name: known[field.name] for field in fields(QuarantinedFile)})
    if not all(isinstance(text, str) for text in (*file.key[:3], file.build, file.run, file.since, file.game or "")):
        raise TypeError
    if file.verdict not in (HELD, ACCEPTED, DROPPED):
        raise ValueError
    return replace(file, gates={gate: float(value) for gate, value in file.gates.items()})
