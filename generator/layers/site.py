"""The layer site: `openapi.json`, what describes the API itself."""

import hashlib

from edge_auth.contract import names
from generator import openapi
from generator.layers.spec import LayerPlan, plan
from generator.packs import LayerWriter, members
from generator.workshop import Workshop

RECIPE = 1


def plan_site() -> LayerPlan:
    """The layer of the API's description; it depends on no table."""
    document = openapi.document()

    def make(workshop: Workshop, writer: LayerWriter) -> None:
        writer.add(members([(names.OPENAPI_KEY, document)]))

    content = {"description": [hashlib.sha256(document).hexdigest()]}
    return plan(names.SITE, make, recipe=RECIPE, sql=(), content=content)
