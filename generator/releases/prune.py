"""Deletes what no remaining build needs.

A prune has three steps: mark, wait, sweep. The deletions are found from listings of the store and written into the
prune lock, which stops builds and publishers from using them (see `locks`). Then they are found again, and what is in
both is deleted. The records of builds go first, so that no reader opens them. Of each layer the index goes first, so
that the layer is missing rather than incomplete. A prune that is killed leaves objects that nothing names; the next
prune deletes them.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from generator import settings
from generator.clock import Clock, from_unix_time, parse_timestamp, utc_now
from generator.errors import GeneratorError
from generator.releases.change_documents import complete_steps, forget, needed_documents
from generator.releases.locks import Lock, locked, read_intents
from generator.storage import layout
from generator.storage.builds import Build, Pointer, open_build, read_pointer
from generator.storage.errors import DamagedObject, MissingObject, StoreError
from generator.storage.layers import INDEX_NAME, Layer
from generator.storage.stores.interface import Listed, Store


@dataclass(frozen=True)
class RetentionRules:
    """Which builds remain. Those that were live within the grace, and everything that is younger, do so as well."""

    keep: int = settings.KEPT_BUILDS  # the live one, then those that a rollback reaches, then the newest others
    grace: timedelta = timedelta(hours=settings.GRACE_HOURS)
    tonight: str = ""  # the build of the night that prunes: its pages are written after that


@dataclass
class Deletions:
    """The objects that a prune deletes, and the ids of the builds that remain."""

    remaining: list[str] = field(default_factory=list)
    builds: list[str] = field(default_factory=list)
    layers: dict[str, list[Listed]] = field(default_factory=dict)  # their files by folder
    strays: list[Listed] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)  # ids of builds whose records are damaged: they are set aside

    @property
    def ids_and_folders(self) -> list[str]:
        """The builds and folders that no other run may begin to use."""
        return sorted({*self.builds, *self.layers})

    @property
    def bytes(self) -> int:
        return sum(file.size for files in (*self.layers.values(), self.strays) for file in files)

    @property
    def empty(self) -> bool:
        return not (self.builds or self.layers or self.strays or self.damaged)

    def intersection(self, later: "Deletions") -> "Deletions":
        """Return what is in both, as the later listing shows it."""
        strays = {file.name for file in self.strays}
        return Deletions(
            later.remaining,
            [build for build in later.builds if build in self.builds],
            {folder: files for folder, files in later.layers.items() if folder in self.layers},
            [file for file in later.strays if file.name in strays],
            [build for build in later.damaged if build in self.damaged],
        )

    def summary(self) -> dict[str, Any]:
        """What `prune --json` and the report of a night say."""
        files = sum(map(len, self.layers.values()))
        return {
            "kept": self.remaining,
            "builds": self.builds,
            "damaged": self.damaged,
            "layers": sorted(self.layers),
            "strays": [file.name for file in self.strays],
            "files": files + len(self.strays) + len(self.builds),
            "bytes": self.bytes,
        }


def prune(
    store: Store,
    rules: RetentionRules,
    *,
    run: str | None = None,
    clock: Clock = utc_now,
    wait: Callable[[float], object] = time.sleep,
    seconds: float = settings.LEASE_SECONDS,
) -> Deletions:
    """Delete what no remaining build needs, and return what was deleted. `run` and `seconds` are of the lock.

    Raises:
        BusyError: Another prune is running.
        GeneratorError: A build on the list became live in spite of the mark.
    """
    complete_steps(store)  # the builds that a missing document is made of may be deleted below
    first = find_deletions(store, rules, clock)
    if first.empty:
        return first
    with locked(store, layout.PRUNE_LOCK, run=run or secrets.token_hex(4), clock=clock, seconds=seconds) as lock:
        lock.announce(first.ids_and_folders)
        wait(settings.PRUNE_WAIT_SECONDS)
        deletions = first.intersection(find_deletions(store, rules, clock))
        lock.announce(deletions.ids_and_folders)
        _sweep(store, deletions, lock)
    return deletions


def find_deletions(store: Store, rules: RetentionRules, clock: Clock) -> Deletions:
    """Return what `prune` would delete now."""
    # The intents are read first: when an intent ends, its build is already in a record or in the pointer.
    protected = read_intents(store, clock, settings.INTENT_AGE)
    pointer, _ = read_pointer(store)
    cutoff = clock() - rules.grace
    records = {layout.id_of(entry.name): entry for entry in store.entries(layout.BUILDS)}
    remaining_ids = _remaining(pointer, records, rules, cutoff) | (protected & records.keys())
    wanted = [id_ for id_ in _by_priority(pointer, records) if id_ in remaining_ids]
    builds, damaged = _open_remaining(store, pointer, wanted)
    remaining = [build.id for build in builds]
    deletions = Deletions(remaining, [id_ for id_ in records if id_ not in remaining_ids], damaged=damaged)
    _add_layers(store, deletions, builds, protected, cutoff)
    needed = {*map(layout.gates_name, remaining), *needed_documents(pointer), layout.CHANGES_INDEX}
    for entry in (*store.entries(layout.GATES), *store.entries(layout.CHANGES)):
        if entry.name not in needed and _is_older(entry, cutoff):
            deletions.strays.append(entry)
    deletions.strays += _leftovers(store, clock(), rules.grace, protected)
    return deletions


def describe(deletions: Deletions) -> str:
    """Return the deletions, or the result of a prune, as one line of text."""
    if deletions.empty:
        return f"nothing to delete; {_counted(deletions.remaining, 'build')} kept"
    of_each = ((deletions.builds, "build"), (deletions.layers, "layer"), (deletions.strays, "single file"))
    counts = ", ".join(_counted(things, name) for things, name in of_each)
    if deletions.damaged:
        counts = f"damaged records set aside: {', '.join(deletions.damaged)}; {counts}"
    return f"{counts}, {deletions.bytes / 1e6:,.1f} MB; {_counted(deletions.remaining, 'build')} kept"


def _open_remaining(store: Store, pointer: Pointer | None, ids: Iterable[str]) -> tuple[list[Build], list[str]]:
    """Open builds. Return them, and the ids of those whose records are damaged. That of the live build raises."""
    opened, damaged = [], []
    for id_ in ids:
        try:
            opened.append(open_build(store, id_))
        except DamagedObject:
            if pointer and id_ == pointer.build:
                raise
            damaged.append(id_)
    return opened, damaged


def _add_layers(
    store: Store, deletions: Deletions, builds: Iterable[Build], protected: set[str], cutoff: datetime
) -> None:
    """Add the layers that no remaining build needs, and files that the index of a needed layer does not name."""
    needed = {layer.folder for build in builds for layer in build.layers.values()}
    for folder, found in groupby(store.entries(layout.LAYERS), lambda file: layout.layer_folder_of(file.name)):
        files = list(found)
        if folder in needed - protected:
            deletions.strays += _unnamed_files(store, folder, files, cutoff)
        elif folder not in protected and all(_is_older(file, cutoff) for file in files):
            deletions.layers[folder] = files


def _by_priority(pointer: Pointer | None, records: Iterable[str]) -> list[str]:
    """Return the builds in the order in which they remain: live, reachable by a rollback, then newest day first."""
    reachable = [pointer.build, *pointer.previous] if pointer else []
    return list(dict.fromkeys(id_ for id_ in (*reachable, *sorted(records, reverse=True)) if id_ in records))


def _remaining(
    pointer: Pointer | None, records: dict[str, Listed], rules: RetentionRules, cutoff: datetime
) -> set[str]:
    remaining = {*_by_priority(pointer, records)[: rules.keep], rules.tonight}
    remaining |= {id_ for id_, entry in records.items() if not _is_older(entry, cutoff)}
    if pointer:
        previous = [id_ for id_ in pointer.previous if id_ in records]
        remaining |= {pointer.build, *previous[:1]}  # so that a rollback is always possible
        remaining |= {id_ for id_, time in pointer.ended.items() if parse_timestamp(time) > cutoff}
    return remaining & records.keys()


def _is_older(file: Listed, cutoff: datetime) -> bool:
    return from_unix_time(file.modified) <= cutoff


def _unnamed_files(store: Store, folder: str, files: list[Listed], cutoff: datetime) -> list[Listed]:
    """Return the files of a needed layer that its index does not name; none if the index is young or unreadable."""
    if any(file.name == folder + INDEX_NAME and not _is_older(file, cutoff) for file in files):
        return []  # a reader may still use the index before this one
    _, name, digest, _ = folder.split("/")
    try:
        index = Layer(store, name, digest).index
    except StoreError:
        return []
    named = {folder + file.name for file in (*index.packs, *index.files)} | {folder + INDEX_NAME}
    return [file for file in files if file.name not in named and _is_older(file, cutoff)]


def _leftovers(store: Store, now: datetime, grace: timedelta, protected: set[str]) -> Iterator[Listed]:
    """Yield half-written files, intermediate files and intents of runs that were killed."""
    cutoff = now - max(grace, settings.LEFTOVER_AGE)
    work_in_use = tuple(map(layout.work_folder, protected))
    found = (e for e in (*store.leftovers(), *store.entries(layout.WORK)) if _is_older(e, cutoff))
    yield from (e for e in found if not e.name.startswith((*protected, *work_in_use)))
    yield from (e for e in store.entries(layout.INTENTS) if _is_older(e, now - settings.INTENT_AGE))


def _sweep(store: Store, deletions: Deletions, lock: Lock) -> None:
    for id_ in deletions.damaged:
        _check_before_step(store, deletions, lock)
        with suppress(MissingObject):  # no reader looks there, so a build with that id can be made again
            store.put(layout.damaged_name(id_), store.get(layout.record_name(id_)))
        store.delete([layout.record_name(id_)])
    for id_ in deletions.builds:
        _check_before_step(store, deletions, lock)
        store.delete([layout.record_name(id_), layout.gates_name(id_)])
    for folder, files in deletions.layers.items():
        _check_before_step(store, deletions, lock)
        store.delete([folder + INDEX_NAME])
        store.delete(file.name for file in files)
    _check_before_step(store, deletions, lock)
    forget(store, (file.name for file in deletions.strays if file.name.startswith(layout.CHANGES)))
    store.delete(file.name for file in deletions.strays)


def _check_before_step(store: Store, deletions: Deletions, lock: Lock) -> None:
    """Check that this run holds the lock, and that no build on the list became live."""
    lock.check()
    pointer, _ = read_pointer(store)
    if pointer and pointer.build in deletions.builds:
        raise GeneratorError(f"{pointer.build} became live while it was to be deleted: nothing more is deleted")


def _counted(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'s' * (len(things) != 1)}"
