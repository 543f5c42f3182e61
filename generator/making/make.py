"""Makes a build: defines the layers of a lake's build, makes the missing ones, and writes the record."""

import json
import os
import platform
import time
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import duckdb

from edge_auth.contract import layout
from edge_auth.contract.builds import FORMAT, Build
from edge_auth.contract.index import INDEX_NAME
from edge_auth.contract.layers import Layer
from edge_auth.contract.store.folder import FolderStore
from edge_auth.contract.store.interface import Store
from edge_auth.contract.text import UNICODE_VERSION
from edge_auth.errors import StoreError
from generator import settings
from generator.clock import Clock, utc_now
from generator.errors import BuildError, LakeError
from generator.lake.lake import Lake
from generator.making.context import BuildContext
from generator.making.game_coverage import games_for_record
from generator.making.layers.bulk import bulk_layer
from generator.making.layers.bulk_cards import bulk_cards_layer
from generator.making.layers.bulk_catalogue import bulk_catalogue_layer
from generator.making.layers.bulk_prices import bulk_price_layers
from generator.making.layers.bulk_watchlist import bulk_watchlist_layer
from generator.making.layers.cards import cards_layer
from generator.making.layers.catalogue import catalogue_layer
from generator.making.layers.drawings import drawings_layer
from generator.making.layers.fingerprints import fingerprints_layer
from generator.making.layers.games import games_layer
from generator.making.layers.history import history_layer
from generator.making.layers.movers import movers_layer
from generator.making.layers.sets import sets_layer
from generator.making.layers.site import make_site, site_layer
from generator.making.layers.spec import LayerSpec
from generator.making.layers.status import LAYERS_WITH_FACTS, facts, status_layer
from generator.making.layers.watchlist import watchlist_layer
from generator.making.periods import closed_periods
from generator.making.plan import BuildPlan, plan_build
from generator.making.provenance import provenance
from generator.making.runners import Runner
from generator.making.space import disk_space
from generator.making.step_times import StepTime, measured
from generator.making.thread_runner import ThreadRunner
from generator.making.unknown_products import UnknownProducts
from generator.pack.intermediate_store import IntermediateStore
from generator.pack.output import TaskOutput
from generator.pack.writer import join_index
from generator.releases.intents import declare_intent
from generator.releases.rotation import Rotation
from generator.releases.verify import damage, visible_damage
from generator.terminal.progress import Progress

MISSING = "it is not in the store"


