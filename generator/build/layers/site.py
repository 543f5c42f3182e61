"""The layer site: `openapi.json`, what describes the API itself, and the pages for those who use it."""

import hashlib
from functools import cache

from edge_auth.contract import names
from generator.build.context import BuildContext
from generator.build.layers.spec import LayerSpec, define_layer, whole
from generator.pack.output import Inputs
from generator.pack.writer import Writer, members
from generator.site import openapi
from generator.site import pages as site

RECIPE = 1


def site_layer() -> LayerSpec:
    """The layer of the API's description; it depends on no table, and is named by its documents."""
    documents = _documents()
    content = {"documents": [f"{key} {hashlib.sha256(document).hexdigest()}" for key, document in documents.items()]}
    return define_layer(names.SITE, whole(names.SITE, _make), recipe=RECIPE, sql=(), content=content)


@cache
def _documents() -> dict[str, bytes]:
    return {names.OPENAPI_KEY: openapi.document(), **site.documents()}


def _make(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    writer.add(members(_documents().items()))
