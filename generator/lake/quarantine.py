"""The quarantine of a store: day files of a lake that a refused night read. Later builds leave them out.

`private/quarantine.json` names each file by its table, its day and the SHA-256 of its content. Another file of the same
day is not in quarantine, whatever its name. Nights, publishing and people decide about the files. Each decision, as any
change of the object, is one conditional write.

Builds list the day files that they read: the record of a build lists those of the open month by table and day, its
layers of days those of the closed months. So it is known what one build read that another did not.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any

from generator.clock import timestamp
from generator.errors import GeneratorError
from generator.lake.files import DAY_FILES, NO_GAME, PRICE_TABLES, FileKey
from generator.storage import layout
from generator.storage.builds import Build, BuildRecord, open_build, read_pointer
from generator.storage.errors import DamagedObject, StoreError, UnknownBuild
from generator.storage.stores.interface import Store, parse_json, update_json

FORMAT = 1
HELD = "held"  # builds leave the file out until a person decides
ACCEPTED = "accepted"  # builds read it, and it is no reason any more to refuse a night
DROPPED = "dropped"  # builds leave it out for good

_ROWS = {"price_guide": "prices", "listings": "listings", "filtered_checks": "offers"}  # by table of prices, for people
_MAX_NAMED = 3  # in a line for people


@dataclass(frozen=True)
class QuarantinedFile:
    """A file in quarantine."""

    table: str
    day: str
    sha256: str
    verdict: str
    gates: dict[str, float]  # that refused it, with the values that they measured
    build: str  # that was refused
    run: str  # the night that refused it
    since: str  # the time of that night
    in_lake: bool = True  # whether the lake of the last night had it
    game: str | None = None  # as in `FileKey`

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
    """Return all files that were ever put in quarantine, by day, table and content."""
    found = store.get_versioned(layout.QUARANTINE)
    files = _parse(found.data, store.location) if found else []
    _check_complete(store, files)
    return files


def _check_complete(store: Store, files: Collection[QuarantinedFile]) -> None:
    """Check that the quarantine knows what the live build left out: a lost object does not mean that all is let in."""
    pointer, _ = read_pointer(store)
    if pointer is None:
        return
    try:
        lost = _lost(files, open_build(store, pointer.build))
    except (DamagedObject, UnknownBuild):  # damaged: it proves nothing, and is reported elsewhere
        return
    if lost:
        days = " ".join(sorted({file.day for file in lost}))
        raise StoreError(
            f"{layout.QUARANTINE} in {store.location} is missing, or lacks days that the live build {pointer.build} "
            f"left out: restore it from a backup, or decide again, by `cardpress quarantine drop {days} --store "
            f"{store.location}`, or `accept` instead of `drop`"
        )


def _lost(files: Collection[QuarantinedFile], live: Build) -> list[QuarantinedFile]:
    """Return the files that a build left out and that the quarantine does not know."""
    unknown = skipped_files(live.record) - {file.key for file in files}
    return [QuarantinedFile(*key[:3], HELD, {}, live.id, "", "", game=key.game) for key in sorted(unknown, key=str)]


def skipped_by_builds(
    store: Store, limits: Mapping[str, float] | None = None, forced: Collection[str] = ()
) -> set[FileKey]:
    """Return the files that a build leaves out, but those that its gates would let pass: by `limits`, or forced."""
    return {file.key for file in read_quarantine(store) if file.is_left_out(limits or {}, forced)}


def skipped_files(record: BuildRecord) -> set[FileKey]:
    """Return the files in quarantine that a build left out, by its record."""
    return {FileKey(file["table"], file["day"], file["sha256"], file.get("game")) for file in record["quarantine"]}


def original_of(record: BuildRecord, file: FileKey) -> FileKey:
    """Return the file of the lake for one that a build read, perhaps without the rows of some games."""
    for entry in record["quarantine"]:
        if entry.get("read_as") == file.sha256 and (entry["table"], entry["day"]) == (file.table, file.day):
            return file._replace(sha256=entry["sha256"])
    return file


def waiting_files(store: Store, record: BuildRecord) -> list[QuarantinedFile]:
    """Return the held files that a build left out, by its record."""
    skipped = skipped_files(record)
    if not skipped:
        return []
    return [file for file in read_quarantine(store) if file.verdict == HELD and file.key in skipped]


def held_games(store: Store, record: BuildRecord) -> str:
    """Return which games' prices a build lacks because they are held, as a sentence; '' for none."""
    held: dict[tuple[str, str], list[QuarantinedFile]] = {}
    for file in waiting_files(store, record):
        if file.game is not None:
            held.setdefault((file.game, file.table), []).append(file)
    said = []
    for (game, table), files in sorted(held.items()):
        what = f"{game}'s {_ROWS[table]}" if game != NO_GAME else f"the {_ROWS[table]} of the products without a game"
        gates = sorted({gate for file in files for gate in file.gates})
        said.append(f"{what} of {_few([file.day for file in files])} are held ({_few(gates)})")
    return "; ".join(said)


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


def count_waiting(files: Collection[QuarantinedFile], location: str) -> str:
    """Return held files as a short line, for nights after the one that refused them."""
    return (
        f"in quarantine since earlier nights: {_few([file.named for file in files])}; "
        f"`cardpress quarantine list --store {location}`"
    )


