"""The endpoints of the watchlist."""

from dataclasses import dataclass

from edge_auth.api.routes import Routes
from edge_auth.errors import AmbiguousSlug, NotFound
from edge_auth.live.open_build import OpenBuild
from edge_auth.parameters import Choice, PageQuery, parameter
from generator.storage import keys, layout
from generator.storage.bodies import Body, short_list

watchlist = Routes("watchlist", keys.WATCHLIST_READ)
_ITEM = "watchlist/<text:slug>"
_ERRORS = (NotFound, AmbiguousSlug)


@watchlist.get("watchlist", schema="WatchlistPage")
def list_watchlist(build: OpenBuild, query: PageQuery) -> Body:
    return short_list(build.rows(layout.WATCHLIST), query.offset, query.limit)


@watchlist.get(_ITEM, schema="WatchlistItem", errors=_ERRORS)
def get_watchlist_item(build: OpenBuild, slug: str) -> Body:
    return build.stored_body(layout.watchlist_item(build.slugs.resolve(slug)))


@dataclass(frozen=True)
class HistoryQuery:
    view: str = parameter(Choice(layout.HISTORY_VIEWS), "daily")
    range: str = parameter(Choice(layout.HISTORY_RANGES), "all")


@watchlist.get(f"{_ITEM}/history", schema="WatchlistHistory", errors=_ERRORS)
def get_watchlist_history(build: OpenBuild, slug: str, query: HistoryQuery) -> Body:
    return build.stored_body(layout.watchlist_history(build.slugs.resolve(slug), query.view, query.range))


@watchlist.get(f"{_ITEM}/offers", schema="WatchlistOffers", errors=_ERRORS)
def get_watchlist_offers(build: OpenBuild, slug: str) -> Body:
    return build.stored_body(layout.watchlist_offers(build.slugs.resolve(slug)))
