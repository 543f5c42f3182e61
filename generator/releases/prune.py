"""Deleting what no kept build needs: mark, wait, sweep.

A deletions is made from listings of the store. It is written down as a mark (`intents` says how that keeps builders and
publishers off), made again from fresh listings, and what stands in both is deleted: records of builds first, so that
nobody opens them; of each layer the index first, so that it is not there rather than torn. A prune that is killed
leaves objects that nothing names, which the next one finds in the listings.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from edge_auth.contract import layout
from edge_auth.contract.builds import Layer, Pointer, open_build, read_pointer
from edge_auth.contract.index import INDEX_NAME
from edge_auth.contract.store.interface import Listed, Store
from edge_auth.errors import StoreError
from generator import settings
from generator.clock import Clock, moment, timestamp, unix, utc_now
from generator.errors import PruneError
from generator.releases.intents import Intended, intended
from generator.releases.lease import Lease


@dataclass(frozen=True)
class Rules:
    """What is kept.

    Attributes:
        keep: how many builds: the live one, then those that a rollback reaches, then the newest others.
        grace: builds that were live this recently, and anything younger, are kept as well.
    """

    keep: int = settings.KEPT_BUILDS
    grace: timedelta = timedelta(hours=settings.GRACE_HOURS)


@dataclass
class Deletions:
    """What to delete: builds by id, layers by folder with their files, and single objects."""

    kept: list[str] = field(default_factory=list)
    builds: list[str] = field(default_factory=list)
    layers: dict[str, list[Listed]] = field(default_factory=dict)
    strays: list[Listed] = field(default_factory=list)

    @property
    def doomed(self) -> set[str]:
        """Builds and folders that nobody may begin to use."""
        return {*self.builds, *self.layers}

    @property
    def bytes(self) -> int:
        return sum(file.size for files in (*self.layers.values(), self.strays) for file in files)

    @property
    def empty(self) -> bool:
        return not (self.builds or self.layers or self.strays)

    def both(self, other: "Deletions") -> "Deletions":
        """What stands in both plans, as the other one listed it."""
        strays = {file.name for file in self.strays}
        return Deletions(
            other.kept,
            [build for build in other.builds if build in self.builds],
            {folder: files for folder, files in other.layers.items() if folder in self.layers},
            [file for file in other.strays if file.name in strays],
        )

    def summary(self) -> dict:
        """The deletions in counts, for people and programs."""
        files = sum(map(len, self.layers.values()))
        return {
            "kept": self.kept,
            "builds": self.builds,
            "layers": sorted(self.layers),
            "strays": [file.name for file in self.strays],
            "files": files + len(self.strays) + len(self.builds),
            "bytes": self.bytes,
        }


def prune(
    store: Store,
    rules: Rules,
    *,
    run: str | None = None,
    clock: Clock = utc_now,
    wait: Callable[[float], object] = time.sleep,
    seconds: float = settings.LEASE_SECONDS,
) -> Deletions:
    """Delete what no kept build needs; what was deleted.

    Args:
        run: who we are, in the lock.
        wait: passes the time between marking and sweeping.
        seconds: how long the lock outlives its last renewal.

    Raises:
        BusyError: another prune is at work.
        PruneError: a build that was to go became live in spite of the mark.
        StoreError: the store failed; nothing that a kept build needs was touched.
    """
    first = find_deletions(store, rules, clock)
    if first.empty:
        return first
    run = run or secrets.token_hex(4)
    with Lease(store, layout.PRUNE_LOCK, what="prune", run=run, clock=clock, seconds=seconds) as lease:
        lease.note(doomed=sorted(first.doomed))
        wait(settings.PRUNE_WAIT_SECONDS)
        deletions = first.both(find_deletions(store, rules, clock))
        lease.note(doomed=sorted(deletions.doomed))
        _sweep(store, deletions, lease)
    return deletions


def find_deletions(store: Store, rules: Rules, clock: Clock) -> Deletions:
    """What `prune` would delete now.

    Raises:
        StoreError: the record of a kept build cannot be read.
    """
    # Intents first: what leaves them before the next listing is a build's record or the pointer by then.
    meant = intended(store, clock, settings.INTENT_AGE)
    pointer, _ = read_pointer(store)
    old = clock() - rules.grace
    records = {layout.id_of(entry.name): entry for entry in store.entries(layout.BUILDS)}
    keep = _kept(store, pointer, records, rules, old, meant)
    kept = [id_ for id_ in _order(pointer, records) if id_ in keep]
    needed = {layer.folder for id_ in kept for layer in open_build(store, id_).layers.values()} | meant.folders
    deletions = Deletions(kept, builds=[id_ for id_ in records if id_ not in kept])
    for folder, files in _folders(store.entries(layout.LAYERS)):
        if folder in needed:
            deletions.strays += _strays(store, folder, files, old) if folder not in meant.folders else []
        elif all(unix(file.modified) <= old for file in files):
            deletions.layers[folder] = files
    deletions.strays += _notes_of_gone(store, records.keys() - {*deletions.builds}, old)
    deletions.strays += _given_up(store, clock(), rules.grace, meant)
    return deletions


def _order(pointer: Pointer | None, records: Iterable[str]) -> list[str]:
    """Builds by how dear they are: live, where a rollback goes, the others from the newest day on."""
    dear = [pointer.build, *pointer.previous] if pointer else []
    return list(dict.fromkeys(id_ for id_ in (*dear, *sorted(records, reverse=True)) if id_ in records))


def _kept(
    store: Store,
    pointer: Pointer | None,
    records: dict[str, Listed],
    rules: Rules,
    old: datetime,
    meant: Intended,
) -> set[str]:
    kept = {*_order(pointer, records)[: rules.keep], *meant.builds}
    kept |= {id_ for id_, entry in records.items() if unix(entry.modified) > old}
    if pointer:
        back = [id_ for id_ in pointer.previous if id_ in records]
        kept |= {pointer.build, *back[:1]}  # a rollback always has somewhere to go
        kept |= {id_ for id_ in (*pointer.previous, *pointer.ended) if _ended(store, pointer, id_) > old}
    return kept & records.keys()


def _ended(store: Store, pointer: Pointer, id_: str) -> datetime:
    """When a build ceased to be live; by a pointer that does not say, no later than the pointer was written."""
    if id_ in pointer.ended:
        return moment(pointer.ended[id_])
    return max((unix(entry.modified) for entry in store.entries(layout.POINTER)), default=unix(0))


def _folders(files: Iterable[Listed]) -> Iterator[tuple[str, list[Listed]]]:
    """Files of layers by their layer's folder."""
    folders: dict[str, list[Listed]] = {}
    for file in files:
        folders.setdefault(layout.layer_folder_of(file.name), []).append(file)
    yield from folders.items()


