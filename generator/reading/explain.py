"""Explains why a build would make or keep each layer, by comparing the layers' inputs with those of another build."""

from contextlib import closing
from typing import Any

from generator.lake.lake import Lake
from generator.making.layer import PlannedLayer
from generator.making.make import MISSING, BuildRun
from generator.making.work import BuildContext
from generator.storage.builds import RecordedLayer, last_build_id, open_build
from generator.storage.stores.interface import Store
from generator.threads import ONE_THREAD


def explain_build(lake: Lake, store: Store, repair: bool = False) -> dict[str, Any]:
    """Explain what `make_build` would do with this lake and store, compared with the live or else the newest build.

    `layers` has of each layer its name, its digest, whether it would be made and why.
    """
    with closing(BuildContext(lake, store, ONE_THREAD)) as context:
        run = BuildRun(context, repair)
        defects = run.reasons
    base = last_build_id(store) or None
    layers = open_build(store, base).record["layers"] if base else {}
    reasons = [
        {"layer": spec.name, "digest": spec.digest, "make": spec.name in defects,
         "why": _why(_difference(spec, layers.get(spec.name), base), base, defects.get(spec.name))}
        for spec in run.layers
    ]  # fmt: skip
    return {"build": run.id, "base": base, "layers": reasons}


def _why(difference: str | None, base: str | None, defect: str | None) -> str:
    if defect is None:
        return f"unchanged since {base}" if difference is None else f"already in the store; {difference}"
    return (difference or f"{base} has it, but {MISSING}") if defect == MISSING else f"damaged: {defect}"


def _difference(spec: PlannedLayer, base_layer: RecordedLayer | None, base: str | None) -> str | None:
    if base is None:
        return "this is the first build"
    if base_layer is None:
        return f"{base} has no such layer"
    before = base_layer["inputs"]
    changed = sorted(name for name in spec.inputs.keys() | before.keys() if spec.inputs.get(name) != before.get(name))
    return f"changed since {base}: {', '.join(changed)}" if changed else None
