"""The layer fingerprints: `fingerprints.json`, the index of reference images in one object."""

import json

from edge_auth.contract import names, pages
from generator.columns import text_buffer
from generator.lake import Lake
from generator.layers.spec import LayerPlan, plan, whole
from generator.packs import Writer, members
from generator.tasks import Given
from generator.workshop import Workshop

RECIPE = 1
NO_RECIPE = {"version": "none", "image_url": "{key}"}


def plan_fingerprints(lake: Lake) -> LayerPlan:
    """The layer of the fingerprint index."""
    content = {"fingerprints": lake.content("fingerprints"), "fingerprint recipe": [lake.recipe_sha256]}
    sql = ("sources/fingerprints", "views/fingerprint_entries")
    return plan(names.FINGERPRINTS, whole(names.FINGERPRINTS, _make), recipe=RECIPE, sql=sql, content=content)


def _make(workshop: Workshop, writer: Writer, given: Given) -> None:
    workshop.open_fingerprints()
    workshop.db.run("views/fingerprint_entries")
    entries = workshop.db.table("select json || ',\n' as line from fingerprint_entries order by key")
    recipe = workshop.lake.recipe or NO_RECIPE
    head = {"version": recipe["version"], "count": len(entries), "image_url": recipe["image_url"]}
    buffer, starts = text_buffer(entries["line"])
    opening = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"entries":[\n'
    body = opening.encode() + bytes(buffer[: max(0, starts[-1] - len(pages.BETWEEN))]) + b"\n]}\n"
    writer.add(members([(names.FINGERPRINTS_KEY, body)]))
