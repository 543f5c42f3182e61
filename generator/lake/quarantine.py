"""The quarantine of a store: day files of a lake that a refused night read. Later builds leave them out.

`private/quarantine.json` names each file by its table, its day and the SHA-256 of its content. Another file of the same
day is not in quarantine, whatever its name. Nights, publishing and people decide about the files. Each decision, as any
change of the object, is one conditional write.

Builds list the day files that they read: the record of a build lists those of the open month by table and day, its
layers of days those of the closed months. So it is known what one build read that another did not.
"""

import json
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, NamedTuple

from generator import settings
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
ALL_GAMES = "*"  # as in checks/held_ratios


class Ratio(NamedTuple):
    """How far the prices of a game lie from those before."""

    price: str  # the column that lies farthest from 1
    ratio: float  # its middle price ratio
    products: int  # that have both prices
    usual: tuple[float, float] | None  # the least and the greatest such ratio of the last seven nights, if known

    @property
    def figures(self) -> str:
        """The ratio as a person reads it."""
        usual = "; the last seven nights {:.2f} to {:.2f}".format(*self.usual) if self.usual else ""
        return f"median of {self.price} × {self.ratio:.3g} over {self.products:,} products{usual}"


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
    # By game how far its prices lie from those before, and the same for people; `ALL_GAMES` has those of all together.
    moved: Mapping[str, Sequence[Any]] = field(default_factory=dict)

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
    def figures(self) -> str:
        """How far its prices moved, for people; "" if it was not measured."""
        return str(self.moved.get(ALL_GAMES if self.game is None else self.game, (1, ""))[1])

    @property
    def is_far(self) -> bool:
        """Whether prices of one of its games moved so far that it is rarely right."""
        moved = self.moved if self.game is None else {self.game: self.moved.get(self.game, (1, ""))}
        return any(
            not 1 / settings.MAX_ACCEPTED_FACTOR <= ratio <= settings.MAX_ACCEPTED_FACTOR for ratio, _ in moved.values()
        )

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
    files = _read_list(store)
    _check_complete(store, files)
    return files


def _read_list(store: Store) -> list[QuarantinedFile]:
    found = store.get_versioned(layout.QUARANTINE)
    return _parse(found.data, store.location) if found else []


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
    unknown = skipped_files(live.record) - {file.key for file in files} - {file.key.whole for file in files}
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
    return [file for file in read_quarantine(store) if file.verdict == HELD and skipped & {file.key, file.key.whole}]


def held_games(store: Store, record: BuildRecord) -> str:
    """Return which prices a build lacks because they are held, since when and why, as a sentence; '' for none."""
    held: dict[tuple[str, str | None], list[QuarantinedFile]] = {}
    for file in waiting_files(store, record):
        held.setdefault((file.table, file.game), []).append(file)
    ordered = sorted(held.items(), key=lambda item: (item[0][1] or "", item[0][0]))
    return "; ".join(_held_sentence(table, game, files) for (table, game), files in ordered)


def _held_sentence(table: str, game: str | None, files: Sequence[QuarantinedFile]) -> str:
    rows = _ROWS.get(table, f"rows of {table}")
    whose = {None: f"all {rows}", NO_GAME: f"the {rows} of the products without a game"}.get(game, f"{game}'s {rows}")
    days = sorted({file.day for file in files})
    when = days[0] if len(days) == 1 else f"{len(days)} days since {days[0]}"
    gates = few(sorted({gate for file in files for gate in file.gates}))
    figures = next((f": {file.figures}" for file in reversed(files) if file.figures), "")
    return f"{whose} of {when} are held ({gates}{figures})"


def describe_waiting(files: Collection[QuarantinedFile], location: str) -> str:
    """Return held files, and the command that ends it, as one sentence."""
    named = [f"{file.named} ({few(list(file.gates))})" for file in files]
    them = "it" if len(named) == 1 else "them"
    return (
        f"in quarantine, left out of builds: {', '.join(named)}; `{decision('drop', files, location)}` "
        f"leaves {them} out for good, `accept` instead of `drop` lets {them} in"
    )


def decision(verdict: str, files: Collection[QuarantinedFile], location: str) -> str:
    """Return the command that decides about files, by their days, or by their game if there are many."""
    days, games = sorted({file.day for file in files}), {file.game for file in files}
    [game] = games if len(games) == 1 else [None]
    which = f" --game {shlex.quote(game)}" if game is not None else ""
    of_days = f" {' '.join(days)}" if len(days) <= _MAX_NAMED or not which else ""
    return f"cardpress quarantine {verdict}{of_days}{which} --store {location}"


def waiting_in_short(files: Collection[QuarantinedFile], location: str) -> str:
    """Return held files as a line that does not grow with them: of few days with the command that ends it."""
    few = len({file.day for file in files}) <= _MAX_NAMED
    return describe_waiting(files, location) if few else count_waiting(files, location)


def count_waiting(files: Collection[QuarantinedFile], location: str) -> str:
    """Return held files as a short line, for nights after the one that refused them."""
    return (
        f"in quarantine since earlier nights: {few([file.named for file in files])}; "
        f"`cardpress quarantine list --store {location}`, then `accept` or `drop` instead of `list`"
    )


