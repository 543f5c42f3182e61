"""The endpoints: which path belongs to which, the parameters of each, and the body that each answers with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from edge_auth.contract import keys, names
from edge_auth.contract.movers import list_key
from edge_auth.contract.text import fold
from edge_auth.core.accept import prefers
from edge_auth.core.bodies import JSON, Body, list_body
from edge_auth.core.changes import StepLog, changes_document, list_changes
from edge_auth.core.open_build import OpenBuild
from edge_auth.core.parameters import (
    BuildId,
    Choice,
    IdList,
    Integer,
    Price,
    Rule,
    Text,
    is_integer,
    quote_input,
    read_query,
)
from edge_auth.core.search import find_page, folded_game, read_search
from edge_auth.errors import InvalidParameter, NotFound

API = "/api/v1/"
COMMON_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "Retry-After, ETag, X-Build, X-Total-Count, Accept-Ranges, Content-Range",
    "X-Content-Type-Options": "nosniff",
}
_KEYED_VARY = "Authorization, X-API-Key, Accept-Encoding, X-Build"
_PUBLIC_VARY = "Accept-Encoding, X-Build"
_PAGE_VARY = "Accept-Encoding"
_FILE_VARY = "Authorization, X-API-Key"
_MAX_ID_DIGITS = 19
MAX_TEXT_CHARACTERS = 200  # of a text parameter, before it is folded
_MAX_CACHED_PATH_BYTES = 256  # a client must not fill the memory with long paths
_NO_PATH = "there is no such path: /docs lists what there is"
_NO_PRODUCT = "there is no product with this id"
# The site's pages load scripts and styles from their own host only. Images may come from any host, or be drawn here.
# The policy `cardpress-worker` of Trusted Types gives the scanner the address of its worker, and makes no markup.
_SITE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types cardpress-worker",
    "Referrer-Policy": "no-referrer",
}

Values = dict[str, Any]  # parameters by name


@dataclass(frozen=True, eq=False)
class Endpoint:
    """A row of the table of endpoints in docs/api.md.

    Attributes:
        path: As docs/api.md writes it; log and metrics use it as the endpoint's name.
        body: Makes the body from a build, the subject of the path, and the parameters. None if no build is read.
        steps_body: The same from the steps of the store.
        rules: The rules of the parameters by name. None means that the endpoint ignores the query.
        scope: The scope that the key needs, if any.
        sends_rate_limit: Whether answers carry the X-RateLimit headers.
        public: Whether requests need no key. The limit then counts by client address.
        rate_limited: Whether requests count towards a limit.
        extra_headers: Headers of a 200 in addition to the usual ones.
        subject_is_id: Whether the subject is the id of a product, which must be an integer.
        page: Whether this is a page for people. Pages come from the live build, whatever X-Build says.
        methods: The methods that are allowed. HEAD is answered like GET, without the body.
        by_accept: Returns the subject for a header Accept, if the answer has several forms.
        bulk_file: Whether this is a bulk file. It belongs to no single build, and its requests count on their own.
    """

    path: str
    body: Callable[[OpenBuild, str, Values], Body] | None
    rules: Mapping[str, Rule] | None = field(default_factory=dict)
    scope: str | None = None
    cache_control: str = "private, no-cache"
    sends_rate_limit: bool = True
    public: bool = False
    rate_limited: bool = True
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    subject_is_id: bool = False
    page: bool = False
    methods: tuple[str, ...] = ("GET",)
    by_accept: Callable[[str], str] | None = None
    steps_body: Callable[[StepLog, str, Values], Body] | None = None
    bulk_file: bool = False

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers of every 200."""
        keyed = _FILE_VARY if self.bulk_file else _KEYED_VARY
        vary = _PAGE_VARY if self.page else _PUBLIC_VARY if self.public else keyed
        vary = f"Accept, {vary}" if self.by_accept else vary
        return {**COMMON_HEADERS, **self.extra_headers, "Cache-Control": self.cache_control, "Vary": vary}

    @property
    def shared_scope(self) -> str | None:
        """The scope of the keys that get the same 200, "-" for all keys, or None if no other key gets it."""
        return (self.scope or "-") if self.body and self.sends_rate_limit and not self.public else None

    def parameters(self, subject: str, query: str) -> Values:
        """Return the parameters of a request.

        Raises:
            InvalidParameter: The subject or a parameter is not allowed.
        """
        if self.subject_is_id and not is_integer(subject):
            raise InvalidParameter(f"idProduct must be an integer, not {quote_input(subject)}")
        return read_query(query, self.rules) if self.rules is not None else {}

    def make_body(self, build: OpenBuild, subject: str, query: str) -> Body:
        """Return the body for a request.

        Raises:
            ApiError: A parameter is not allowed, or there is no such object.
            StoreError: The store failed.
        """
        assert self.body is not None, f"{self.path} is answered without a build"
        return self.body(build, subject, self.parameters(subject, query))


