"""The layer site: `openapi.json`, what describes the API itself, and the pages for those who use it."""

import hashlib
from functools import cache

from edge_auth.contract import names
from generator import openapi, site
from generator.layers.spec import LayerPlan, plan, whole
from generator.packs import Writer, members
from generator.tasks import Given
from generator.workshop import Workshop

RECIPE = 1


def plan_site() -> LayerPlan:
    """The layer of the API's description; it depends on no table, and is named by its documents."""
    documents = _documents()
    content = {"documents": [f"{key} {hashlib.sha256(document).hexdigest()}" for key, document in documents.items()]}
    return plan(names.SITE, whole(names.SITE, _make), recipe=RECIPE, sql=(), content=content)


@cache
def _documents() -> dict[str, bytes]:
    return {names.OPENAPI_KEY: openapi.document(), **site.documents()}


def _make(workshop: Workshop, writer: Writer, given: Given) -> None:
    writer.add(members(_documents().items()))
