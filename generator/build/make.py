"""A build: the layers that a lake asks for, made where they are missing, and the record that ties them together."""

import json
import os
import platform
import time
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version

import duckdb

from edge_auth.contract import layout, names
from edge_auth.contract.builds import FORMAT, Layer
from edge_auth.contract.index import INDEX_NAME
from edge_auth.contract.store.folder import FolderStore
from edge_auth.contract.store.interface import Store
from edge_auth.contract.text import UNICODE_VERSION
from edge_auth.errors import StoreError
from generator import settings
from generator.build.context import BuildContext
from generator.build.layers.cards import cards_layer
from generator.build.layers.catalogue import catalogue_layer
from generator.build.layers.fingerprints import fingerprints_layer
from generator.build.layers.history import history_layer
from generator.build.layers.lists import lists_layer
from generator.build.layers.sets import sets_layer
from generator.build.layers.site import site_layer
from generator.build.layers.spec import LayerSpec
from generator.build.layers.status import facts, status_layer
from generator.build.layers.watchlist import watchlist_layer
from generator.build.periods import closed_periods
from generator.build.plan import BuildPlan, plan_build
from generator.build.runners import Runner, ThreadRunner
from generator.clock import Clock, utc_now
from generator.errors import BuildError, LakeError
from generator.lake.lake import Lake
from generator.pack.intermediate_store import IntermediateStore
from generator.pack.writer import index_of
from generator.progress import Progress
from generator.releases.intents import declare_intent
from generator.releases.verify import damage, visible_damage

MISSING = "it is not in the store"


@dataclass(frozen=True)
class BuildResult:
    """What `make_build` did.

    Attributes:
        record: the build's record, as it stands in the store.
        made: names of the layers that had to be made; the others were there.
        damaged: of those that were there and damaged, what was wrong.
        seconds: how long each layer took that was made.
    """

    record: dict
    made: list[str]
    damaged: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.record["id"]


def define_layers(lake: Lake) -> list[LayerSpec]:
    """The layers of a build of this lake, in the order in which they are made."""
    catalogue, watchlist = catalogue_layer(lake), watchlist_layer(lake)
    return [
        *(history_layer(lake, period) for period in closed_periods(lake)),
        catalogue,
        lists_layer(lake),
        cards_layer(lake),
        sets_layer(lake),
        watchlist,
        fingerprints_layer(lake),
        status_layer(catalogue, watchlist),
        site_layer(),
    ]


def make_build(
    lake: Lake,
    store: Store,
    *,
    threads: int | None,
    memory: str | None,
    progress: Progress,
    repair: bool = False,
    scheduler: str | None = None,
    clock: Clock = utc_now,
) -> BuildResult:
    """Make what is missing of the lake's build. Killed at any moment it leaves nothing that a reader can see.

    Args:
        threads, memory: of this process, or of each worker; None for the defaults.
        scheduler: address of the Dask scheduler whose workers do the tasks, or `local:N`; None for our own threads.
        repair: read every layer that is there before it is used again, rather than only look at its listing.

    Raises:
        LakeError: the lake breaks a rule.
        BuildError: a layer that others are made from is damaged in a way that only `repair` looks for.
        StoreError: the store failed.
    """
    layers = define_layers(lake)
    id_ = build_id(lake, layers)
    with declare_intent(store, id_, (layer.folder for layer in layers), clock):
        lacking = {layer.name: lack(store, layer, repair) for layer in layers}
        wanted = [name for name, why in lacking.items() if why]
        threads = threads or (1 if scheduler else os.cpu_count() or 1)
        memory = memory or (settings.WORKER_MEMORY if scheduler else settings.MEMORY)
        context = local_context(lake, store, threads, memory, resend=repair)
        with closing(context):
            plan = plan_build(id_, lake, layers, wanted, context)
            with _runner(scheduler, context, plan) as runner:
                seconds = _make_all(plan, wanted, context, runner, progress)
        record = _record(lake, store, layers)
        store.put_new(
            layout.record_name(record["id"]), json.dumps(record, indent=1, ensure_ascii=False).encode() + b"\n"
        )
    damaged = {name: why for name, why in lacking.items() if why and why != MISSING}
    return BuildResult(record, wanted, damaged, seconds)


