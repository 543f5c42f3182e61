"""The layer `status`: `status.json`, joined from the facts that the layers `catalogue` and `watchlist` store."""

import json
from typing import Any

from edge_auth.builds import layer_names, object_keys
from edge_auth.builds.layers import FACTS, Layer
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.verify import checked_file
from generator.pack.writer import Inputs, Writer, compress_objects

RECIPE = 1
# One task makes each of them, under the layer's name.
LAYERS_WITH_FACTS = (layer_names.WATCHLIST, layer_names.CATALOGUE)


def status_layer(catalogue: LayerSpec, watchlist: LayerSpec) -> LayerSpec:
    """Define the layer of the status object, which changes when one of the two layers does."""
    digests = {layer.name: layer.digest for layer in (watchlist, catalogue)}
    return define_layer(
        layer_names.STATUS,
        one_task(layer_names.STATUS, _status, digests, after=digests),
        recipe=RECIPE,
        sql=(),
        content={"layers": [catalogue.digest, watchlist.digest]},
    )


def _status(context: BuildContext, writer: Writer, inputs: Inputs, digests: dict[str, str]) -> None:
    status: dict[str, Any] = {}
    for name in LAYERS_WITH_FACTS:
        status |= json.loads(context.layers.file(inputs, name, digests[name], FACTS).read_bytes())["status"]
    text = json.dumps(status, ensure_ascii=False, separators=(",", ":"))
    writer.add(compress_objects([(object_keys.STATUS_KEY, text.encode() + b"\n")]))


def facts(layer: Layer) -> dict[str, Any]:
    """Return the facts of a layer: `left_out`, counts of left-out rows, and `status`, its part of the status object."""
    parsed: dict[str, Any] = json.loads(checked_file(layer, FACTS).read_bytes())
    return parsed
