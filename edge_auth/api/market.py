"""The endpoints of the market: price moves, and the value of sets and games."""

from datetime import timedelta

from edge_auth.api.parameters import GAME, KIND, MAX_TEXT_CHARACTERS, Choice, Integer, ProductId, Text, page
from edge_auth.api.routes import Query, Routes
from edge_auth.builds import card_lists
from edge_auth.builds import market as lists
from edge_auth.builds.bodies import Body, MadeBody, short_list
from edge_auth.errors import InvalidParameter, NotFound
from edge_auth.live import keys
from edge_auth.live.open_build import OpenBuild
from edge_auth.text import MAX_DIGITS, fold

market = Routes("market", keys.CARDS_READ, tag="catalogue")
_MOVERS = {
    "window": Choice(lists.WINDOWS, default="7d"),
    "by": Choice(lists.MEASURES, default="percent"),
    "direction": Choice(lists.DIRECTIONS, default="up"),
    **KIND,
    "min_price": Choice(lists.FLOORS, default="1"),
    "confirmed": Choice(("true", "false"), default="false"),
    **GAME,
}


@market.get("movers", schema="MoverPage", query=_MOVERS | page(50, 100))
def list_movers(build: OpenBuild, query: Query) -> Body:
    options = [query.window, query.by, query.direction, query.kind, query.min_price]
    key = lists.list_key(options, query.game and fold(query.game))
    return short_list(build.movers.list(key, query.confirmed == "true"), query.offset, query.limit)


_MARKET = {
    "by": Choice(lists.GROUPINGS, default="set"),
    **GAME,
    "sort": Choice(lists.SORTS, default="value"),
    "order": Choice(card_lists.ORDERS),
}


@market.get("market", schema="MarketPage", query=_MARKET | page(100, 500))
def list_market(build: OpenBuild, query: Query) -> Body:
    rows = build.market.rows(query.by, query.sort, query.order, query.game and fold(query.game))
    return short_list(rows, query.offset, query.limit)


_GROUP = {"set": ProductId(), "game": Text(MAX_TEXT_CHARACTERS, refuses_empty=True), "days": Integer(1, 3650)}
_NO_GROUP = "there is no such set or game, or none of its singles ever had a price trend"


@market.get("market/history", schema="MarketHistory", errors=(NotFound,), query=_GROUP)
def get_market_history(build: OpenBuild, query: Query) -> Body:
    if (query.set is None) == (query.game is None):
        raise InvalidParameter("give exactly one of set and game: a set has an id, a game a name")
    if query.set is not None and len(query.set.lstrip("-")) > MAX_DIGITS:
        raise NotFound(_NO_GROUP)
    by_set, by_game = build.market.sets, build.market.games
    group = by_set.get(int(query.set)) if query.set is not None else by_game.get(fold(query.game))
    if group is None:
        raise NotFound(_NO_GROUP)
    first_day = build.as_of - timedelta(days=query.days - 1) if query.days else None
    return MadeBody(build.market_history(group, str(first_day or "")), keep_plain=False)
