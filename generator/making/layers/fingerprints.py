"""The layer `fingerprints`: `fingerprints.json`, the index of reference images as one object."""

import json

from edge_auth.builds import layer_names, object_keys, pages
from generator.lake.lake import Lake
from generator.making.arrow_text import text_buffer
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.output import Inputs
from generator.pack.writer import Writer, compress_objects

RECIPE = 1
_NO_RECIPE = {"version": "none", "image_url": "{key}"}


def fingerprints_layer(lake: Lake) -> LayerSpec:
    """Define the layer of the fingerprint index."""
    return define_layer(
        layer_names.FINGERPRINTS,
        one_task(layer_names.FINGERPRINTS, _fingerprints),
        recipe=RECIPE,
        sql=("sources/fingerprints", "views/fingerprint_entries"),
        content={"fingerprints": lake.content("fingerprints"), "fingerprint recipe": [lake.recipe_sha256]},
        constants=(pages.BETWEEN,),
    )


def _fingerprints(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.tables.open_fingerprints()
    context.db.run("views/fingerprint_entries")
    entries = context.db.table("select json || ',\n' as line from fingerprint_entries order by key")
    recipe = context.lake.recipe or _NO_RECIPE
    head = {"version": recipe["version"], "count": len(entries), "image_url": recipe["image_url"]}
    buffer, starts = text_buffer(entries["line"])
    opening = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"entries":[\n'
    body = opening.encode() + bytes(buffer[: max(0, starts[-1] - len(pages.BETWEEN))]) + b"\n]}\n"
    writer.add(compress_objects([(object_keys.FINGERPRINTS_KEY, body)]))