def planned(lake: Lake, store: Store, *, repair: bool = False) -> BuildPlan:
    """What `make_build` would do with this lake and store.

    Raises:
        LakeError: the products break a rule.
        StoreError: the store cannot be read.
    """
    layers = define_layers(lake)
    wanted = [layer.name for layer in layers if lack(store, layer, repair)]
    with closing(local_context(lake, store, 1, settings.MEMORY)) as context:
        return plan_build(build_id(lake, layers), lake, layers, wanted, context)


def local_context(lake: Lake, store: Store, threads: int, memory: str, *, resend: bool = False) -> BuildContext:
    """A context of this process, with its parts in a folder of its own."""

    def scratch(context: BuildContext) -> IntermediateStore:
        return IntermediateStore(FolderStore(str(context.db.scratch)), "parts/")

    return BuildContext(lake, store, threads, memory, scratch, resend)


def build_id(lake: Lake, plans: list[LayerSpec]) -> str:
    """The id of the build that these layers make."""
    return layout.build_id(lake.as_of.isoformat(), {plan.name: plan.digest for plan in plans})


def lack(store: Store, plan: LayerSpec, repair: bool = False) -> str | None:
    """Why a layer has to be made: MISSING, or how it is damaged; None where it is there and looks whole."""
    if not any(True for _ in store.entries(plan.folder)):
        return MISSING
    layer = Layer(store, plan.name, plan.digest)
    return damage(layer) if repair else visible_damage(layer)


@contextmanager
def _runner(scheduler: str | None, context: BuildContext, plan: BuildPlan) -> Iterator[Runner]:
    """Who does the tasks of a plan; nobody is sent for where there are none."""
    if scheduler is None or not plan.tasks:
        runner = ThreadRunner(context)
    else:
        try:
            from generator.build.cluster.dask_runner import DaskRunner  # Dask is an extra
        except ImportError as error:
            raise BuildError("--scheduler needs Dask: pip install 'cardpress[dask]'") from error
        runner = DaskRunner(scheduler, context, plan.build)
    useless = False
    try:
        runner.begin(plan)
        yield runner
        useless = True
    except LakeError:
        useless = True
        raise
    finally:
        runner.close(clear=useless)


def _make_all(
    plan: BuildPlan, wanted: Collection[str], context: BuildContext, runner: Runner, progress: Progress
) -> dict[str, float]:
    """Make the layers that are wanted, and say how many seconds each took; the others are there.

    What several layers read is made by the first that asks, and counts as its time.
    """
    seconds = {}
    for layer in plan.layers:
        if layer.name in wanted:
            started = time.perf_counter()
            _make(plan, layer, context, runner, progress)
            seconds[layer.name] = round(time.perf_counter() - started, 3)
    return seconds


def _make(plan: BuildPlan, layer: LayerSpec, context: BuildContext, runner: Runner, progress: Progress) -> None:
    tasks = plan.of(layer.name)
    with progress.bar(layer.name, sum(task.objects for task in tasks)) as bar:
        made = runner.results(tasks, bar.update)
    runner.settle()
    progress.add_stored_bytes(sum(pack.size for part in made for pack in part.packs))
    context.lake.place.check_still()  # else the layer would hold other content than its name says
    context.store.put(layer.folder + INDEX_NAME, index_of(layer.pattern, made))


def _record(lake: Lake, store: Store, plans: list[LayerSpec]) -> dict:
    layers = {plan.name: Layer(store, plan.name, plan.digest) for plan in plans}
    try:
        kept = [facts(layers[name]) for name in (names.CATALOGUE, names.WATCHLIST)]
    except OSError as error:
        raise StoreError(f"{store.location}: the facts of a layer cannot be read: {error}") from error
    return {
        "format": FORMAT,
        "id": build_id(lake, plans),
        "as_of": lake.as_of.isoformat(),
        "layers": {plan.name: {"digest": plan.digest, "inputs": plan.inputs} for plan in plans},
        "objects": {name: len(layer.index) for name, layer in layers.items()},
        "bytes": {
            name: sum(f.size for f in (*layer.index.packs, *layer.index.files)) for name, layer in layers.items()
        },
        "freshness": kept[1]["status"] | kept[0]["status"],
        "left_out": [
            dict(zip(("table", "reason", "rows", "example"), row, strict=True))
            for part in kept
            for row in part["left_out"]
        ],
        "versions": {
            "cardpress": version("cardpress"),
            "duckdb": duckdb.__version__,
            "python": platform.python_version(),
            "unicode": UNICODE_VERSION,
        },
    }
