"""From a request to the answer expected: routing, paging and error codes."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.oracle import facets, games, identifiers, market, movers, names, params, series, sets, watchlist
from tests.support.oracle.cards import Cards, UnknownSet
from tests.support.oracle.lake import OracleLake, Row
from tests.support.oracle.status import status

Answer = tuple[int, Any]
ROOT = "/api/v1/"
# Lists that take limit and offset alone: the default limit, the largest one, and the rows.
PLAIN_LISTS: dict[str, tuple[int, int, Callable[[OracleLake], list[Row]]]] = {
    "watchlist": (100, 500, watchlist.items),
    "games": (100, 500, games.listed),
    "identifiers": (100, 500, identifiers.schemes),
}
LISTS = (*PLAIN_LISTS, "cards", "sets", "movers", "market")
SINGLE = ("status", "fingerprints", "names", "facets", "series")
NOT_FOUND = (404, "not_found")
INVALID = (400, "invalid_parameter")


class Oracle:
    """What the API must say about one lake as of one day, for a key with every scope.

    `as_of`: a day (`YYYY-MM-DD`), the newest partition when left out. `build_id`: what /status shows.
    """

    def __init__(self, lake_path: Path, as_of: str | None = None, build_id: str | None = None) -> None:
        self.lake = OracleLake(lake_path, as_of)
        self.cards = Cards(self.lake)
        self.build_id = build_id

    def ask(self, target: str) -> Answer:
        """The answer to a raw request target, still percent-encoded (`/api/v1/cards?q=a%20b`)."""
        path, _, query = target.partition("?")
        try:
            decoded = params.decode(path)
        except UnicodeDecodeError:
            return NOT_FOUND
        if route(decoded)[0] is None:  # this error comes before those of parameters
            return NOT_FOUND
        try:
            return self.answer(decoded, params.split_query(query))
        except params.Refused:
            return INVALID

    def answer(self, path: str, pairs: list[tuple[str, str]]) -> Answer:
        """(200, body) or (status, error code) for a decoded path and its decoded parameters."""
        endpoint, subject = route(path)
        if endpoint is None:
            return NOT_FOUND
        try:
            parameters = read(endpoint, pairs)
            return 200, self._body(endpoint, subject, parameters)
        except params.Refused:
            return INVALID
        except (UnknownSet, watchlist.NoSuchSlug, identifiers.NoSuchScheme, market.NoSuchGroup):
            return NOT_FOUND
        except watchlist.SeveralSlugs:
            return 409, "ambiguous_slug"

    def _body(self, endpoint: str, subject: str, parameters: dict[str, Any]) -> Row:
        if endpoint == "series":
            return series.listed(self.lake, parameters["ids"])
        if parameters.get("ids") is not None:
            return self._cards_with_ids(parameters["ids"])
        if endpoint in LISTS:
            return page(self._rows(endpoint, parameters), parameters["limit"], parameters["offset"])
        if endpoint == "status":
            return status(self.lake, self.build_id)
        if endpoint == "fingerprints":
            return fingerprints(self.lake)
        if endpoint == "names":
            return names.listed(self.lake, parameters["game"])
        if endpoint == "named":
            return names.of_list(self.cards, parameters)
        if endpoint == "facets":
            return facets.counted(self.lake, self.cards.matching(parameters | {"sort": "trend"}))
        if endpoint == "scheme":
            return identifiers.find(self.lake, subject, parameters["values"])
        if endpoint == "market/history":
            return market.history(self.lake, parameters)
        if endpoint == "card":
            return self.cards.detail(self._known_id(subject), parameters["days"])
        if endpoint == "card identifiers":
            return identifiers.of_product(self.lake, self._known_id(subject))
        return self._watched(endpoint, watchlist.find(self.lake, subject), parameters)

    def total(self, target: str) -> int:
        """What X-Total-Count must say for a target that is answered with a list."""
        path, _, query = target.partition("?")
        endpoint, _ = route(params.decode(path))
        assert endpoint in LISTS
        parameters = read(endpoint, params.split_query(query))
        if parameters.get("ids") is not None:
            return len(self._cards_with_ids(parameters["ids"])["data"])
        return len(self._rows(endpoint, parameters))

    def _cards_with_ids(self, ids: list[int]) -> Row:
        different = list(dict.fromkeys(ids))
        known = [id_ for id_ in different if id_ in self.lake.products]
        body = page([self.cards.card(id_) for id_ in known], len(different), 0)
        return body | {"not_found": [id_ for id_ in different if id_ not in self.lake.products]}

    def _rows(self, endpoint: str, parameters: dict[str, Any]) -> list[Row]:
        if endpoint == "cards":
            return self.cards.search(parameters)
        if endpoint == "sets":
            return sets.search(self.lake, parameters["q"], parameters["game"])
        if endpoint == "market":
            return market.listed(self.lake, parameters)
        if endpoint == "movers":
            return movers.listed(self.lake, parameters)
        _, _, rows = PLAIN_LISTS[endpoint]
        return rows(self.lake)

    def _known_id(self, text: str) -> int:
        if not re.fullmatch("-?[0-9]+", text):
            raise params.Refused("idProduct")
        if int(text) not in self.lake.products:
            raise watchlist.NoSuchSlug
        return int(text)

    def _watched(self, endpoint: str, slug: str, parameters: dict[str, Any]) -> Row:
        if endpoint == "history":
            return watchlist.history(self.lake, slug, parameters["view"], parameters["range"])
        return watchlist.offers(self.lake, slug) if endpoint == "offers" else watchlist.item(self.lake, slug)


def read(endpoint: str, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    if endpoint in PLAIN_LISTS:
        default, most, _ = PLAIN_LISTS[endpoint]
        return params.read(endpoint, params.paging(default, most), pairs)
    return params.read(endpoint, params.PARAMETERS[endpoint], pairs)


def route(path: str) -> tuple[str | None, str]:
    """The endpoint and what it is about (an id, a slug); (None, "") for an unknown path."""
    if not path.startswith(ROOT):
        return None, ""
    head, slash, rest = path.removeprefix(ROOT).partition("/")
    if head in (*LISTS, *SINGLE) and not slash:
        return head, ""
    if path == f"{ROOT}market/history":
        return "market/history", ""
    if path == f"{ROOT}cards/named":
        return "named", ""
    if head == "cards" and rest and "/" not in rest:
        return "card", rest
    if head == "cards" and re.fullmatch("[^/]+/identifiers", rest):
        return "card identifiers", rest.removesuffix("/identifiers")
    if head == "identifiers" and rest and "/" not in rest:
        return "scheme", rest
    if head == "watchlist" and rest:
        slug, cut, action = rest.rpartition("/")
        return (action, slug) if cut and action in ("history", "offers") else ("item", rest)
    return None, ""


def page(rows: list[Row], limit: int, offset: int) -> Row:
    data = rows[offset : offset + limit]
    has_more = offset + len(data) < len(rows) and bool(data)
    return {
        "data": data,
        "pagination": {
            "limit": limit,
            "offset": offset,
            "returned": len(data),
            "has_more": has_more,
            "next_offset": offset + len(data) if has_more else None,
        },
    }


def fingerprints(lake: OracleLake) -> Row:
    """Entries by key: the contract names no order, so both sides are compared sorted."""
    names = ("key", "art_p", "art_d", "card_p", "colour", "products")
    entries = [{name: row[name] for name in names} for row in lake.fingerprints]
    return {
        "version": lake.recipe["version"],
        "count": len(entries),
        "image_url": lake.recipe["image_url"],
        "entries": sorted(entries, key=lambda entry: entry["key"]),
    }