def hold(
    store: Store, refused: Mapping[FileKey, Mapping[str, float]], *, build: str, run: str, now: datetime
) -> list[QuarantinedFile]:
    """Put files in quarantine by the gates that refused each, and return those that wait. A person's verdict stays."""

    def add(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        known = {file.key: file for file in files}
        for key, gates in refused.items():
            new = QuarantinedFile(*key[:3], HELD, {}, build, run, timestamp(now), game=key.game)
            file = known.get(key, new)
            known[key] = replace(file, gates=dict(sorted((file.gates | dict(gates)).items())), in_lake=True)
        return list(known.values())

    return [file for file in change_quarantine(store, add) if file.key in refused and file.waits]


def settle(store: Store, days: Collection[str], verdict: str, published: Build | None = None) -> list[QuarantinedFile]:
    """Accept or drop all files of some days, and return them. GeneratorError: a day has none in quarantine.

    Args:
        published: The live build. Files that it left out and that the quarantine lost are decided again. Prices of a
            day that it read can be dropped; of a day with files that wait for a person, these alone are meant.
    """

    def decide(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        files = files + [file for file in (_lost(files, published) if published else []) if file.day in days]
        waiting = {file.day for file in files if file.waits}
        if verdict == DROPPED:
            files = files + _withdrawn(files, published, set(days) - waiting)
        for day in sorted(set(days) - {file.day for file in files}):
            raise GeneratorError(
                f"no file of {day} is in quarantine in {store.location}: `cardpress quarantine list` lists the days"
            )
        return [replace(file, verdict=verdict) if file.day in days else file for file in files]

    return [file for file in change_quarantine(store, decide) if file.day in days]


def accept_read_files(store: Store, build: Build) -> None:
    """Accept the files in quarantine that a build read, because it goes live."""

    def accept(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        read = files_read(build) if files else set()  # most stores have nothing in quarantine
        return [replace(file, verdict=ACCEPTED) if file.key.whole in read else file for file in files]

    change_quarantine(store, accept)


def note_lake(store: Store, build: Build) -> None:
    """Record which held files a lake still has, by a build of all its days."""

    def note(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        found = {key.whole for key in skipped_files(build.record) | files_read(build)} if files else set()
        return [replace(file, in_lake=file.key.whole in found) if file.verdict == HELD else file for file in files]

    change_quarantine(store, note)


def change_quarantine(
    store: Store, change: Callable[[list[QuarantinedFile]], list[QuarantinedFile]]
) -> list[QuarantinedFile]:
    """Replace the files by others, and return those."""
    changed: list[QuarantinedFile] = []

    def changed_document(data: bytes | None) -> bytes | None:
        nonlocal changed
        files = _parse(data, store.location) if data else []
        changed = sorted(change(files), key=lambda file: (file.day, file.table, file.sha256, file.game or ""))
        listed = {"format": FORMAT, "files": [asdict(file) for file in changed]}
        return None if changed == files else json.dumps(listed, indent=1).encode() + b"\n"

    update_json(store, layout.QUARANTINE, changed_document)
    return changed


def files_read(build: Build) -> set[FileKey]:
    """Return the day files that a build read. Raise DamageError or StoreError if a list of them cannot be read."""
    from generator.pack.verify import checked_file  # imports Arrow, which `show` and `builds` do not need

    inputs = build.record["provenance"]["inputs"]
    lists: list[dict[str, dict[str, list[str]]]] = [{table: inputs[table].get("days", {}) for table in inputs}]
    for name, layer in build.layers.items():
        if name.startswith(layout.sublayer(layout.DAYS, "")):
            lists.append(json.loads(checked_file(layer, DAY_FILES).read_bytes()))
    return {
        FileKey(table, day, sha256)
        for tables in lists
        for table, days in tables.items()
        for day, hashes in days.items()
        for sha256 in hashes
    }


def unread_files(build: Build, live: Build) -> set[FileKey]:
    """Return the day files that a build read and the live one did not."""
    return files_read(build) - files_read(live)


def _withdrawn(files: list[QuarantinedFile], published: Build | None, days: Collection[str]) -> list[QuarantinedFile]:
    """Return the files of days that a build read and that were never in quarantine."""
    if published is None:
        return []
    known = {file.key.whole for file in files}
    prices = (file for file in files_read(published) if file.day in days and file.table in PRICE_TABLES)
    read = {original_of(published.record, file) for file in prices}
    return [QuarantinedFile(*key[:3], DROPPED, {}, published.id, "", "") for key in sorted(read - known)]


def _few(texts: Sequence[str]) -> str:
    more = len(texts) - _MAX_NAMED
    return ", ".join(texts[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _parse(data: bytes, location: str) -> list[QuarantinedFile]:
    try:
        listed = parse_json(data)
        format_ = listed["format"]
        files = [_file(entry) for entry in listed["files"]] if format_ == FORMAT else []
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{layout.QUARANTINE} in {location} is damaged: restore it from a backup, or delete it, and the next "
            "night names the days to decide about again"
        ) from error
    if format_ != FORMAT:
        raise StoreError(
            f"{layout.QUARANTINE} in {location} has format {format_}, this version reads {FORMAT}: "
            "update cardpress on this machine"
        )
    return files


def _file(entry: dict[str, Any]) -> QuarantinedFile:
    """Return a file from JSON. Raises KeyError, TypeError or ValueError for anything else."""
    file = QuarantinedFile(**{field.name: entry[field.name] for field in fields(QuarantinedFile)})
    if not all(isinstance(text, str) for text in (*file.key[:3], file.build, file.run, file.since, file.game or "")):
        raise TypeError
    if file.verdict not in (HELD, ACCEPTED, DROPPED):
        raise ValueError
    return replace(file, gates={gate: float(value) for gate, value in file.gates.items()})
