"""The layer site: `openapi.json`, what describes the API itself, and the pages for those who use it."""

import hashlib

from edge_auth.contract import names
from generator import openapi, site
from generator.layers.spec import LayerPlan, plan
from generator.packs import LayerWriter, members
from generator.workshop import Workshop

RECIPE = 1


def plan_site() -> LayerPlan:
    """The layer of the API's description; it depends on no table, and is named by its documents."""
    documents = {names.OPENAPI_KEY: openapi.document(), **site.documents()}

    def make(workshop: Workshop, writer: LayerWriter) -> None:
        writer.add(members(documents.items()))

    content = {"documents": [f"{key} {hashlib.sha256(document).hexdigest()}" for key, document in documents.items()]}
    return plan(names.SITE, make, recipe=RECIPE, sql=(), content=content)
