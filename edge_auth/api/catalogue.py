"""The endpoints of the catalogue: cards, names, sets and ids of other catalogues; prices; the steps between builds."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import compress

import numpy as np
from flask import current_app

from edge_auth.api import parameters as rules
from edge_auth.api.flask_app import NAME
from edge_auth.api.parameters import MAX_TEXT_CHARACTERS, Rule, quote_input
from edge_auth.api.routes import Query, Routes
from edge_auth.builds import layout
from edge_auth.builds import market as lists
from edge_auth.builds.bodies import Body, MadeBody, StoredBody, dumps, list_body, short_list
from edge_auth.builds.catalogue import DEFAULT_SORT, MATCH_SORT, ORDERS, PRICE_SORTS, SORTS, TEXT_FILTERS
from edge_auth.builds.changes import Step, Steps
from edge_auth.errors import InvalidParameter, NotFound
from edge_auth.live import keys
from edge_auth.live.build_registry import BuildRegistry
from edge_auth.live.open_build import OpenBuild
from edge_auth.search.query import Search, filter_key, read_search, value_filters
from edge_auth.search.ranking import ResultPage, cheap_page, first_matches, mask_of
from edge_auth.text import MAX_DIGITS, fold, fold_without_apostrophes

cards, market, changes = (Routes(name, keys.CARDS_READ, "catalogue") for name in ("cards", "market", "changes"))
_LEAST_KEPT_MATCHES = 1024
_OVERHEAD_BYTES = 500
_CHANGES_URL = "/api/v1/changes/"
_MAX_ID_DIGITS = 19
_NO_PRODUCT = "there is no product with this id"
_NO_NAMES = dumps({"count": 0, "names": []}) + b"\n"
_FILTERS: dict[str, Rule] = {
    "q": rules.Text(100),
    "find": rules.Text(100),
    "set": rules.Text(MAX_TEXT_CHARACTERS),
    **dict.fromkeys(TEXT_FILTERS, rules.Text(MAX_TEXT_CHARACTERS)),
    "min_price": rules.Price(),
    "max_price": rules.Price(),
    **rules.KIND,
}
_DAYS = {"days": rules.Integer(1, 3650)}
_CARDS: dict[str, Rule] = {
    "ids": rules.IdList(100),
    **_FILTERS,
    "sort": rules.Choice((*SORTS, MATCH_SORT), default=DEFAULT_SORT),
    "order": rules.Choice(ORDERS),
}


@cards.get("cards", schema="CardPage", errors=(NotFound,), query=_CARDS | rules.page(50, 100))
def list_cards(build: OpenBuild, query: Query) -> Body:
    """Return a page of the Cards that match, or the Cards of some ids."""
    lines, offset, limit = build.catalogue.card_lines, query.offset, query.limit
    if query.ids is not None:  # in their order, with the ids that are unknown
        ordinals, _, not_found = _find(build, query.ids)
        more = {"not_found": not_found}
        return list_body(lines.lines(ordinals), 0, len(query.ids), len(ordinals), lines.digest(ordinals), more)
    search = read_search(build.catalogue, query)
    # Stored is the first page for a letter that very many names contain.
    cheap = cheap_page(build.catalogue, search, offset, limit, build.best_of_letters.get(search))
    found = cheap or _later_page(build, search, offset, limit)
    return list_body(lines.lines(found.ordinals), offset, limit, found.total, lines.digest(found.ordinals))


def _later_page(build: OpenBuild, search: Search, offset: int, limit: int) -> ResultPage:
    catalogue = build.catalogue
    # A client that is at a later page will probably want the next one too, so find up to twice as many.
    count = min(max(_LEAST_KEPT_MATCHES, 1 << (offset + limit).bit_length()), len(catalogue.ids))
    key = "search", search, count
    found = build.kept(key)
    if found is None:
        found = first_matches(catalogue, search, count)
        build.keep(key, found, found.ordinals.nbytes + _OVERHEAD_BYTES)
    return ResultPage(found.ordinals[offset : offset + limit], found.total)


@cards.get("facets", schema="Facets", errors=(NotFound,), query=_FILTERS)
def count_facets(build: OpenBuild, query: Query) -> Body:
    catalogue, facets = build.catalogue, build.facets
    search = read_search(catalogue, Query(**vars(query), sort=PRICE_SORTS[0], order=None))
    if search.ranks is not None and not search.filters:
        return MadeBody(facets.of_ranks(*search.ranks))
    return MadeBody(facets.of_mask(mask_of(catalogue, search)))


@cards.get("names", schema="Names", query=rules.GAME)
def list_names(build: OpenBuild, query: Query) -> Body:
    key = layout.names_key(fold(query.game) if query.game else None)
    return build.stored_body(key) if build.find(key) else MadeBody(_NO_NAMES)


@cards.get("cards/<id_product>", schema="CardDetail", errors=(NotFound,), subject=rules.ProductId(), query=_DAYS)
def get_card(build: OpenBuild, id_product: str, query: Query) -> Body:
    id_ = _product_id(id_product)
    if query.days is not None:
        first_day = build.as_of - timedelta(days=query.days - 1)
        if (detail := build.card_since(id_, first_day.isoformat())) is not None:
            return MadeBody(detail)
    elif (card := build.card(id_)) is not None:
        member = card.member
        return StoredBody(card.digest, card.size, len(member), lambda: member)
    raise NotFound(_NO_PRODUCT)


def _product_id(text: str) -> int:
    """Return the id that the path names. Raise NotFound if it has more digits than the id of any product."""
    digits = text.lstrip("-").lstrip("0") or "0"
    if len(digits) > _MAX_ID_DIGITS:
        raise NotFound(_NO_PRODUCT)
    return -int(digits) if text.startswith("-") else int(digits)


_NAMES = {"names": rules.NameList(100, MAX_TEXT_CHARACTERS, required=True)} | rules.GAME | rules.KIND
_PRINTINGS = {"printings": rules.Choice(("true", "false"), default="false")}


@cards.get("cards/named", schema="NamedCards", query=_NAMES | _PRINTINGS)
def find_named_cards(build: OpenBuild, query: Query) -> Body:
    """Return the products of each name of a list, and the names that no product has."""
    names, filters = query.names, tuple(value_filters(build.catalogue, query))
    lines = build.named(names, filters, query.printings == "true")
    not_found = dumps([name for name, line in zip(names, lines, strict=True) if not line])
    return MadeBody(b'{"data":[\n%b\n],"not_found":%b}\n' % (b",\n".join(filter(None, lines)), not_found))


@cards.get("series", schema="SeriesList", query={"ids": rules.IdList(100, required=True)})
def list_series(build: OpenBuild, query: Query) -> Body:
    """Return the weekly prices of some products in this order, and the ids that are unknown."""
    series = build.series
    ordinals, found, not_found = _find(build, query.ids)
    rows = zip(found, series.prices(ordinals), series.extremes(ordinals), strict=True)
    data = b",\n".join([b'{"id_product":%d,"trend":[%b]%b}' % row for row in rows])
    return MadeBody(b'{"weeks":%b,"data":[\n%b\n],"not_found":%b}\n' % (series.weeks, data, dumps(not_found)))


def _find(build: OpenBuild, ids: Sequence[int]) -> tuple[np.ndarray, list[int], list[int]]:
    """Return the ordinals of the products with some ids, the ids that are known, and the others."""
    ordinals, known = build.catalogue.ordinals(ids)
    not_found = [id_ for id_, is_known in zip(ids, known, strict=True) if not is_known]
    return ordinals, list(compress(ids, known)), not_found


@cards.get("cards/<id_product>/identifiers", schema="CardIdentifiers", errors=(NotFound,), subject=rules.ProductId())
def get_card_identifiers(build: OpenBuild, id_product: str, query: Query) -> Body:
    id_, identifiers = _product_id(id_product), build.identifiers
    if build.catalogue.ordinal(id_) is None:
        raise NotFound(_NO_PRODUCT)
    return MadeBody(dumps({"id_product": id_, "identifiers": identifiers.of_product(id_)}) + b"\n")


@cards.get("identifiers", schema="SchemePage", query=rules.page(100, 500))
def list_schemes(build: OpenBuild, query: Query) -> Body:
    return short_list(build.identifiers.entries, query.offset, query.limit)


_VALUES = {"values": rules.TextList(100, MAX_TEXT_CHARACTERS, required=True)}


@cards.get("identifiers/<scheme>", schema="IdentifiedProducts", errors=(NotFound,), query=_VALUES)
def find_by_identifiers(build: OpenBuild, scheme: str, query: Query) -> Body:
    """Return the products that have some values in the scheme of another catalogue, and the values that none has."""
    identifiers = build.identifiers
    if scheme not in identifiers:
        raise NotFound("there is no such scheme: /identifiers lists the schemes")
    products = list(zip(query.values, identifiers.products(scheme, query.values), strict=True))
    found = [{"value": value, "products": ids} for value, ids in products if ids]
    not_found = [value for value, ids in products if not ids]
    return MadeBody(dumps({"data": found, "not_found": not_found}) + b"\n")


_SETS = {"q": rules.Text(MAX_TEXT_CHARACTERS)} | rules.GAME | rules.page(100, 1000)


@cards.get("sets", schema="SetPage", query=_SETS)
def list_sets(build: OpenBuild, query: Query) -> Body:
    text = fold_without_apostrophes((query.q or "").strip())
    game = query.game and filter_key(build.catalogue, "game", query.game)
    found = [one.line for one in build.sets if text in one.searched and (game is None or one.game == game)]
    return short_list(found, query.offset, query.limit)


@cards.get("games", schema="GamePage", query=rules.page(100, 500))
def list_games(build: OpenBuild, query: Query) -> Body:
    return short_list(build.rows(layout.GAMES), query.offset, query.limit)


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


_GROUP = {"set": rules.ProductId(), "game": rules.Text(MAX_TEXT_CHARACTERS, refuses_empty=True)} | _DAYS
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
    return MadeBody(build.market_history(group, str(first_day or "")))


@changes.get("changes", schema="ChangesPage", of_build=False, query={"since": rules.BuildId()} | rules.page(50, 100))
def list_changes(query: Query) -> Body:
    """Return one page of the steps: newest first, or those since a build, oldest first."""
    builds, since = _builds(), query.since
    if since is not None and since not in builds.steps().builds:
        builds.refresh()  # another worker may know a newer build, and so may the client
    steps = builds.steps()
    found = steps.documented if since is None else steps.since(since)
    if found is None:
        raise InvalidParameter(
            f"since {quote_input(since)} is neither live nor named by a step that is kept: "
            f"fetch everything again, and go on from the live build {steps.builds[0]}"
        )
    lines = [_step_line(step, steps) for step in found[query.offset : query.offset + query.limit]]
    return list_body(lines, query.offset, query.limit, len(found))


@changes.get(
    "changes/<pair>", path=f"{_CHANGES_URL}{{from}}...{{to}}", schema="Changes", of_build=False, errors=(NotFound,)
)
def get_changes(pair: str, query: Query) -> Body:
    builds = _builds()
    if all(step.pair != pair for step in builds.steps().documented):
        builds.refresh()
    steps = builds.steps()
    for step in steps.documented:
        if step.pair == pair:
            return builds.document(step, steps)
    raise NotFound("there is no such step: /api/v1/changes lists those that are kept")


def _builds() -> BuildRegistry:
    builds: BuildRegistry = current_app.extensions[NAME].builds
    builds.select()  # the steps are known before a build is live
    return builds


def _step_line(step: Step, steps: Steps) -> bytes:
    found = steps.entries[step]
    counts = {"added": found.added, "removed": found.removed, "changed": found.changed}
    ends = {"from": step.from_, "to": step.to, "as_of": layout.day_of(step.to)}
    return dumps(ends | counts | {"url": _CHANGES_URL + step.pair})