@dataclass(frozen=True)
class BuildResult:
    """The result of `make_build`.

    Attributes:
        record: The build's record.
        made: The names of the layers that were made. The store had the others.
        damaged: For each layer that was damaged in the store, what was wrong with it.
        seconds: For each layer that was made, how long the build waited for it. Tasks of later layers may run then.
        other_bytes: For each layer that was made before with other bytes, a file of the earlier run.
        step_times: How long each step took in this process, in order.
    """

    record: dict[str, Any]
    made: list[str]
    damaged: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    other_bytes: dict[str, str] = field(default_factory=dict)
    step_times: list[StepTime] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The id of the build."""
        id_: str = self.record["id"]
        return id_


def define_layers(context: BuildContext) -> list[LayerSpec]:
    """Return the layers of a build of the context's lake, in the order in which they are made.

    Raises:
        LakeError: The products break a rule, or a file of prices cannot be read.
    """
    lake = context.lake
    catalogue, watchlist = catalogue_layer(lake), watchlist_layer(lake)
    bulk = [
        *bulk_price_layers(lake, UnknownProducts(context)),
        bulk_catalogue_layer(lake),
        bulk_cards_layer(catalogue),
        bulk_watchlist_layer(lake),
    ]
    layers = [
        *(history_layer(lake, period) for period in closed_periods(lake)),
        catalogue,
        cards_layer(lake),
        sets_layer(lake),
        games_layer(catalogue),
        movers_layer(lake),
        watchlist,
        fingerprints_layer(lake),
        status_layer(catalogue, watchlist),
        *bulk,
        bulk_layer(bulk),
        drawings_layer(lake),
    ]
    return [*layers, site_layer(lake.as_of, layers)]


def make_build(
    lake: Lake,
    store: Store,
    *,
    threads: int | None,
    memory: str | None,
    progress: Progress,
    repair: bool = False,
    scheduler: str | None = None,
    rotation: Rotation | None = None,
    clock: Clock = utc_now,
) -> BuildResult:
    """Make the layers of a lake's build that the store lacks, and write the build's record.

    If the process is killed, readers see nothing of the build, and the next run continues.

    Args:
        threads: Threads of this process, or of each worker. None for the default.
        memory: What DuckDB may use before it spills to disk, in this process or in each worker. None for the default.
        scheduler: The address of a Dask scheduler whose workers do the tasks, or `local:N`. None for threads.
        repair: Read every object of the layers that the store has, instead of only listing them.
        rotation: Read some of these layers, and make them again if they are damaged.

    Raises:
        LakeError: The lake breaks a rule.
        DamageError: A layer that others are made from is damaged in a way that only `repair` finds.
        SpaceError: The disk of the store, or of temporary files, has too little room.
        StoreError: The store failed.
    """
    threads = threads or (1 if scheduler else os.cpu_count() or 1)
    memory = memory or (settings.WORKER_MEMORY if scheduler else settings.MEMORY)
    with closing(local_context(lake, store, threads, memory, resend=repair)) as context:
        with measured(context.step_times, "define layers"):
            layers = define_layers(context)
        id_ = build_id(lake, layers)
        with declare_intent(store, id_, (layer.folder for layer in layers), clock):
            reasons = {layer.name: rebuild_reason(context.layer(layer.name, layer.digest), repair) for layer in layers}
            present = [context.layer(spec.name, spec.digest) for spec in layers if not reasons[spec.name]]
            unreadable = rotation.damaged(present) if rotation else {}
            reasons |= unreadable
            missing = [name for name, reason in reasons.items() if reason]
            context.uploads.resend |= bool(unreadable)
            with disk_space(store, [layer for layer in layers if layer.name in missing]):
                plan = plan_build(id_, lake, layers, missing, context)
                with _runner(scheduler, context, plan) as runner:
                    seconds, other_bytes = _make_layers(plan, missing, context, runner, progress)
            with measured(context.step_times, "record"):
                record = _record(context, layers)
                record["games"] = games_for_record(Build(store, record), threads, memory)
            data = json.dumps(record, indent=1, ensure_ascii=False).encode() + b"\n"
            store.put_new(layout.record_name(id_), data)
    damaged = {name: reason for name, reason in reasons.items() if reason and reason != MISSING}
    return BuildResult(record, missing, damaged, seconds, other_bytes, context.step_times)


def plan_only(lake: Lake, store: Store, *, repair: bool = False) -> BuildPlan:
    """Return the plan that `make_build` would carry out.

    Raises:
        LakeError: The products break a rule.
        StoreError: The store cannot be read.
    """
    with closing(local_context(lake, store, 1, settings.MEMORY)) as context:
        layers = define_layers(context)
        missing = [layer.name for layer in layers if rebuild_reason(context.layer(layer.name, layer.digest), repair)]
        return plan_build(build_id(lake, layers), lake, layers, missing, context)


def local_context(lake: Lake, store: Store, threads: int, memory: str, *, resend: bool = False) -> BuildContext:
    """Return a context of this process, with its intermediate files in a temporary folder."""

    def intermediates(context: BuildContext) -> IntermediateStore:
        return IntermediateStore(FolderStore(str(context.db.scratch)), "intermediates/")

    return BuildContext(lake, store, threads, memory, intermediates, resend)


def build_id(lake: Lake, layers: list[LayerSpec]) -> str:
    """Return the id of the build of these layers."""
    return layout.build_id(lake.as_of.isoformat(), {layer.name: layer.digest for layer in layers})


def rebuild_reason(layer: Layer, repair: bool = False) -> str | None:
    """Return why a layer has to be made: MISSING, or how it is damaged. None if the store has it.

    Args:
        repair: Read every object of the layer, instead of only listing it.
    """
    if not any(True for _ in layer.store.entries(layer.folder)):
        return MISSING
    return damage(layer) if repair else visible_damage(layer)


@contextmanager
def _runner(scheduler: str | None, context: BuildContext, plan: BuildPlan) -> Iterator[Runner]:
    """Yield the runner of a plan: threads, unless there is a scheduler and something to do."""
    runner: Runner
    if scheduler is None or not plan.tasks:
        runner = ThreadRunner(context)
    else:
        try:
            from generator.making.cluster.dask_runner import DaskRunner  # Dask is an optional dependency
        except ImportError as error:
            raise BuildError("--scheduler needs Dask: pip install 'distributed>=2026.3'") from error
        runner = DaskRunner(scheduler, context, plan.build)
    clear = False  # a run that failed for another reason leaves its intermediate files to the next run
    try:
        runner.begin(plan)
        yield runner
        clear = True
    except LakeError:
        clear = True
        raise
    finally:
        runner.close(clear=clear)


def _make_layers(
    plan: BuildPlan, missing: Collection[str], context: BuildContext, runner: Runner, progress: Progress
) -> tuple[dict[str, float], dict[str, str]]:
    """Make the missing layers. Return `BuildResult.seconds` and `BuildResult.other_bytes`.

    A task that several layers share runs for the first of them, and its time counts there.
    """
    seconds, other_bytes = {}, {}
    for layer in plan.layers:
        if layer.name in missing:
            started = time.perf_counter()
            _make_layer(plan, layer, context, runner, progress)
            seconds[layer.name] = round(time.perf_counter() - started, 3)
            if other := _file_of_an_earlier_run(context.layer(layer.name, layer.digest)):
                other_bytes[layer.name] = other
                progress.say(f"{other} is of an earlier run: the same inputs gave other bytes then; please report it")
    return seconds, other_bytes


def _file_of_an_earlier_run(layer: Layer) -> str | None:
    """Return a pack or file in the folder of a new layer that the layer does not name, or None."""
    named = {file.name for file in (*layer.index.packs, *layer.index.files)} | {INDEX_NAME}
    found = (entry.name for entry in layer.store.entries(layer.folder))
    return min((name for name in found if name.removeprefix(layer.folder) not in named), default=None)


def _make_layer(plan: BuildPlan, layer: LayerSpec, context: BuildContext, runner: Runner, progress: Progress) -> None:
    tasks = plan.of(layer.name)
    with progress.bar(layer.name, sum(task.objects for task in tasks)) as bar:
        outputs = runner.results(tasks, bar.update) if tasks else [_make_site(plan, context)]
    progress.add_stored_bytes(sum(pack.size for output in outputs for pack in output.packs))
    context.lake.backend.check_unchanged()  # if the lake changed, the layer's content is not what its digest says
    context.store.put(layer.folder + INDEX_NAME, join_index(layer.pattern, outputs))
    context.forget_layer(layer.digest)


def _make_site(plan: BuildPlan, context: BuildContext) -> TaskOutput:
    with measured(context.step_times, "site"):
        output = make_site(context, plan.build, plan.layers)
        context.uploads.finish()
    return output


def _record(context: BuildContext, specs: list[LayerSpec]) -> dict[str, Any]:
    lake, store = context.lake, context.store
    layers = {spec.name: context.layer(spec.name, spec.digest) for spec in specs}
    try:
        watchlist, catalogue = (facts(layers[name]) for name in LAYERS_WITH_FACTS)
    except OSError as error:
        raise StoreError(f"{store.location}: the facts of a layer cannot be read: {error}") from error
    return {
        "format": FORMAT,
        "id": build_id(lake, specs),
        "as_of": lake.as_of.isoformat(),
        "layers": {spec.name: {"digest": spec.digest, "inputs": spec.inputs} for spec in specs},
        "objects": {name: len(layer.index) for name, layer in layers.items()},
        "bytes": {
            name: sum(file.size for file in (*layer.index.packs, *layer.index.files)) for name, layer in layers.items()
        },
        "freshness": watchlist["status"] | catalogue["status"],
        "left_out": [
            dict(zip(("table", "reason", "rows", "example"), row, strict=True))
            for layer_facts in (catalogue, watchlist)
            for row in layer_facts["left_out"]
        ],
        "provenance": provenance(lake, build_id(lake, specs)),
        "versions": {
            "cardpress": version("cardpress"),
            "duckdb": duckdb.__version__,
            "python": platform.python_version(),
            "unicode": UNICODE_VERSION,
        },
    }
