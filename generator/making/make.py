"""Makes a build: defines the layers of a lake's build, makes the missing ones, and writes the record.

In a folder store the room on the disk is checked before, and given back if the disk gets full nevertheless.

The record says where the build comes from, the inputs and the code by their hashes, and depends on no machine and no
clock. The gate results are not in it, because it is written before any night judges the build. They are in
`gates/<build>.json` (`compare.run_reports`).

Raised are LakeError (the lake breaks a rule), DamageError (a layer that others are made from is damaged in a way that
only `repair` finds), SpaceError (the disk of the store, or of temporary files, has too little room) and StoreError.
"""

import hashlib
import json
import platform
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any

import duckdb

from generator import settings
from generator.clock import Clock, utc_now
from generator.compare.comparison import prices_database
from generator.database import temporary_folder_full
from generator.errors import BuildError, GeneratorError, SpaceError, is_disk_full
from generator.lake.files import GUIDE_PRICES, LakeFile, hashes_by_day
from generator.lake.lake import RECIPE_NAME, Lake
from generator.lake.words import WORDS_NAME
from generator.making.layer import PlannedLayer, Task, code_sha256, open_month, pattern_of
from generator.making.layers import define_layers
from generator.making.layers.site import make_site
from generator.making.plan import Plan
from generator.making.runners import Runner, ThreadRunner
from generator.making.work import BuildContext
from generator.pack.layer_writer import join_index
from generator.pack.verify import Rotation, checked_file, damage, stored_bytes, visible_damage
from generator.releases.locks import declare_intent
from generator.storage import layout
from generator.storage.builds import FORMAT, Build, BuildRecord, Provenance, last_record, open_build
from generator.storage.errors import Conflict, DamagedObject, StorageError, StoreError
from generator.storage.layers import FACTS, INDEX_NAME, Layer
from generator.storage.stores.interface import Store
from generator.storage.text import UNICODE_VERSION
from generator.terminal import Progress
from generator.threads import ONE_THREAD, USUAL, Resources

LAYERS_WITH_FACTS = (layout.CATALOGUE, layout.WATCHLIST, layout.IDENTIFIERS)
MISSING = "it is not in the store"


def make_record(context: BuildContext, build_id: str, layers: Sequence[PlannedLayer]) -> BuildRecord:
    """Return the record of a build whose layers the store has, as JSON values."""
    stored = {layer.name: context.layers.open(layer.name, layer.digest) for layer in layers}
    facts = _facts(context.store, stored)
    record: BuildRecord = {
        "format": FORMAT,
        "id": build_id,
        "as_of": context.lake.as_of.isoformat(),
        "layers": {layer.name: {"digest": layer.digest, "inputs": layer.inputs} for layer in layers},
        "objects": {name: len(layer.index) for name, layer in stored.items()},
        "bytes": {name: stored_bytes(layer) for name, layer in stored.items()},
        "freshness": facts[layout.WATCHLIST]["status"] | facts[layout.CATALOGUE]["status"],
        "left_out": [
            {"table": table, "reason": reason, "rows": rows, "example": example}
            for layer in LAYERS_WITH_FACTS
            for table, reason, rows, example in facts[layer]["left_out"]
        ],
        "quarantine": list(context.lake.quarantined),
        "provenance": _provenance(context.lake, build_id),
        "versions": {
            "cardpress": version("cardpress"),
            "duckdb": duckdb.__version__,
            "python": platform.python_version(),
            "unicode": UNICODE_VERSION,
        },
        "games": [],
    }
    record["games"] = _games(Build(context.store, record), context.resources)
    return record


def _facts(store: Store, layers: Mapping[str, Layer]) -> dict[str, dict[str, Any]]:
    try:
        return {name: json.loads(checked_file(layers[name], FACTS).read_bytes()) for name in LAYERS_WITH_FACTS}
    except (OSError, ValueError, KeyError) as error:
        raise DamagedObject(f"{store.location}: the facts of a layer cannot be read: {error}") from error


def _provenance(lake: Lake, build_id: str) -> Provenance:
    """Return the inputs, the code and the place of the gate results of a build, as JSON.

    The hash of a table is over the days and hashes of its files, whatever their names and order.
    """
    tables = sorted({file.table for file in lake.files})
    inputs: dict[str, Any] = {table: _table(lake, lake.files_of(table)) for table in tables}
    if lake.recipe_sha256:
        inputs[RECIPE_NAME] = {"sha256": lake.recipe_sha256}
    if lake.words_sha256:
        inputs[WORDS_NAME] = {"sha256": lake.words_sha256}
    code = {"version": version("cardpress"), "sha256": code_sha256()}
    return {"inputs": inputs, "code": code, "gates": layout.gates_name(build_id)}


