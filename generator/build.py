"""A build: the layers that a lake asks for, made where they are missing, and the record that ties them together."""

import json
import os
import platform
from dataclasses import dataclass
from importlib.metadata import version

import duckdb

from edge_auth.contract import names
from edge_auth.contract.builds import FORMAT, Layer, id_of, record_name
from edge_auth.contract.index import INDEX_NAME
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
from generator.workshop import Workshop


@dataclass(frozen=True)
class BuildResult:
    """What `make_build` did.

    Attributes:
        record: the build's record, as it stands in the store.
        made: names of the layers that had to be made; the others were there.
    """

    record: dict
    made: list[str]

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
    lake: Lake, store: Store, *, threads: int | None, memory: str, progress: Progress, clock: Clock = utc_now
) -> BuildResult:
    """Make what is missing of the lake's build. Killed at any moment it leaves nothing that a reader can see.

    Raises:
        LakeError: the lake breaks a rule.
        StoreError: the store failed.
    """
    plans = plan_layers(lake)
    with declared(store, build_id(lake, plans), (plan.folder for plan in plans), clock):
        made = _make_missing(plans, Workshop(lake, store, threads or os.cpu_count() or 1, memory, progress))
        record = _record(lake, store, plans)
        store.put_new(record_name(record["id"]), json.dumps(record, indent=1, ensure_ascii=False).encode() + b"\n")
    return BuildResult(record, made)


def build_id(lake: Lake, plans: list[LayerPlan]) -> str:
    """The id of the build that these layers make."""
    return id_of(lake.as_of.isoformat(), {plan.name: plan.digest for plan in plans})


def _make_missing(plans: list[LayerPlan], workshop: Workshop) -> list[str]:
    """Make the layers that are not there; their names."""
    made = []
    store = workshop.store
    try:
        for plan in plans:
            if store.stat(plan.folder + INDEX_NAME) is None:
                _make(plan, workshop)
                made.append(plan.name)
            if plan.name.startswith(names.history_layer("")):
                workshop.closed[plan.name] = Layer(store, plan.name, plan.digest)
    except duckdb.Error as error:
        raise LakeError(f"lake {workshop.lake.location}: {str(error).strip().splitlines()[0]}") from error
    finally:
        workshop.close()
    return made


def _make(plan: LayerPlan, workshop: Workshop) -> None:
    writer = LayerWriter(workshop.uploads, plan.name, plan.folder, plan.pattern)
    plan.make(workshop, writer)
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