def route(path: bytes) -> tuple[Endpoint, str]:
    """Return the endpoint of a percent-decoded path, and the subject of the path.

    The subject is the id of a product, a slug, a pair of builds, the path of a file of the site, or ''.

    Raises:
        NotFound: There is no such path.
    """
    return _cached_route(path) if len(path) <= _MAX_CACHED_PATH_BYTES else _route(path)


def _route(path: bytes) -> tuple[Endpoint, str]:
    text = path.decode(errors="replace")
    if text.encode() != path:
        raise NotFound(_NO_PATH)
    if text == "/":
        return _HOME, names.HOME_PAGE
    if names.in_site_folder(text[1:]):
        return _SITE, text[1:]
    if not text.startswith(API):
        raise NotFound(_NO_PATH)
    name = text.removeprefix(API)
    first, _, rest = name.partition("/")
    if name in _FIXED:
        return _FIXED[name], ""
    if first in _WITH_SUBJECT and rest and "/" not in rest:
        return _WITH_SUBJECT[first], rest
    if first == "watchlist" and rest:
        slug, _, action = rest.rpartition("/")
        return (_WATCHLIST_ACTIONS[action], slug) if slug and action in _WATCHLIST_ACTIONS else (_WATCHLIST_ITEM, rest)
    raise NotFound(_NO_PATH)


_cached_route = lru_cache(4096)(_route)


def _short_list(lines: Sequence[bytes], values: Values) -> Body:
    """Return one page of a list that is in memory."""
    offset, limit = values["offset"], values["limit"]
    return list_body(lines[offset : offset + limit], offset, limit, len(lines))


def _status(build: OpenBuild, _: str, __: Values) -> Body:
    return Body.from_json(build.objects.status())


def _fingerprints(build: OpenBuild, _: str, __: Values) -> Body:
    return build.stored_body(names.FINGERPRINTS_KEY)


def _bulk(build: OpenBuild, _: str, __: Values) -> Body:
    return Body.from_json(build.manifest)


def _openapi(build: OpenBuild, _: str, __: Values) -> Body:
    return build.stored_body(names.OPENAPI_KEY)


def _site_file(build: OpenBuild, path: str, _: Values) -> Body:
    """Return a file of the site. The path of a folder means its page."""
    folder = path.removesuffix("/")
    key = f"{folder}/index.html" if folder in names.SITE_PAGES else path
    if build.objects.find(key) is None:
        raise NotFound(_NO_PATH)
    return build.stored_body(key)


def _home_form(accept: str) -> str:
    """Return the file that a client gets at /: JSON if it prefers that to HTML."""
    return names.HOME_JSON if prefers(accept, JSON, "text/html") else names.HOME_PAGE


def _watchlist(build: OpenBuild, _: str, values: Values) -> Body:
    return _short_list(build.watchlist, values)


def _watchlist_item(build: OpenBuild, slug: str, _: Values) -> Body:
    return build.stored_body(names.watchlist_item(build.slugs.resolve(slug)))


def _watchlist_history(build: OpenBuild, slug: str, values: Values) -> Body:
    slug = build.slugs.resolve(slug)
    return build.stored_body(names.watchlist_history(slug, values["view"], values["range"]))


def _watchlist_offers(build: OpenBuild, slug: str, _: Values) -> Body:
    return build.stored_body(names.watchlist_offers(build.slugs.resolve(slug)))


def _sets(build: OpenBuild, _: str, values: Values) -> Body:
    text, game = fold((values["q"] or "").strip()), folded_game(build, values)
    found = [one.line for one in build.sets if text in one.name and (game is None or one.game == game)]
    return _short_list(found, values)


def _games(build: OpenBuild, _: str, values: Values) -> Body:
    return _short_list(build.games, values)


def _movers(build: OpenBuild, _: str, values: Values) -> Body:
    options = [values[name] for name in ("window", "by", "direction", "kind", "min_price")]
    game = values["game"] and fold(values["game"])
    return _short_list(build.movers.list(list_key(options, game)), values)


def _cards(build: OpenBuild, _: str, values: Values) -> Body:
    if values["ids"] is not None:
        return _cards_by_id(build, values["ids"])
    offset, limit = values["offset"], values["limit"]
    page, cards = find_page(build, read_search(build, values), offset, limit), build.catalogue.card_lines
    return list_body(cards.lines(page.ordinals), offset, limit, page.total, cards.digest(page.ordinals))


def _cards_by_id(build: OpenBuild, ids: Sequence[int]) -> Body:
    """Return the Cards with these ids in this order, and the ids that are unknown."""
    ordinals = build.catalogue.ordinals(ids)
    found = np.array([ordinal for ordinal in ordinals if ordinal is not None], np.int64)
    not_found = [id_ for id_, ordinal in zip(ids, ordinals, strict=True) if ordinal is None]
    cards = build.catalogue.card_lines
    more = {"not_found": not_found}
    return list_body(cards.lines(found), 0, len(ids), len(found), cards.digest(found), more)


