"""The layer lists: `cards/{kind}/{sort}/{n}.json`, the catalogue in every order, 100 Cards a page."""

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from edge_auth.contract import names, pages
from generator.columns import text_buffer
from generator.lake import Lake
from generator.layers.cards import SQL as CARDS_SQL
from generator.layers.cards import catalogue_content
from generator.layers.spec import LayerPlan, plan
from generator.packs import LayerWriter, members
from generator.workshop import Workshop

RECIPE = 1
PAGES_PER_PIECE = 50


def plan_lists(lake: Lake) -> LayerPlan:
    """The layer of the rankings."""
    return plan(names.LISTS, _make, recipe=RECIPE, sql=(*CARDS_SQL, "views/rankings"), content=catalogue_content(lake))


def _make(workshop: Workshop, writer: LayerWriter) -> None:
    workshop.open_cards()
    columns = ", ".join(f"rank_{sort}" for sort in names.SORTS)
    table = workshop.db.table(
        f"select json || ',\n' as line, rankings.kind, {columns} "
        "from rankings join cards using (id_product) order by id_product"
    )
    lines = table["line"].cast(pa.large_string()).combine_chunks()
    kinds = table["kind"].to_numpy(zero_copy_only=False)
    rankings = [(kind, sort) for kind in names.KINDS for sort in names.SORTS]

    def pages_of(ranking: tuple[str, str]) -> list:
        kind, sort = ranking
        order = np.argsort(table[f"rank_{sort}"].to_numpy())
        chosen = order if kind == "all" else order[kinds[order] == kind]
        return members(_pages(lines, chosen, kind, sort))

    with workshop.progress.bar(writer.layer, len(rankings)) as bar:
        for made in workshop.in_order(pages_of, rankings):
            writer.add(made)
            writer.end_pack()
            bar.update(1)


def _pages(lines: pa.Array, order: np.ndarray, kind: str, sort: str) -> Iterator[tuple[str, bytes]]:
    """Keys and pages of one ranking; the lines are gathered in pieces, so that a ranking never lies in memory whole."""
    if not len(order):
        yield names.list_page(kind, sort, 0), pages.join_page([])
    piece = PAGES_PER_PIECE * pages.CARDS_PER_PAGE
    for start in range(0, len(order), piece):
        buffer, starts = text_buffer(pa.chunked_array([lines.take(pa.array(order[start : start + piece]))]))
        cuts = [*starts[: -1 : pages.CARDS_PER_PAGE].tolist(), int(starts[-1])]
        for number, (first, end) in enumerate(itertools.pairwise(cuts), start // pages.CARDS_PER_PAGE):
            items = bytes(buffer[first : end - len(pages.BETWEEN)])
            yield names.list_page(kind, sort, number), pages.OPEN + items + pages.CLOSE
