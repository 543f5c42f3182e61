"""Tasks that make the Cards of a range of products, for the layers `catalogue` and `bulk-cards`."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from edge_auth.builds import layer_names
from edge_auth.builds.index import map_table, to_bytes
from generator.making.card_texts import SIZE, CardTexts, split_texts
from generator.making.context import BuildContext
from generator.making.intermediates import Intermediate
from generator.making.month_tasks import month_tasks, open_newest, task_names
from generator.making.periods import open_month
from generator.making.tasks import BuildScope, ProductRange, Task
from generator.pack.output import Inputs
from generator.pack.writer import Writer


@dataclass(frozen=True)
class CardTasks:
    """The tasks of the open month, and the tasks that make the Cards of each range of products."""

    month: list[Task]
    products: list[Task]

    def __iter__(self) -> Iterator[Task]:
        return iter((*self.month, *self.products))


def card_tasks(scope: BuildScope) -> CardTasks:
    """Return the tasks that every layer with Cards begins with."""
    month, closed = month_tasks(scope, open_month(scope.lake.as_of)), closed_layers(scope)
    needs = (*task_names(month), *(newest_task_name(name) for name in closed if name in scope.missing))
    return CardTasks(month, [_products_task(scope, ids, needs, closed) for ids in scope.ranges])


def card_rows(context: BuildContext, inputs: Inputs) -> pa.Table:
    """Return the sort keys and sizes of the Cards among the inputs, by id, mapped into memory."""
    return pa.concat_tables(map_table(path) for path in context.intermediate_files(inputs, Intermediate.CARDS))


def card_texts(context: BuildContext, inputs: Inputs) -> CardTexts:
    """Open the texts of the Cards among the inputs, which have the order of `card_rows`."""
    sizes = [map_table(path)[SIZE].to_numpy() for path in context.intermediate_files(inputs, Intermediate.CARDS)]
    return CardTexts(context.intermediate_files(inputs, Intermediate.CARD_TEXTS), sizes)


def newest_task_name(layer: str) -> str:
    """Return the name of the task that makes the newest rows of a closed period."""
    return f"{layer} newest rows"


def closed_layers(scope: BuildScope) -> dict[str, str]:
    """Return the digests of the layers of closed periods by name, oldest first."""
    digests, years = {**scope.present, **scope.missing}, layer_names.history_layer("")
    closed = {name for name in digests if name.startswith(years)} - {layer_names.history_layer(layer_names.OPEN_MONTH)}
    return {name: digests[name] for name in sorted(closed)}


def _products_task(scope: BuildScope, ids: ProductRange, needs: tuple[str, ...], closed: dict[str, str]) -> Task:
    return Task(
        f"products {ids}",
        "",
        _products,
        (ids, closed),
        needs,
        rows=ids.count,
    )


def _products(context: BuildContext, writer: Writer, inputs: Inputs, ids: ProductRange, closed: dict[str, str]) -> None:
    context.tables.open_products(ids)
    open_newest(context, inputs, closed, ids)
    context.db.run("views/market_price", "views/cards")
    cards, texts = split_texts(context.db.table("from cards order by id_product"))
    writer.add_intermediate(Intermediate.CARDS, to_bytes(cards))
    writer.add_intermediate(Intermediate.CARD_TEXTS, texts)
    context.db.connection.execute("drop table cards")
