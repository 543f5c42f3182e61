"""The endpoints of the catalogue: cards, their weekly prices, names, sets, games and ids of other catalogues."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import compress

import numpy as np

from edge_auth.api.endpoint import HINT
from edge_auth.api.routes import Routes
from edge_auth.errors import NotFound
from edge_auth.live.open_build import OpenBuild
from edge_auth.parameters import (
    DAYS,
    GAME,
    KIND,
    MAX_TEXT_CHARACTERS,
    Choice,
    IdList,
    Integer,
    NameList,
    PageQuery,
    ProductId,
    Text,
    TextList,
    optional,
    parameter,
    required,
)
from edge_auth.search.advice import advice
from edge_auth.search.named import find_named
from edge_auth.search.query import ProductsQuery, Search, filter_key, read_search, value_filters
from edge_auth.search.ranking import ResultPage, find_page, mask_of
from generator.storage import keys, layout
from generator.storage.bodies import Body, MadeBody, StoredBody, dumps, list_body, short_list
from generator.storage.catalogue import DEFAULT_SORT, MATCH_SORT, ORDERS, SORTS
from generator.storage.text import fold, fold_without_apostrophes

cards = Routes("cards", keys.CARDS_READ, "catalogue")
_LEAST_KEPT_MATCHES = 1024
_NO_PRODUCT = "there is no product with this id"


@dataclass(frozen=True)
class ByIds:
    ids: tuple[int, ...] | None = optional(IdList(100))


@dataclass(frozen=True)
class CardsQuery(ProductsQuery, ByIds):  # the fields of the last base come first
    sort: str = parameter(Choice((*SORTS, MATCH_SORT)), DEFAULT_SORT)
    order: str | None = optional(Choice(ORDERS))
    limit: int = parameter(Integer(1, 100), 50)
    offset: int = parameter(Integer(0), 0)


@cards.get("cards", schema="CardPage", errors=(NotFound,), hints=True)
def list_cards(build: OpenBuild, query: CardsQuery) -> Body:
    """Return a page of the Cards that match, or the Cards of some ids."""
    lines, offset, limit = build.catalogue.card_lines, query.offset, query.limit
    if query.ids is not None:  # in their order, with the ids that are unknown
        ordinals, _, not_found = _find(build, query.ids)
        more = {"not_found": not_found}
        return list_body(lines.lines(ordinals), 0, len(query.ids), len(ordinals), lines.digest(ordinals), more)
    try:
        search = read_search(build.catalogue, query, query.sort, query.order)
    except NotFound as unknown_set:
        raise NotFound(str(unknown_set), **_advice(build, query)) from None
    found = _page(build, search, offset, limit)
    body = list_body(lines.lines(found.ordinals), offset, limit, found.total, lines.digest(found.ordinals))
    body.more_headers |= _advice(build, query) if found.total == 0 else {}
    return body


def _page(build: OpenBuild, search: Search, offset: int, limit: int) -> ResultPage:
    catalogue, end = build.catalogue, offset + limit
    if not offset or not search.filters:
        return find_page(catalogue, search, offset, limit)
    count = max(_LEAST_KEPT_MATCHES, 1 << end.bit_length())  # who is at a later page probably wants the next one
    found: ResultPage | None = build.kept(("search", search, count))
    if found is None:
        found = find_page(catalogue, search, 0, count)
        build.keep(("search", search, count), found, 4 * count)
    return ResultPage(found.ordinals[offset:end], found.total)


def _advice(build: OpenBuild, query: CardsQuery) -> dict[str, str]:
    """Return the header that says what may be meant where nothing is found, if there is anything to say."""
    said = advice(build.catalogue, build.meanings, query, query.sort)
    return {HINT: said} if said else {}


@cards.get("facets", schema="Facets", errors=(NotFound,))
def count_facets(build: OpenBuild, query: ProductsQuery) -> Body:
    search = read_search(build.catalogue, query)
    return MadeBody(build.facets.of_mask(mask_of(build.catalogue, search)))


@dataclass(frozen=True)
class NamesQuery:
    game: str | None = optional(GAME)


@cards.get("names", schema="Names")
def list_names(build: OpenBuild, query: NamesQuery) -> Body:
    key = layout.names_key(fold(query.game) if query.game else None)
    return build.stored_body(key) if build.find(key) else MadeBody(dumps({"count": 0, "names": []}) + b"\n")


@dataclass(frozen=True)
class CardQuery:
    days: int | None = optional(DAYS)


@cards.get("cards/<id_product>", schema="CardDetail", errors=(NotFound,), subject=ProductId())
def get_card(build: OpenBuild, id_product: int, query: CardQuery) -> Body:
    """Return a card with its whole history, or with that of the last `days` days."""
    if query.days is not None:
        first_day = build.as_of - timedelta(days=query.days - 1)
        if (detail := build.card_since(id_product, first_day.isoformat())) is not None:
            return MadeBody(detail)
    elif (card := build.card(id_product)) is not None:
        member = card.member
        return StoredBody(card.digest, card.size, len(member), lambda: member)
    raise NotFound(_NO_PRODUCT)


@dataclass(frozen=True)
class NamedQuery:
    names: tuple[str, ...] = required(NameList(100, MAX_TEXT_CHARACTERS))
    game: str | None = optional(GAME)
    kind: str = parameter(KIND, "all")
    printings: str = parameter(Choice(("true", "false")), "false")


@cards.get("cards/named", schema="NamedCards", hints=True)
def find_named_cards(build: OpenBuild, query: NamedQuery) -> Body:
    """Return the products of each name of a list, and the names that no product has."""
    catalogue, names = build.catalogue, query.names
    filters = tuple(value_filters(catalogue, query.kind, {"game": query.game}))
    mask = mask_of(catalogue, Search(filters)) if filters else None
    lines = find_named(catalogue, names, mask, query.printings == "true")
    not_found = dumps([name for name, line in zip(names, lines, strict=True) if not line])
    body = MadeBody(b'{"data":[\n%b\n],"not_found":%b}\n' % (b",\n".join(filter(None, lines)), not_found))
    if not any(lines) and len(names) == 1:  # commas may stand where lines should end
        apart = list(filter(None, map(str.strip, names[0].split(","))))
        found = sum(map(bool, find_named(catalogue, apart, mask)))
        said = {"nowhere": names, "instead": [{"names": "\n".join(apart), "products": found}]}
        body.more_headers |= {HINT: json.dumps(said, separators=(",", ":"))} if found else {}
    return body


@dataclass(frozen=True)
class SeriesQuery:
    ids: tuple[int, ...] = required(IdList(100))


@cards.get("series", schema="SeriesList")
def list_series(build: OpenBuild, query: SeriesQuery) -> Body:
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


@cards.get("cards/<id_product>/identifiers", schema="CardIdentifiers", errors=(NotFound,), subject=ProductId())
def get_card_identifiers(build: OpenBuild, id_product: int) -> Body:
    if build.catalogue.ordinal(id_product) is None:
        raise NotFound(_NO_PRODUCT)
    return MadeBody(dumps({"id_product": id_product, "identifiers": build.identifiers.of_product(id_product)}) + b"\n")


@cards.get("identifiers", schema="SchemePage")
def list_schemes(build: OpenBuild, query: PageQuery) -> Body:
    return short_list(build.identifiers.entries, query.offset, query.limit)


@dataclass(frozen=True)
class IdentifiersQuery:
    values: tuple[str, ...] = required(TextList(100, MAX_TEXT_CHARACTERS))


@cards.get("identifiers/<scheme>", schema="IdentifiedProducts", errors=(NotFound,))
def find_by_identifiers(build: OpenBuild, scheme: str, query: IdentifiersQuery) -> Body:
    """Return the products that have some values in the scheme of another catalogue, and the values that none has."""
    identifiers = build.identifiers
    if scheme not in identifiers:
        raise NotFound("there is no such scheme: /identifiers lists the schemes")
    products = list(zip(query.values, identifiers.products(scheme, query.values), strict=True))
    found = [{"value": value, "products": ids} for value, ids in products if ids]
    not_found = [value for value, ids in products if not ids]
    return MadeBody(dumps({"data": found, "not_found": not_found}) + b"\n")


@dataclass(frozen=True)
class SetsQuery:
    q: str | None = optional(Text(MAX_TEXT_CHARACTERS))
    game: str | None = optional(GAME)
    limit: int = parameter(Integer(1, 1000), 100)
    offset: int = parameter(Integer(0), 0)


@cards.get("sets", schema="SetPage")
def list_sets(build: OpenBuild, query: SetsQuery) -> Body:
    text = fold_without_apostrophes((query.q or "").strip())
    game = query.game and filter_key(build.catalogue, "game", query.game)
    found = [one.line for one in build.sets if text in one.searched and (game is None or one.game == game)]
    return short_list(found, query.offset, query.limit)


@cards.get("games", schema="GamePage")
def list_games(build: OpenBuild, query: PageQuery) -> Body:
    return short_list(build.rows(layout.GAMES), query.offset, query.limit)
