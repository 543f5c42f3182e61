"""Why a build would make a layer, or keep it: what it is made from, compared with the live build's record."""

from dataclasses import dataclass

from edge_auth.contract import layout
from edge_auth.contract.builds import open_build, read_pointer
from edge_auth.contract.store.interface import Store
from generator.build.layers.spec import LayerSpec
from generator.build.make import MISSING, build_id, define_layers, rebuild_reason
from generator.lake.lake import Lake


@dataclass(frozen=True)
class LayerReason:
    """Whether a layer would be made, and why or why not."""

    layer: str
    digest: str
    make: bool
    why: str


@dataclass(frozen=True)
class Explanation:
    """What a build would do. `base`: the build that it is compared with, the live one or else the newest, or None."""

    build: str
    base: str | None
    layers: list[LayerReason]


def explanation(lake: Lake, store: Store, repair: bool = False) -> Explanation:
    """What `make_build` would do with this lake and store.

    Raises:
        StoreError: the store, or the record of the live build, cannot be read.
    """
    plans = define_layers(lake)
    base = _base(store)
    before = open_build(store, base).record["layers"] if base else {}
    reasons = [_reason(plan, before.get(plan.name), base, rebuild_reason(store, plan, repair)) for plan in plans]
    return Explanation(build_id(lake, plans), base, reasons)


def _base(store: Store) -> str | None:
    pointer, _ = read_pointer(store)
    if pointer:
        return pointer.build
    return max(layout.build_ids(store.list(layout.BUILDS)), default=None)


def _reason(plan: LayerSpec, before: dict | None, base: str | None, lacking: str | None) -> LayerReason:
    difference = _difference(plan, before, base)
    if lacking is None:
        why = f"unchanged since {base}" if difference is None else f"made already; {difference}"
    elif lacking == MISSING:
        why = difference or f"{base} has it, but {MISSING}"
    else:
        why = f"damaged: {lacking}"
    return LayerReason(plan.name, plan.digest, lacking is not None, why)


def _difference(plan: LayerSpec, before: dict | None, base: str | None) -> str | None:
    """How what goes into a layer differs from what went into that of another build."""
    if base is None:
        return "this is the first build"
    if before is None:
        return f"{base} has no such layer"
    parts = plan.inputs.keys() | before["inputs"].keys()
    changed = sorted(part for part in parts if plan.inputs.get(part) != before["inputs"].get(part))
    return f"changed since {base}: {', '.join(changed)}" if changed else None
