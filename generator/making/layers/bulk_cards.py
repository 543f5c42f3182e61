"""The layer `bulk-cards`: the bulk file `cards`, every Card as a line of JSON by id. Lists are answered from it too."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np

from edge_auth.builds import layer_names
from edge_auth.builds.card_lines import CARD_LINES
from edge_auth.store.codec import compress_chunks
from generator.making.bulk_files import write_entries, write_lines
from generator.making.card_tasks import card_rows, card_tasks, card_texts
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer
from generator.making.month_tasks import task_names
from generator.making.tasks import BuildScope, Task, slices
from generator.pack.output import Inputs
from generator.pack.writer import Writer

RECIPE = 1
LAYER = layer_names.bulk_layer(CARD_LINES)
_LINES_PER_CHUNK = 500


def bulk_cards_layer(catalogue: LayerSpec) -> LayerSpec:
    """Define the layer of the Cards as lines, which changes when the catalogue does."""
    return define_layer(LAYER, _tasks, recipe=RECIPE, sql=(), content={"layers": [catalogue.digest]})


def _tasks(scope: BuildScope) -> Iterator[Task]:
    cards = card_tasks(scope)
    yield from cards
    yield Task(LAYER, LAYER, _bulk_cards, (), task_names(cards.products), rows=scope.products)


def _bulk_cards(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    cards = len(card_rows(context, inputs))
    cuts = slices(cards, _LINES_PER_CHUNK) if cards else ()
    with closing(card_texts(context, inputs)) as texts:
        data = compress_chunks(bytes(texts.read(np.arange(*cut))[0]) for cut in cuts)
    write_entries(writer, [write_lines(writer, CARD_LINES, data, cards, "id_product")])
