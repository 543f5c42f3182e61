"""The endpoints of prices over the catalogue: what moved most, and the market by set and game with its history."""

from datetime import timedelta

from edge_auth.api import parameters as rules
from edge_auth.api.routes import Query, Routes
from edge_auth.errors import InvalidParameter, NotFound
from edge_auth.live.open_build import OpenBuild
from generator.storage import keys
from generator.storage import market as lists
from generator.storage.bodies import Body, MadeBody, short_list
from generator.storage.catalogue import ORDERS
from generator.storage.text import fold

market = Routes("market", keys.CARDS_READ, "catalogue")
_MOVERS = {
    "window": rules.Choice(lists.WINDOWS, default="7d"),
    "by": rules.Choice(lists.MEASURES, default="percent"),
    "direction": rules.Choice(lists.DIRECTIONS, default="up"),
    **rules.KIND,
    "min_price": rules.Choice(lists.FLOORS, default="1"),
    "confirmed": rules.Choice(("true", "false"), default="false"),
    **rules.GAME,
}


@market.get("movers", schema="MoverPage", query=_MOVERS | rules.page(50, 100))
def list_movers(build: OpenBuild, query: Query) -> Body:
    options = [query.window, query.by, query.direction, query.kind, query.min_price]
    key = lists.list_key(options, query.game and fold(query.game))
    return short_list(build.movers.list(key, query.confirmed == "true"), query.offset, query.limit)


_MARKET = {
    "by": rules.Choice(lists.GROUPINGS, default="set"),
    **rules.GAME,
    "sort": rules.Choice(lists.SORTS, default="value"),
    "order": rules.Choice(ORDERS),
}


@market.get("market", schema="MarketPage", query=_MARKET | rules.page(100, 500))
def list_market(build: OpenBuild, query: Query) -> Body:
    rows = build.market.rows(query.by, query.sort, query.order, query.game and fold(query.game))
    return short_list(rows, query.offset, query.limit)


_GROUP = {"set": rules.ProductId(), "game": rules.Text(rules.MAX_TEXT_CHARACTERS, refuses_empty=True)} | rules.DAYS
_NO_GROUP = "there is no such set or game, or none of its singles ever had a price trend"


@market.get("market/history", schema="MarketHistory", errors=(NotFound,), query=_GROUP)
def get_market_history(build: OpenBuild, query: Query) -> Body:
    if (query.set is None) == (query.game is None):
        raise InvalidParameter("give exactly one of set and game: a set has an id, a game a name")
    groups = build.market
    group = groups.sets.get(query.set) if query.set is not None else groups.games.get(fold(query.game))
    if group is None:
        raise NotFound(_NO_GROUP)
    first_day = build.as_of - timedelta(days=query.days - 1) if query.days else None
    return MadeBody(build.market_history(group, str(first_day or "")))