def _card(build: OpenBuild, subject: str, values: Values) -> Body:
    """Return a product with its history. The id may be any integer, however large."""
    digits = subject.lstrip("-").lstrip("0") or "0"
    if len(digits) > _MAX_ID_DIGITS:
        raise NotFound(_NO_PRODUCT)
    id_ = -int(digits) if subject.startswith("-") else int(digits)
    if (days := values["days"]) is not None:
        first_day = build.objects.as_of - timedelta(days=days - 1)
        if (detail := build.objects.card_since(id_, first_day.isoformat())) is not None:
            return Body.from_json(detail)
    elif (card := build.objects.card(id_)) is not None:
        return Body.from_card(card)
    raise NotFound(_NO_PRODUCT)


_OFFSET = Integer(low=0, default=0)
_CARD = Endpoint(API + "cards/{idProduct}", _card, {"days": Integer(1, 3650)}, keys.CARDS_READ, subject_is_id=True)
_CHANGES_DOCUMENT = Endpoint(API + "changes/{from}...{to}", None, scope=keys.CARDS_READ, steps_body=changes_document)
_BULK_FILE = Endpoint(
    API + "bulk/{name}",
    None,
    scope=keys.BULK_READ,
    cache_control="private, max-age=31536000, immutable",
    extra_headers={"Accept-Ranges": "bytes"},
    methods=("GET", "HEAD"),
    bulk_file=True,
)
_WITH_SUBJECT = {"cards": _CARD, "bulk": _BULK_FILE, "changes": _CHANGES_DOCUMENT}
_WATCHLIST_ITEM = Endpoint(API + "watchlist/{slug}", _watchlist_item, scope=keys.WATCHLIST_READ)
_SITE = Endpoint(
    "/docs, /explore",
    _site_file,
    None,
    cache_control="public, max-age=300",
    public=True,
    rate_limited=False,
    extra_headers=_SITE_HEADERS,
    page=True,
    methods=("GET", "HEAD"),
)
_HOME = replace(_SITE, path="/", by_accept=_home_form)
_WATCHLIST_ACTIONS = {
    "history": Endpoint(
        API + "watchlist/{slug}/history",
        _watchlist_history,
        {"view": Choice(names.VIEWS, "daily"), "range": Choice(names.RANGES, "all")},
        keys.WATCHLIST_READ,
    ),
    "offers": Endpoint(API + "watchlist/{slug}/offers", _watchlist_offers, scope=keys.WATCHLIST_READ),
}
_FIXED = {
    "me": Endpoint(API + "me", None),
    "status": Endpoint(API + "status", _status),
    "watchlist": Endpoint(
        API + "watchlist", _watchlist, {"limit": Integer(1, 500, 100), "offset": _OFFSET}, keys.WATCHLIST_READ
    ),
    "cards": Endpoint(
        API + "cards",
        _cards,
        {
            "ids": IdList(100),
            "q": Text(100),
            "set": Text(MAX_TEXT_CHARACTERS),
            "number": Text(MAX_TEXT_CHARACTERS),
            "rarity": Text(MAX_TEXT_CHARACTERS),
            "game": Text(MAX_TEXT_CHARACTERS),
            "min_price": Price(),
            "max_price": Price(),
            "kind": Choice(names.KINDS, "all"),
            "sort": Choice(names.SORTS, "trend"),
            "order": Choice(names.ORDERS),
            "limit": Integer(1, 100, 50),
            "offset": _OFFSET,
        },
        keys.CARDS_READ,
    ),
    "sets": Endpoint(
        API + "sets",
        _sets,
        {
            "q": Text(MAX_TEXT_CHARACTERS),
            "game": Text(MAX_TEXT_CHARACTERS),
            "limit": Integer(1, 1000, 100),
            "offset": _OFFSET,
        },
        keys.CARDS_READ,
    ),
    "games": Endpoint(API + "games", _games, {"limit": Integer(1, 500, 100), "offset": _OFFSET}, keys.CARDS_READ),
    "movers": Endpoint(
        API + "movers",
        _movers,
        {
            "window": Choice(names.MOVER_WINDOWS, "7d"),
            "by": Choice(names.MOVER_MEASURES, "percent"),
            "direction": Choice(names.MOVER_DIRECTIONS, "up"),
            "kind": Choice(names.KINDS, "all"),
            "min_price": Choice(names.MOVER_FLOORS, "1"),
            "game": Text(MAX_TEXT_CHARACTERS),
            "limit": Integer(1, 100, 50),
            "offset": _OFFSET,
        },
        keys.CARDS_READ,
    ),
    "changes": Endpoint(
        API + "changes",
        None,
        {"since": BuildId(), "limit": Integer(1, 100, 50), "offset": _OFFSET},
        keys.CARDS_READ,
        steps_body=list_changes,
    ),
    "bulk": Endpoint(API + "bulk", _bulk, scope=keys.BULK_READ),
    "fingerprints": Endpoint(
        API + "fingerprints",
        _fingerprints,
        scope=keys.FINGERPRINTS_READ,
        cache_control="private, max-age=3600",
        sends_rate_limit=False,
    ),
    "openapi.json": Endpoint(API + "openapi.json", _openapi, None, cache_control="public, max-age=300", public=True),
}
