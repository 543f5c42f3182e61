"""Explains why a build would make or keep each layer, by comparing the layers' inputs with those of another build."""

from contextlib import closing
from dataclasses import dataclass

from edge_auth.builds.builds import LayerRecord, last_build_id, open_build
from edge_auth.store.interface import Store
from generator.lake.lake import Lake
from generator.making.layer import BuildLayer
from generator.making.make import MISSING, BuildRun
from generator.making.work import BuildContext
from generator.threads import ONE_THREAD


@dataclass(frozen=True)
class LayerReason:
    layer: str
    digest: str
    make: bool
    why: str


@dataclass(frozen=True)
class Explanation:
    build: str
    base: str | None
    layers: list[LayerReason]


def explain_build(lake: Lake, store: Store, repair: bool = False) -> Explanation:
    """Explain what `make_build` would do with this lake and store, compared with the live or else the newest build."""
    with closing(BuildContext(lake, store, ONE_THREAD)) as context:
        run = BuildRun(context, repair)
        defects = run.reasons
    base = last_build_id(store) or None
    layers = open_build(store, base).record["layers"] if base else {}
    reasons = [_reason(spec, layers.get(spec.name), base, defects.get(spec.name)) for spec in run.layers]
    return Explanation(run.id, base, reasons)


def _reason(spec: BuildLayer, base_layer: LayerRecord | None, base: str | None, defect: str | None) -> LayerReason:
    difference = _difference(spec, base_layer, base)
    if defect is None:
        why = f"unchanged since {base}" if difference is None else f"already in the store; {difference}"
    elif defect == MISSING:
        why = difference or f"{base} has it, but {MISSING}"
    else:
        why = f"damaged: {defect}"
    return LayerReason(spec.name, spec.digest, defect is not None, why)


def _difference(spec: BuildLayer, base_layer: LayerRecord | None, base: str | None) -> str | None:
    if base is None:
        return "this is the first build"
    if base_layer is None:
        return f"{base} has no such layer"
    before = base_layer["inputs"]
    changed = sorted(name for name in spec.inputs.keys() | before.keys() if spec.inputs.get(name) != before.get(name))
    return f"changed since {base}: {', '.join(changed)}" if changed else None
