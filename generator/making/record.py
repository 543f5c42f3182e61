"""The record of a build: its layers with their inputs and sizes, where it comes from, and how fresh its data is."""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import duckdb

from edge_auth.builds import layer_names
from edge_auth.builds.builds import FORMAT, Build
from edge_auth.builds.layers import Layer
from edge_auth.builds.record import BuildRecord
from edge_auth.errors import DamagedObject
from edge_auth.text import UNICODE_VERSION
from generator.making.context import BuildContext
from generator.making.game_coverage import games_for_record
from generator.making.layers.spec import LayerSpec
from generator.making.layers.status import LAYERS_WITH_FACTS, facts
from generator.making.provenance import provenance


def make_record(context: BuildContext, build_id: str, specs: Sequence[LayerSpec]) -> BuildRecord:
    """Return the record of a build as JSON values.

    Args:
        specs: All layers of the build. The store has them.

    Raises:
        StoreError: A layer cannot be read.
    """
    layers = {spec.name: context.layers.open(spec.name, spec.digest) for spec in specs}
    known = _facts(context, layers)
    record: BuildRecord = {
        "format": FORMAT,
        "id": build_id,
        "as_of": context.lake.as_of.isoformat(),
        "layers": {spec.name: {"digest": spec.digest, "inputs": spec.inputs} for spec in specs},
        "objects": {name: len(layer.index) for name, layer in layers.items()},
        "bytes": {name: _bytes(layer) for name, layer in layers.items()},
        "freshness": known["freshness"],
        "left_out": known["left_out"],
        "quarantine": [
            {name: value for name, value in file._asdict().items() if value is not None}
            for file in context.lake.quarantined
        ],
        "provenance": provenance(context.lake, build_id),
        "versions": {
            "cardpress": version("cardpress"),
            "duckdb": duckdb.__version__,
            "python": platform.python_version(),
            "unicode": UNICODE_VERSION,
        },
    }
    record["games"] = games_for_record(Build(context.store, record), context.threads, context.memory)
    return record


def _bytes(layer: Layer) -> int:
    return sum(file.size for file in (*layer.index.packs, *layer.index.files))


def _facts(context: BuildContext, layers: Mapping[str, Layer]) -> dict[str, Any]:
    """Return how fresh the data is, and how many rows were left out."""
    try:
        watchlist, catalogue = (facts(layers[name]) for name in LAYERS_WITH_FACTS)
        identifiers = facts(layers[layer_names.IDENTIFIERS])
    except (OSError, ValueError, KeyError) as error:
        raise DamagedObject(f"{context.store.location}: the facts of a layer cannot be read: {error}") from error
    return {
        "freshness": watchlist["status"] | catalogue["status"],
        "left_out": [
            dict(zip(("table", "reason", "rows", "example"), row, strict=True))
            for layer_facts in (catalogue, watchlist, identifiers)
            for row in layer_facts["left_out"]
        ],
    }
