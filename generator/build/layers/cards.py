"""The layer cards: `cards/{id}.json`, the Card with the history of the open month."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from edge_auth.contract import names, pages
from edge_auth.contract.splice import encode_fragments
from generator.build import estimates
from generator.build.arrow_text import text_buffer
from generator.build.context import BuildContext
from generator.build.intermediates import CARDS, card_tasks, names_of
from generator.build.layers import history
from generator.build.layers.spec import LayerSpec, define_layer
from generator.build.periods import open_month
from generator.build.tasks import BuildScope, ProductRange, Task
from generator.lake.lake import PRICE_TABLES, Lake
from generator.pack.output import Inputs
from generator.pack.writer import EncodedObjects, Writer

RECIPE = 2
SQL = ("sources/products", "sources/expansions", *history.SQL, "views/newest", "views/cards")


def catalogue_content(lake: Lake) -> dict[str, list[str]]:
    """What every layer with Cards reads: the catalogue, and all price tables for their newest rows."""
    return {"catalogue": lake.content("products", "expansions"), "prices": lake.content(*PRICE_TABLES)}


def cards_layer(lake: Lake) -> LayerSpec:
    """The layer of the card details."""

    content = catalogue_content(lake) | {"open month": [open_month(lake.as_of).first.isoformat()]}
    return define_layer(names.CARDS, _tasks, pattern=names.CARD_PATTERN, recipe=RECIPE, sql=SQL, content=content)


def _tasks(scope: BuildScope) -> Iterator[Task]:
    tasks = card_tasks(scope)
    yield from tasks
    month, of_month = names_of(tasks.month), sum(task.rows for task in tasks.month)
    for ids, made in zip(scope.ranges, tasks.products, strict=True):
        rows = of_month * ids.count // max(scope.products, 1)
        yield Task(
            f"cards {scope.lake.as_of:%Y-%m} {ids}",
            names.CARDS,
            _cards,
            (ids,),
            (*month, made.name),
            objects=ids.count,
            rows=rows,
            reads=made.writes + rows * estimates.PART_ROW,
            writes=ids.count * estimates.CARD + rows * estimates.HISTORY_ROW,
        )


def _cards(context: BuildContext, writer: Writer, inputs: Inputs, ids: ProductRange) -> None:
    history.open_history(context, inputs, ids)
    cards = context.mapped(inputs, CARDS).select(["id_product", "json"])
    history.write_in_ranges(
        context, writer, cards["id_product"].to_numpy(), lambda chunk: _objects(context, cards, chunk)
    )


def _objects(context: BuildContext, cards: pa.Table, ids: np.ndarray) -> EncodedObjects:
    first = int(np.searchsorted(cards["id_product"].to_numpy(), ids[0]))
    buffer, starts = text_buffer(cards["json"].slice(first, len(ids)))
    cuts = starts.tolist()
    for place, arrays in enumerate(history.history_arrays(context, ids)):
        card = bytes(buffer[cuts[place] : cuts[place + 1] - 1])  # less its closing brace
        yield int(ids[place]), *encode_fragments(card + b',"history":', arrays, pages.CARD_TAIL)
