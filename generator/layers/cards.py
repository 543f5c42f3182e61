"""The layer cards: `cards/{id}.json`, the Card with the history of the open month."""

import numpy as np

from edge_auth.contract import names, pages
from edge_auth.contract.spliced import cut_member
from generator.columns import text_buffer
from generator.lake import PRICE_TABLES, Lake
from generator.layers import history
from generator.layers.spec import LayerPlan, plan
from generator.packs import CutObjects, LayerWriter
from generator.periods import open_month
from generator.workshop import Workshop

RECIPE = 2
SQL = ("sources/products", "sources/expansions", *history.SQL, "views/newest", "views/cards")


def catalogue_content(lake: Lake) -> dict[str, list[str]]:
    """What every layer with Cards reads: the catalogue, and all price tables for their newest rows."""
    return {"catalogue": lake.content("products", "expansions"), "prices": lake.content(*PRICE_TABLES)}


def plan_cards(lake: Lake) -> LayerPlan:
    """The layer of the card details."""

    def make(workshop: Workshop, writer: LayerWriter) -> None:
        workshop.open_cards()
        ids = workshop.db.table("select id_product from cards order by id_product")[0].to_numpy()
        history.write_in_ranges(workshop, writer, ids, lambda chunk: _objects(workshop, chunk))

    content = catalogue_content(lake) | {"open month": [open_month(lake.as_of).first.isoformat()]}
    return plan(names.CARDS, make, pattern=names.CARD_PATTERN, recipe=RECIPE, sql=SQL, content=content)


def _objects(workshop: Workshop, ids: np.ndarray) -> CutObjects:
    with workshop.db.connection.cursor() as cursor:
        cards = workshop.db.table(
            f"select json from cards where id_product between {ids[0]} and {ids[-1]} order by id_product",
            cursor=cursor,
        )
    buffer, starts = text_buffer(cards["json"])
    cuts = starts.tolist()
    for place, arrays in enumerate(history.history_arrays(workshop, ids)):
        card = bytes(buffer[cuts[place] : cuts[place + 1] - 1])  # less its closing brace
        yield int(ids[place]), *cut_member(card + b',"history":', arrays, pages.CARD_TAIL)