def _table(lake: Lake, files: list[LakeFile]) -> dict[str, Any]:
    table = files[0].table
    found: dict[str, Any] = {
        "files": len(files),
        "bytes": sum(file.size for file in files),
        "sha256": _hash(lake.content(table)),
    }
    days = [file.day for file in files if file.day]
    if days:
        newest, month = max(days), open_month(lake.as_of)
        found |= {"first_day": str(min(days)), "last_day": str(newest)}
        found["days"] = hashes_by_day(lake.files_of(table, month.first, month.last))
        found["sha256_of_last_day"] = _hash(lake.content(table, first=newest, last=newest))
    return found


def _hash(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _games(build: Build, resources: Resources) -> list[dict[str, Any]]:
    """Return how fresh and complete the price guide of each game is, the game with most products first.

    A build with the catalogue of the last build has its games. `build/report/game_columns.sql.j2` describes a row.
    """
    catalogue, last = build.record["layers"][layout.CATALOGUE], last_record(build.store)
    if last and last["layers"][layout.CATALOGUE]["digest"] == catalogue["digest"]:
        return last["games"]
    with prices_database(build, resources) as db:
        games: list[dict[str, Any]] = db.answer("report/game_columns", columns=tuple(GUIDE_PRICES)).to_pylist()
        return games


@dataclass(frozen=True)
class BuildResult:
    """The result of `make_build`."""

    record: BuildRecord
    made: list[str]  # the names of the layers that the store lacked
    damaged: dict[str, str] = field(default_factory=dict)  # what was wrong, by layer
    seconds: dict[str, float] = field(default_factory=dict)  # that the build waited; tasks of later layers may run then

    @property
    def id(self) -> str:
        return self.record["id"]


def make_build(
    lake: Lake,
    store: Store,
    *,
    resources: Resources = USUAL,
    progress: Progress,
    repair: bool = False,
    scheduler: str | None = None,
    rotation: Rotation | None = None,
    clock: Clock = utc_now,
) -> BuildResult:
    """Make the layers of a lake's build that the store lacks, and write its record. A killed run continues in the next.

    Args:
        resources: What this process may use, or each worker.
        scheduler: The address of a Dask scheduler whose workers do the tasks, or `local:N`. None for threads.
        repair: Read every object of the layers that the store has, instead of only listing them.
        rotation: Read some of these layers, and make them again if they are damaged.
    """
    resources = resources.of_worker() if scheduler else resources
    with closing(BuildContext(lake, store, resources, resend=repair)) as context:
        run = BuildRun(context, repair, rotation)
        with declare_intent(store, run.id, (layer.folder for layer in run.layers), clock):
            with disk_space(store, run.missing), closing(context.uploads):  # or one writes after the room is given back
                run.make_missing(scheduler, progress)
            return run.write_record()


def plan_only(lake: Lake, store: Store, *, repair: bool = False) -> Plan:
    """Return the plan that `make_build` would carry out."""
    with closing(BuildContext(lake, store, ONE_THREAD)) as context:
        return BuildRun(context, repair).plan()


class BuildRun:
    """One run over the layers of a build, which makes those that the store lacks; see `make_build`."""

    def __init__(self, context: BuildContext, repair: bool = False, rotation: Rotation | None = None):
        self._context = context
        self._repair = repair
        self._rotation = rotation
        self.layers = define_layers(context)
        context.digests = {layer.name: layer.digest for layer in self.layers}
        self.id = layout.build_id(context.lake.as_of.isoformat(), context.digests)
        self._seconds: dict[str, float] = {}

    @cached_property
    def reasons(self) -> dict[str, str]:
        """For each layer that has to be made, MISSING or how it is damaged. The store is read at the first use."""
        found = {layer.name: self._reason(layer) for layer in self.layers}
        present = [self._stored(layer) for layer in self.layers if not found[layer.name]]
        unreadable = self._rotation.damaged(present) if self._rotation else {}
        if unreadable:  # damaged files have the names of the files that replace them
            self._context.uploads.resend = True
        return {name: reason for name, reason in (found | unreadable).items() if reason}

    @property
    def missing(self) -> list[PlannedLayer]:
        """The layers that have to be made."""
        return [layer for layer in self.layers if layer.name in self.reasons]

    def plan(self) -> Plan:
        """Return the plan that makes the missing layers."""
        return Plan(self._context, self.id, self.layers, self.reasons, from_stored=not self._repair)

    def make_missing(self, scheduler: str | None, progress: Progress) -> None:
        """Make the missing layers. A task that several layers share counts for the first of them."""
        plan = self.plan()
        with closing(_runner(scheduler, self._context, plan)) as runner:
            for layer in self.missing:
                started = time.perf_counter()
                self._make(layer, plan.of(layer.name), runner, progress)
                self._seconds[layer.name] = round(time.perf_counter() - started, 3)

    def write_record(self) -> BuildResult:
        """Write the record, which makes the build complete. The store must have all of its layers."""
        context = self._context
        record = make_record(context, self.id, self.layers)
        self._put_record(json.dumps(record, indent=1, ensure_ascii=False).encode() + b"\n")
        damaged = {name: reason for name, reason in self.reasons.items() if reason != MISSING}
        return BuildResult(record, list(self.reasons), damaged, self._seconds)

    def _put_record(self, data: bytes) -> None:
        """Write the record, after the layers that it names are on the disk. A record that is damaged is replaced."""
        store, name = self._context.store, layout.record_name(self.id)
        store.sync()
        try:
            store.swap(name, data, None)
        except Conflict:
            try:
                open_build(store, self.id)
            except StoreError:
                found = store.get_versioned(name)
                store.swap(name, data, found.etag if found else None)

    def _stored(self, layer: PlannedLayer) -> Layer:
        return self._context.layers.open(layer.name, layer.digest)

    def _reason(self, layer: PlannedLayer) -> str | None:
        """Return why a layer has to be made, or None if the store has it."""
        if not any(True for _ in self._context.store.entries(layer.folder)):
            return MISSING
        return damage(self._stored(layer)) if self._repair else visible_damage(self._stored(layer))

    def _make(self, layer: PlannedLayer, tasks: list[Task], runner: Runner, progress: Progress) -> None:
        context = self._context
        with progress.bar(layer.name, sum(task.objects for task in tasks)) as bar:
            outputs = runner.results(tasks, bar.update) if tasks else [make_site(context, self.id)]
        progress.add_stored_bytes(sum(pack.size for output in outputs for pack in output.packs))
        context.store.put(layer.folder + INDEX_NAME, join_index(pattern_of(layer.name), outputs))
        context.layers.forget(layer.digest)


def _runner(scheduler: str | None, context: BuildContext, plan: Plan) -> Runner:
    if scheduler is None or not plan.tasks:
        return ThreadRunner(context, plan.tasks)
    try:
        from generator.making.cluster import DaskRunner  # Dask is an optional dependency
    except ImportError as error:
        raise BuildError("--scheduler needs Dask: pip install 'distributed>=2026.3'") from error
    return DaskRunner(scheduler, context, plan)


@contextmanager
def disk_space(store: Store, missing: list[PlannedLayer]) -> Iterator[None]:
    """Check that there is room for layers. If a disk gets full in the `with` block, delete what was written of them."""
    _check_room(store, missing)
    try:
        yield
    except (GeneratorError, StorageError, OSError) as error:
        if isinstance(error, SpaceError) or is_disk_full(error):
            _discard_unfinished(store, missing)
        if isinstance(error, SpaceError) or not is_disk_full(error):
            raise
        raise SpaceError(_full_message(store, error)) from error


def _check_room(store: Store, missing: list[PlannedLayer]) -> None:
    """Check that a folder has room for layers of the size that they had in the last build."""
    folder = store.local_path("")
    if folder is None or not missing or not folder.is_dir():
        return
    last = last_record(store)
    sizes = last["bytes"] if last else {}
    present = sum(file.size for layer in missing for file in store.entries(layer.folder))
    need = int(sum(sizes.get(layer.name, 0) for layer in missing) * settings.GROWTH_OF_A_BUILD) - present
    free = shutil.disk_usage(folder).free
    if need > 0 and free < need + settings.RESERVE_BYTES:
        raise SpaceError(
            f"{store.location} has {free / 1e6:,.1f} MB free, but this build needs about {need / 1e6:,.1f} MB, "
            f"as the last one did, and {settings.RESERVE_BYTES / 1e6:,.1f} MB must stay free: "
            "free some space, or `cardpress prune --keep N`"
        )


def _discard_unfinished(store: Store, specs: list[PlannedLayer]) -> None:
    """Delete the files of layers that have no index yet. No reader sees them, and they fill the disk."""
    for spec in specs:
        names = [entry.name for entry in store.entries(spec.folder)]
        if spec.folder + INDEX_NAME not in names:
            store.delete(names)


def _full_message(store: Store, error: BaseException) -> str:
    temporary = tempfile.gettempdir()
    if temporary in str(error) and temporary not in store.location:
        return str(temporary_folder_full())
    return (
        f"{store.location} is full; the unfinished layers were deleted: free some space, or `cardpress prune --keep N`"
    )
