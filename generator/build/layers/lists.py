"""The layer lists: `cards/{kind}/{sort}/{n}.json`, the catalogue in every order, 100 Cards a page."""

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from edge_auth.contract import names, pages
from generator.build import estimates
from generator.build.arrow_text import Lines
from generator.build.context import BuildContext
from generator.build.intermediates import CARDS, RANKINGS, card_tasks, rankings_task
from generator.build.layers.cards import SQL as CARDS_SQL
from generator.build.layers.cards import catalogue_content
from generator.build.layers.spec import LayerSpec, define_layer
from generator.build.tasks import BuildScope, Task, pieces
from generator.lake.lake import Lake
from generator.pack.output import Inputs
from generator.pack.writer import Member, Writer, members

RECIPE = 1
PAGES_AT_ONCE = 50
CARDS_PER_TASK = 200_000


def lists_layer(lake: Lake) -> LayerSpec:
    """The layer of the rankings."""
    return define_layer(
        names.LISTS, _tasks, recipe=RECIPE, sql=(*CARDS_SQL, "views/rankings"), content=catalogue_content(lake)
    )


def _tasks(scope: BuildScope) -> Iterator[Task]:
    cards, rankings = card_tasks(scope), rankings_task(scope)
    yield from (*cards, rankings)
    needs = (*cards.names, rankings.name)
    for kind, sort in itertools.product(names.KINDS, names.SORTS):
        for first, last in pieces(scope.kinds[kind], CARDS_PER_TASK):
            yield Task(
                f"list {kind} by {sort} {first}-{last}",
                names.LISTS,
                _list,
                (kind, sort, first, last),
                needs,
                objects=-(-(last - first) // pages.CARDS_PER_PAGE),
                rows=last - first,
                reads=scope.products * estimates.CARD_ROW,
                writes=(last - first) * estimates.LISTED_CARD,
            )


def _list(context: BuildContext, writer: Writer, inputs: Inputs, kind: str, sort: str, first: int, last: int) -> None:
    rankings = context.mapped(inputs, RANKINGS)
    order = np.argsort(rankings[f"rank_{sort}"].to_numpy())
    if kind != "all":
        order = order[pc.equal(rankings["kind"], kind).to_numpy()[order]]
    lines, step = Lines(context.mapped(inputs, CARDS)["json"]), PAGES_AT_ONCE * pages.CARDS_PER_PAGE
    starts = range(first, max(last, first + 1), step)

    def objects(start: int) -> list[Member]:
        return members(_pages(lines, order[start : min(start + step, last)], start, kind, sort))

    for made in context.in_order(objects, starts):
        writer.add(made)
        context.tick(len(made))


def _pages(lines: Lines, order: np.ndarray, start: int, kind: str, sort: str) -> Iterator[tuple[str, bytes]]:
    """Keys and pages of a piece of a ranking that begins at `start`; the first page also of nothing."""
    if not len(order):
        yield names.list_page(kind, sort, 0), pages.join_page([])
        return
    buffer, starts = lines.take(order, pages.BETWEEN)
    cuts = [*starts[: -1 : pages.CARDS_PER_PAGE].tolist(), int(starts[-1])]
    for number, (first, end) in enumerate(itertools.pairwise(cuts), start // pages.CARDS_PER_PAGE):
        items = bytes(buffer[first : end - len(pages.BETWEEN)])
        yield names.list_page(kind, sort, number), pages.OPEN + items + pages.CLOSE
