"""The layer `bulk`: `bulk.json`, the manifest of the bulk files, joined from the entries in the layers of the files."""

import json

from edge_auth.builds import layer_names, object_keys, pages
from edge_auth.builds.bulk import FILES
from generator.making.bulk_files import ENTRIES, Entry
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.output import Inputs
from generator.pack.writer import Writer, compress_objects

RECIPE = 1


def bulk_layer(parts: list[LayerSpec]) -> LayerSpec:
    """Define the layer of the manifest, which changes when a layer with bulk files does."""
    digests = {part.name: part.digest for part in parts}
    return define_layer(
        layer_names.BULK,
        one_task(layer_names.BULK, _bulk, digests, after=digests),
        recipe=RECIPE,
        sql=(),
        content={"layers": sorted(digests.values())},
    )


def _bulk(context: BuildContext, writer: Writer, inputs: Inputs, digests: dict[str, str]) -> None:
    entries: list[Entry] = []
    for layer, digest in digests.items():
        entries += json.loads(context.layers.file(inputs, layer, digest, ENTRIES).read_bytes())
    lines = [
        json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()
        for entry in sorted(entries, key=lambda entry: str(entry["name"]))
    ]
    body = b'{"%b":[\n' % FILES.encode() + pages.BETWEEN.join(lines) + b"\n]}\n"
    writer.add(compress_objects([(object_keys.BULK_KEY, body)]))
