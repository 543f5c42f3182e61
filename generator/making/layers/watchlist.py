"""The layer `watchlist`: the items, their offers, their 12 histories, and the pages of the list."""

import json

from edge_auth.builds import bodies, layout
from edge_auth.builds.layers import FACTS
from generator.lake.lake import Lake
from generator.making.lake_tables import WATCHLIST
from generator.making.layer import BuildLayer
from generator.making.work import Work, small_layer

_VIEWS = tuple(
    f"views/{view}"
    for view in (
        "watchlist_items",
        "watchlist_histories",
        "watchlist_offers",
        "watchlist_status",
        "watch_left_out",
    )
)
_PER_PAGE = layout.ROWS_PER_PAGE[layout.WATCHLIST]


def watchlist_layer(lake: Lake) -> BuildLayer:
    """Define the layer of the tracked products. Its ranges of days end with the as-of day, which is part of it."""
    return small_layer(
        lake,
        layout.WATCHLIST,
        _watchlist,
        WATCHLIST,
        _VIEWS,
        content={"as of": [lake.as_of.isoformat()]},
        constants=(_PER_PAGE, bodies.OPEN, bodies.BETWEEN, bodies.CLOSE),
    )


def _watchlist(work: Work) -> None:
    db = work.db
    items = db.rows("select slug, json from watchlist_items order by slug_folded")
    lists = bodies.paged((json for _, json in items), _PER_PAGE, layout.watchlist_page)
    work.objects(lists)
    work.objects((layout.watchlist_item(slug), _line(json)) for slug, json in items)
    offers = db.rows("select slug, json from watchlist_offers order by slug")
    work.objects((layout.watchlist_offers(slug), _line(json)) for slug, json in offers)
    histories = db.rows("select slug, view, range, json from watchlist_histories order by all")
    work.objects((layout.watchlist_history(*key), _line(json)) for *key, json in histories)
    [(status,)] = db.rows("select json from watchlist_status")
    left_out = db.rows("from watch_left_out")
    work.add_file(f"{FACTS}.json", json.dumps({"status": json.loads(status), "left_out": left_out}).encode())


def _line(text: str) -> bytes:
    return text.encode() + b"\n"
