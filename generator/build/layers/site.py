"""The layer `site`: `openapi.json` and the pages at /docs and /explore."""

import hashlib
from functools import cache

from edge_auth.contract import names
from generator.build.context import BuildContext
from generator.build.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.output import Inputs
from generator.pack.writer import Writer, compress_objects
from generator.site import openapi, pages

RECIPE = 1


def site_layer() -> LayerSpec:
    """Define the layer of the site. It reads no table: its digest is a hash of its documents."""
    content = {"documents": [f"{key} {hashlib.sha256(document).hexdigest()}" for key, document in _documents().items()]}
    return define_layer(names.SITE, one_task(names.SITE, _site), recipe=RECIPE, sql=(), content=content)


@cache
def _documents() -> dict[str, bytes]:
    return {names.OPENAPI_KEY: openapi.document(), **pages.documents()}


def _site(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    writer.add(compress_objects(_documents().items()))
