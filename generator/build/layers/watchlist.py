"""The layer watchlist: items, their offers, their 12 histories, and the list's pages of 500."""

import json

from edge_auth.contract import names, pages
from generator.build.context import BuildContext
from generator.build.layers.catalogue import FACTS
from generator.build.layers.sets import in_pages
from generator.build.layers.spec import LayerSpec, define_layer, whole
from generator.lake.lake import Lake
from generator.pack.output import Inputs
from generator.pack.writer import Writer, members

RECIPE = 1
VIEWS = tuple(
    f"views/{view}"
    for view in (
        "watchlist_items",
        "watchlist_histories",
        "watchlist_offers",
        "watchlist_status",
        "watch_left_out",
    )
)


def watchlist_layer(lake: Lake) -> LayerSpec:
    """The layer of the tracked products; ranges end with the as-of day, so it is part of the name."""
    return define_layer(
        names.WATCHLIST,
        whole(names.WATCHLIST, _make),
        recipe=RECIPE,
        sql=("sources/watchlist", "sources/watch_checks", *VIEWS),
        content={"watch": lake.content("watchlist", "watch_checks"), "as of": [lake.as_of.isoformat()]},
    )


def _make(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.open_watchlist()
    db = context.db
    db.run(*VIEWS)
    items = db.rows("select slug, json from watchlist_items order by slug_folded")
    writer.add(members(in_pages((json for _, json in items), pages.WATCHLIST_PER_PAGE, names.watchlist_page)))
    writer.add(members((names.watchlist_item(slug), _line(json)) for slug, json in items))
    offers = db.rows("select slug, json from watchlist_offers order by slug")
    writer.add(members((names.watchlist_offers(slug), _line(json)) for slug, json in offers))
    histories = db.rows("select slug, view, range, json from watchlist_histories order by all")
    writer.add(members((names.watchlist_history(*key), _line(json)) for *key, json in histories))
    [(status,)] = db.rows("select json from watchlist_status")
    left_out = db.rows("from watch_left_out")
    writer.add_file(f"{FACTS}.json", json.dumps({"status": json.loads(status), "left_out": left_out}).encode())


def _line(text: str) -> bytes:
    return text.encode() + b"\n"
