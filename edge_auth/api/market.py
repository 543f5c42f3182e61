"""The endpoints of prices over the catalogue: what moved most, and the market by set and game with its history."""

from dataclasses import dataclass
from datetime import timedelta

from edge_auth.api.routes import Routes
from edge_auth.errors import InvalidParameter, NotFound
from edge_auth.live.open_build import OpenBuild
from edge_auth.parameters import (
    DAYS,
    GAME,
    KIND,
    MAX_TEXT_CHARACTERS,
    Choice,
    Integer,
    ProductId,
    Text,
    optional,
    parameter,
)
from generator.storage import keys
from generator.storage import market as lists
from generator.storage.bodies import Body, MadeBody, short_list
from generator.storage.catalogue import ORDERS
from generator.storage.text import fold

market = Routes("market", keys.CARDS_READ, "catalogue")


@dataclass(frozen=True)
class MoversQuery:
    window: str = parameter(Choice(lists.WINDOWS), "7d")
    by: str = parameter(Choice(lists.MEASURES), "percent")
    direction: str = parameter(Choice(lists.DIRECTIONS), "up")
    kind: str = parameter(KIND, "all")
    min_price: str = parameter(Choice(lists.FLOORS), "1")
    confirmed: str = parameter(Choice(("true", "false")), "false")
    game: str | None = optional(GAME)
    limit: int = parameter(Integer(1, 100), 50)
    offset: int = parameter(Integer(0), 0)


@market.get("movers", schema="MoverPage")
def list_movers(build: OpenBuild, query: MoversQuery) -> Body:
    options = [query.window, query.by, query.direction, query.kind, query.min_price]
    key = lists.list_key(options, query.game and fold(query.game))
    return short_list(build.movers.list(key, query.confirmed == "true"), query.offset, query.limit)


@dataclass(frozen=True)
class MarketQuery:
    by: str = parameter(Choice(lists.GROUPINGS), "set")
    game: str | None = optional(GAME)
    sort: str = parameter(Choice(lists.SORTS), "value")
    order: str | None = optional(Choice(ORDERS))
    limit: int = parameter(Integer(1, 500), 100)
    offset: int = parameter(Integer(0), 0)


@market.get("market", schema="MarketPage")
def list_market(build: OpenBuild, query: MarketQuery) -> Body:
    rows = build.market.rows(query.by, query.sort, query.order, query.game and fold(query.game))
    return short_list(rows, query.offset, query.limit)


_NO_GROUP = "there is no such set or game, or none of its singles ever had a price trend"


@dataclass(frozen=True)
class GroupQuery:
    set: int | None = optional(ProductId())
    game: str | None = optional(Text(MAX_TEXT_CHARACTERS, refuses_empty=True))
    days: int | None = optional(DAYS)


@market.get("market/history", schema="MarketHistory", errors=(NotFound,))
def get_market_history(build: OpenBuild, query: GroupQuery) -> Body:
    """Return the days of one set or one game."""
    if (query.set is None) == (query.game is None):
        raise InvalidParameter("give exactly one of set and game: a set has an id, a game a name")
    groups = build.market
    group = groups.sets.get(query.set) if query.set is not None else groups.games.get(fold(query.game or ""))
    if group is None:
        raise NotFound(_NO_GROUP)
    first_day = build.as_of - timedelta(days=query.days - 1) if query.days else None
    return MadeBody(build.market_history(group, str(first_day or "")))