def _strays(store: Store, folder: str, files: list[Listed], old: datetime) -> list[Listed]:
    """Packs of a kept layer that its index does not name; none while the index is young or cannot be read."""
    if any(file.name == folder + INDEX_NAME and unix(file.modified) > old for file in files):
        return []  # somebody may still read by the index before it
    name, digest = layout.layer_of_folder(folder)
    try:
        index = Layer(store, name, digest).index
    except StoreError:
        return []
    named = {folder + file.name for file in (*index.packs, *index.files)} | {folder + INDEX_NAME}
    return [file for file in files if file.name not in named and unix(file.modified) <= old]


def _notes_of_gone(store: Store, builds: Iterable[str], old: datetime) -> list[Listed]:
    """What was noted about builds that are no longer there."""
    builds = set(builds)
    return [e for e in store.entries(layout.GATES) if layout.id_of(e.name) not in builds and unix(e.modified) <= old]


def _given_up(store: Store, now: datetime, grace: timedelta, meant: Intended) -> list[Listed]:
    """Half-written files, parts and intents of runs that were killed."""
    old = now - max(grace, settings.LEFTOVER_AGE)
    half = [e for e in store.leftovers() if unix(e.modified) <= old and not e.name.startswith(tuple(meant.folders))]
    parts = [
        e for e in store.entries(layout.WORK) if unix(e.modified) <= old and e.name.split("/")[1] not in meant.builds
    ]
    return half + parts + [e for e in store.entries(layout.INTENTS) if unix(e.modified) <= now - settings.INTENT_AGE]


def _sweep(store: Store, deletions: Deletions, lease: Lease) -> None:
    for id_ in deletions.builds:
        _look(store, deletions, lease)
        store.delete([layout.record_name(id_), layout.gates_name(id_)])
    for folder, files in deletions.layers.items():
        _look(store, deletions, lease)
        store.delete([folder + INDEX_NAME])
        store.delete(file.name for file in files)
    _look(store, deletions, lease)
    store.delete(file.name for file in deletions.strays)


def _look(store: Store, deletions: Deletions, lease: Lease) -> None:
    """Before every step: the lock is ours, and nothing that goes has become live.

    Those who publish wait for the mark; an older version of this program may not know it.
    """
    lease.check()
    pointer, _ = read_pointer(store)
    if pointer and pointer.build in deletions.builds:
        raise PruneError(f"{pointer.build} became live while it was to be deleted: nothing more is deleted")


def describe(deletions: Deletions) -> str:
    """A deletions or its result in one line."""
    if deletions.empty:
        return f"nothing to delete; {len(deletions.kept)} builds kept"
    counts = f"{len(deletions.builds)} builds, {len(deletions.layers)} layers, {len(deletions.strays)} single files"
    return f"{counts}, {deletions.bytes / 1e6:,.1f} MB; {len(deletions.kept)} builds kept"


def to_json(deletions: Deletions, now: datetime) -> str:
    """A deletions or its result for programs."""
    return json.dumps({"at": timestamp(now)} | deletions.summary())
