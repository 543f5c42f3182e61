"""The layer `cards`: `cards/{id}.json`, the Card with the history of the open month."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial

import numpy as np
from numpy.typing import NDArray

from edge_auth.contract import layer_names, object_keys, pages
from edge_auth.contract.splice import encode_fragments
from generator.lake.lake import Lake
from generator.making.card_tasks import card_rows, card_tasks, card_texts
from generator.making.card_texts import CardTexts
from generator.making.context import BuildContext
from generator.making.history_rows import HistoryRows, write_objects
from generator.making.layers.shared import CARD_SQL, HISTORY_CONSTANTS, card_content
from generator.making.layers.spec import LayerSpec, define_layer
from generator.making.month_tasks import open_history, task_names
from generator.making.periods import open_month
from generator.making.tasks import BuildScope, ProductRange, Task
from generator.pack.output import Inputs
from generator.pack.writer import EncodedObjects, Writer

RECIPE = 2


def cards_layer(lake: Lake) -> LayerSpec:
    """Define the layer of the card details."""
    content = card_content(lake) | {"open month": [open_month(lake.as_of).first.isoformat()]}
    return define_layer(
        layer_names.CARDS,
        _tasks,
        pattern=object_keys.CARD_PATTERN,
        recipe=RECIPE,
        sql=CARD_SQL,
        content=content,
        constants=(*HISTORY_CONSTANTS, pages.CARD_TAIL),
    )


def _tasks(scope: BuildScope) -> Iterator[Task]:
    tasks = card_tasks(scope)
    yield from tasks
    month, month_rows = task_names(tasks.month), sum(task.rows for task in tasks.month)
    for ids, products in zip(scope.ranges, tasks.products, strict=True):
        rows = month_rows * ids.count // max(scope.products, 1)
        yield Task(
            f"cards {scope.lake.as_of:%Y-%m} {ids}",
            layer_names.CARDS,
            _cards,
            (ids, len(open_month(scope.lake.as_of))),
            (*month, products.name),
            objects=ids.count,
            rows=rows,
            main_thread=True,
        )


def _cards(context: BuildContext, writer: Writer, inputs: Inputs, ids: ProductRange, days: int) -> None:
    open_history(context, inputs, ids)
    all_ids = card_rows(context, inputs)["id_product"].to_numpy()
    with closing(card_texts(context, inputs)) as texts:
        write_objects(context, writer, all_ids, partial(_objects, all_ids, texts), days, ahead=1)


def _objects(all_ids: NDArray[np.int64], texts: CardTexts, ids: NDArray[np.int64], rows: HistoryRows) -> EncodedObjects:
    first = int(np.searchsorted(all_ids, ids[0]))
    buffer, cuts = texts.read(np.arange(first, first + len(ids)))
    for place, arrays in enumerate(rows):
        card = bytes(buffer[cuts[place] : cuts[place + 1] - len("}\n")])
        yield int(ids[place]), *encode_fragments(card + b',"history":', arrays, pages.CARD_TAIL)
