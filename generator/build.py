"""A build: the layers that a lake asks for, made where they are missing, and the record that ties them together."""

import json
import os
import platform
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from importlib.metadata import version

import duckdb

from edge_auth.contract import names
from edge_auth.contract.builds import FORMAT, Layer, id_of, record_name
from edge_auth.contract.store import Store
from edge_auth.contract.text import UNICODE_VERSION
from edge_auth.errors import StoreError
from generator.clock import Clock, utc_now
from generator.errors import LakeError
from generator.intents import declared
from generator.lake import Lake
from generator.layers.cards import plan_cards
from generator.layers.catalogue import plan_catalogue
from generator.layers.fingerprints import plan_fingerprints
from generator.layers.history import plan_history
from generator.layers.lists import plan_lists
from generator.layers.sets import plan_sets
from generator.layers.site import plan_site
from generator.layers.spec import LayerPlan
from generator.layers.status import facts, plan_status
from generator.layers.watchlist import plan_watchlist
from generator.packs import LayerWriter
from generator.periods import closed_periods
from generator.progress import Progress
from generator.verify import damage, visible_damage
from generator.workshop import Workshop

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


def plan_layers(lake: Lake) -> list[LayerPlan]:
    """The layers of a build of this lake, in the order in which they are made."""
    catalogue, watchlist = plan_catalogue(lake), plan_watchlist(lake)
    return [
        *(plan_history(lake, period) for period in closed_periods(lake)),
        catalogue,
        plan_lists(lake),
        plan_cards(lake),
        plan_sets(lake),
        watchlist,
        plan_fingerprints(lake),
        plan_status(catalogue, watchlist),
        plan_site(),
    ]


def make_build(
    lake: Lake,
    store: Store,
    *,
    threads: int | None,
    memory: str,
    progress: Progress,
    repair: bool = False,
    clock: Clock = utc_now,
) -> BuildResult:
    """Make what is missing of the lake's build. Killed at any moment it leaves nothing that a reader can see.

    Args:
        repair: read every layer that is there before it is used again, rather than only look at its listing.

    Raises:
        LakeError: the lake breaks a rule.
        BuildError: a layer that others are made from is damaged in a way that only `repair` looks for.
        StoreError: the store failed.
    """
    plans = plan_layers(lake)
    with declared(store, build_id(lake, plans), (plan.folder for plan in plans), clock):
        lacking = {plan.name: lack(store, plan, repair) for plan in plans}
        wanted = [name for name, why in lacking.items() if why]
        workshop = Workshop(lake, store, threads or os.cpu_count() or 1, memory, progress)
        workshop.uploads.resend = repair
        seconds = _make_all(plans, wanted, workshop)
        record = _record(lake, store, plans)
        store.put_new(record_name(record["id"]), json.dumps(record, indent=1, ensure_ascii=False).encode() + b"\n")
    damaged = {name: why for name, why in lacking.items() if why and why != MISSING}
    return BuildResult(record, wanted, damaged, seconds)


def build_id(lake: Lake, plans: list[LayerPlan]) -> str:
    """The id of the build that these layers make."""
    return id_of(lake.as_of.isoformat(), {plan.name: plan.digest for plan in plans})


def lack(store: Store, plan: LayerPlan, repair: bool = False) -> str | None:
    """Why a layer has to be made: MISSING, or how it is damaged; None where it is there and looks whole."""
    if not any(True for _ in store.entries(plan.folder)):
        return MISSING
    layer = Layer(store, plan.name, plan.digest)
    return damage(layer) if repair else visible_damage(layer)


def _make_all(plans: list[LayerPlan], wanted: Collection[str], workshop: Workshop) -> dict[str, float]:
    """Make the layers that are wanted, and say how long each took; the others are there.

    What several layers read is opened by the first that asks, and counts as its time.
    """
    seconds = {}
    try:
        for plan in plans:
            if plan.name in wanted:
                started = time.perf_counter()
                _make(plan, workshop)
                seconds[plan.name] = round(time.perf_counter() - started, 3)
            if plan.name.startswith(names.history_layer("")):
                workshop.closed[plan.name] = Layer(workshop.store, plan.name, plan.digest)
    except duckdb.Error as error:
        raise LakeError(f"lake {workshop.lake.location}: {str(error).strip().splitlines()[0]}") from error
    finally:
        workshop.close()
    return seconds


def _make(plan: LayerPlan, workshop: Workshop) -> None:
    writer = LayerWriter(workshop.uploads, plan.name, plan.folder, plan.pattern)
    plan.make(workshop, writer)
    workshop.lake.place.check_still()  # else the layer would hold other content than its name says
    writer.finish()


def _record(lake: Lake, store: Store, plans: list[LayerPlan]) -> dict:
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
