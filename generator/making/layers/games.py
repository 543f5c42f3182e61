"""The layer `games`: `games/{n}.json`, the pages of the Game list, from the facts that the layer `catalogue` keeps."""

import json
from functools import partial

from edge_auth.builds import layer_names, object_keys, pages
from edge_auth.builds.layers import FACTS
from generator.making.context import BuildContext
from generator.making.layers.shared import paged
from generator.making.layers.spec import LayerSpec, define_layer
from generator.making.tasks import BuildScope, Task
from generator.pack.output import Inputs
from generator.pack.writer import Writer, compress_objects

RECIPE = 1


def games_layer(catalogue: LayerSpec) -> LayerSpec:
    """Define the layer of the games, which changes when the catalogue does."""
    return define_layer(
        layer_names.GAMES,
        lambda scope: [_task(scope, catalogue.digest)],
        recipe=RECIPE,
        sql=(),
        content={"layers": [catalogue.digest]},
        constants=(pages.ROWS_PER_PAGE, pages.OPEN, pages.BETWEEN, pages.CLOSE),
    )


def _task(scope: BuildScope, digest: str) -> Task:
    needs = (layer_names.CATALOGUE,) if layer_names.CATALOGUE in scope.missing else ()
    return Task(layer_names.GAMES, layer_names.GAMES, _games, (digest,), needs)


def _games(context: BuildContext, writer: Writer, inputs: Inputs, digest: str) -> None:
    facts = json.loads(context.layers.file(inputs, layer_names.CATALOGUE, digest, FACTS).read_bytes())
    lines = (json.dumps(game, ensure_ascii=False, separators=(",", ":")) for game in facts["games"])
    writer.add(
        compress_objects(paged(lines, pages.ROWS_PER_PAGE, partial(object_keys.page_of_rows, layer_names.GAMES)))
    )
