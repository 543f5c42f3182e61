"""The layer fingerprints: `fingerprints.json`, the index of reference images in one object."""

import json

from edge_auth.contract import names, pages
from generator.build.arrow_text import text_buffer
from generator.build.context import BuildContext
from generator.build.layers.spec import LayerSpec, define_layer, whole
from generator.lake.lake import Lake
from generator.pack.output import Inputs
from generator.pack.writer import Writer, members

RECIPE = 1
NO_RECIPE = {"version": "none", "image_url": "{key}"}


def fingerprints_layer(lake: Lake) -> LayerSpec:
    """The layer of the fingerprint index."""
    content = {"fingerprints": lake.content("fingerprints"), "fingerprint recipe": [lake.recipe_sha256]}
    sql = ("sources/fingerprints", "views/fingerprint_entries")
    return define_layer(names.FINGERPRINTS, whole(names.FINGERPRINTS, _make), recipe=RECIPE, sql=sql, content=content)


def _make(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.open_fingerprints()
    context.db.run("views/fingerprint_entries")
    entries = context.db.table("select json || ',\n' as line from fingerprint_entries order by key")
    recipe = context.lake.recipe or NO_RECIPE
    head = {"version": recipe["version"], "count": len(entries), "image_url": recipe["image_url"]}
    buffer, starts = text_buffer(entries["line"])
    opening = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"entries":[\n'
    body = opening.encode() + bytes(buffer[: max(0, starts[-1] - len(pages.BETWEEN))]) + b"\n]}\n"
    writer.add(members([(names.FINGERPRINTS_KEY, body)]))