def hold(
    store: Store,
    refused: Mapping[FileKey, Mapping[str, float]],
    *,
    build: str,
    run: str,
    now: datetime,
    ratios: Mapping[tuple[str, str], Ratio] | None = None,
) -> list[QuarantinedFile]:
    """Put files in quarantine by the gates that refused each, and return those that wait. A person's verdict stays.

    `ratios` say how far the prices of a table lie from those before, by game or for `ALL_GAMES`.
    """

    def held(key: FileKey, gates: Mapping[str, float], known: QuarantinedFile | None) -> QuarantinedFile:
        file = known or QuarantinedFile(*key[:3], HELD, {}, build, run, timestamp(now), game=key.game)
        moved = {
            game: (ratio.ratio, ratio.figures)
            for (table, game), ratio in (ratios or {}).items()
            if table == key.table and key.game in (None, game)
        }
        gates = dict(sorted((file.gates | dict(gates)).items()))
        return replace(file, gates=gates, in_lake=True, moved=moved or file.moved)

    def add(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        known = {file.key: file for file in files}
        return list((known | {key: held(key, gates, known.get(key)) for key, gates in refused.items()}).values())

    return [file for file in change_quarantine(store, add) if file.key in refused and file.waits]


class Selection(NamedTuple):
    """Which files in quarantine are meant: those of days, or all that wait, of a game and a table or of all."""

    days: Collection[str]
    game: str | None = None  # `NO_GAME`: the products without a game
    table: str | None = None

    def means(self, file: QuarantinedFile) -> bool:
        """Return whether a file is meant, if its rows are those of the game."""
        of_day = file.day in self.days if self.days else file.waits
        return of_day and self.game in (None, file.game) and self.table in (None, file.table)


def chosen(store: Store, selection: Selection, published: Build | None = None) -> list[QuarantinedFile]:
    """Return the files that `settle` would decide about, as they are in quarantine now."""
    return [file for file in _by_game(_read_list(store), selection, published) if selection.means(file)]


def left_waiting(store: Store, decided: Collection[QuarantinedFile]) -> list[QuarantinedFile]:
    """Return the files that wait, of the tables and games of files that were decided about."""
    kinds = {(file.table, file.game) for file in decided}
    return [file for file in _read_list(store) if file.waits and (file.table, file.game) in kinds]


def settle(store: Store, selection: Selection, verdict: str, published: Build | None = None) -> list[QuarantinedFile]:
    """Accept or drop files, and return them. GeneratorError: a day has none in quarantine, or none waits.

    Args:
        published: The live build. Files that it left out and that the quarantine lost are decided again. Prices of a
            day that it read can be dropped; of a day with files that wait for a person, these alone are meant. Of a
            file that is held whole, the games of this build that are not chosen go on waiting.
    """
    decided: set[FileKey] = set()

    def decide(files: list[QuarantinedFile]) -> list[QuarantinedFile]:
        nonlocal decided
        lost = _lost(files, published) if published else []
        files = _by_game(files + [file for file in lost if file.day in selection.days], selection, published)
        if verdict == DROPPED:
            files = files + _withdrawn(files, published, selection)
        decided = {file.key for file in files if selection.means(file)}
        missing = sorted(set(selection.days) - {key.day for key in decided})
        if missing or not decided:
            which = "no file" + (f" of {missing[0]}" if missing else "")
            which += f" with rows of the game {selection.game}" if selection.game else ""
            raise GeneratorError(
                f"{which} is in quarantine in {store.location}: `cardpress quarantine list` lists the days"
            )
        return [replace(file, verdict=verdict) if file.key in decided else file for file in files]

    return [file for file in change_quarantine(store, decide) if file.key in decided]


def _by_game(files: Collection[QuarantinedFile], selection: Selection, live: Build | None) -> list[QuarantinedFile]:
    """Return files that are held whole, but of which one game is meant, as the rows of each game of the live build."""
    games = {NO_GAME, *(game["game"] or NO_GAME for game in live.record["games"])} if live else set()
    of_all_games = selection._replace(game=None)
    found = []
    for file in files:
        is_whole = file.game is None and file.table in PRICE_TABLES
        is_split = selection.game in games and is_whole and of_all_games.means(file)
        found += [replace(file, game=game) for game in sorted(games)] if is_split else [file]
    return found


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


def _withdrawn(files: list[QuarantinedFile], published: Build | None, selection: Selection) -> list[QuarantinedFile]:
    """Return the chosen files that a build read, of days without files that wait, and that were never in quarantine."""
    if published is None:
        return []
    days = set(selection.days) - {file.day for file in files if file.waits}
    known = {file.key for file in files} | {file.key.whole for file in files if selection.game in (None, file.game)}
    prices = (file for file in files_read(published) if file.day in days and file.table in PRICE_TABLES)
    read = {original_of(published.record, file) for file in prices if selection.table in (None, file.table)}
    keys = sorted(read - known)
    return [QuarantinedFile(*key[:3], DROPPED, {}, published.id, "", "", game=selection.game) for key in keys]


def few(texts: Sequence[str]) -> str:
    """Return the first texts, and how many more there are."""
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
    entry = {"moved": {}} | entry  # which earlier versions did not write
    file = QuarantinedFile(**{known.name: entry[known.name] for known in fields(QuarantinedFile)})
    if not all(isinstance(text, str) for text in (*file.key[:3], file.build, file.run, file.since, file.game or "")):
        raise TypeError
    if file.verdict not in (HELD, ACCEPTED, DROPPED):
        raise ValueError
    return replace(file, gates={gate: float(value) for gate, value in file.gates.items()})
