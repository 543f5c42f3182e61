"""The endpoints: which path belongs to which, with the parameters, scope and headers of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from edge_auth.contract import keys, movers, object_keys, site_files, sorts
from edge_auth.core import contents
from edge_auth.core.accept import prefers
from edge_auth.core.bodies import JSON, Body
from edge_auth.core.changes import StepLog, changes_document, list_changes
from edge_auth.core.contents import NO_PATH, Values
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
MAX_TEXT_CHARACTERS = 200  # of a text parameter, before it is folded
_MAX_CACHED_PATH_BYTES = 256  # a client must not fill the memory with long paths
# The site's pages load scripts and styles from their own host only. Images may come from any host, or be drawn here.
# The policy `cardpress-worker` of Trusted Types gives the scanner the address of its worker, and makes no markup.
_SITE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types cardpress-worker",
    "Referrer-Policy": "no-referrer",
}


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
        raise NotFound(NO_PATH)
    if text == "/":
        return _HOME, site_files.HOME_PAGE
    if site_files.in_site_folder(text[1:]):
        return _SITE, text[1:]
    if not text.startswith(API):
        raise NotFound(NO_PATH)
    name = text.removeprefix(API)
    first, _, rest = name.partition("/")
    if name in _FIXED:
        return _FIXED[name], ""
    if first in _WITH_SUBJECT and rest and "/" not in rest:
        return _WITH_SUBJECT[first], rest
    if first == "watchlist" and rest:
        slug, _, action = rest.rpartition("/")
        return (_WATCHLIST_ACTIONS[action], slug) if slug and action in _WATCHLIST_ACTIONS else (_WATCHLIST_ITEM, rest)
    raise NotFound(NO_PATH)


_cached_route = lru_cache(4096)(_route)


def _home_form(accept: str) -> str:
    """Return the file that a client gets at /: JSON if it prefers that to HTML."""
    return site_files.HOME_JSON if prefers(accept, JSON, "text/html") else site_files.HOME_PAGE


_OFFSET = Integer(low=0, default=0)
_CARD = Endpoint(
    API + "cards/{idProduct}", contents.card, {"days": Integer(1, 3650)}, keys.CARDS_READ, subject_is_id=True
)
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
_WATCHLIST_ITEM = Endpoint(API + "watchlist/{slug}", contents.watchlist_item, scope=keys.WATCHLIST_READ)
_SITE = Endpoint(
    "/docs, /explore",
    contents.site_file,
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
        contents.watchlist_history,
        {"view": Choice(object_keys.HISTORY_VIEWS, "daily"), "range": Choice(object_keys.HISTORY_RANGES, "all")},
        keys.WATCHLIST_READ,
    ),
    "offers": Endpoint(API + "watchlist/{slug}/offers", contents.watchlist_offers, scope=keys.WATCHLIST_READ),
}
_FIXED = {
    "me": Endpoint(API + "me", None),
    "status": Endpoint(API + "status", contents.status),
    "watchlist": Endpoint(
        API + "watchlist", contents.watchlist, {"limit": Integer(1, 500, 100), "offset": _OFFSET}, keys.WATCHLIST_READ
    ),
    "cards": Endpoint(
        API + "cards",
        contents.cards,
        {
            "ids": IdList(100),
            "q": Text(100),
            "set": Text(MAX_TEXT_CHARACTERS),
            "number": Text(MAX_TEXT_CHARACTERS),
            "rarity": Text(MAX_TEXT_CHARACTERS),
            "game": Text(MAX_TEXT_CHARACTERS),
            "min_price": Price(),
            "max_price": Price(),
            "kind": Choice(sorts.KINDS, "all"),
            "sort": Choice(sorts.SORTS, "trend"),
            "order": Choice(sorts.ORDERS),
            "limit": Integer(1, 100, 50),
            "offset": _OFFSET,
        },
        keys.CARDS_READ,
    ),
    "sets": Endpoint(
        API + "sets",
        contents.sets,
        {
            "q": Text(MAX_TEXT_CHARACTERS),
            "game": Text(MAX_TEXT_CHARACTERS),
            "limit": Integer(1, 1000, 100),
            "offset": _OFFSET,
        },
        keys.CARDS_READ,
    ),
    "games": Endpoint(
        API + "games", contents.games, {"limit": Integer(1, 500, 100), "offset": _OFFSET}, keys.CARDS_READ
    ),
    "movers": Endpoint(
        API + "movers",
        contents.movers,
        {
            "window": Choice(movers.WINDOWS, "7d"),
            "by": Choice(movers.MEASURES, "percent"),
            "direction": Choice(movers.DIRECTIONS, "up"),
            "kind": Choice(sorts.KINDS, "all"),
            "min_price": Choice(movers.FLOORS, "1"),
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
    "bulk": Endpoint(API + "bulk", contents.bulk, scope=keys.BULK_READ),
    "fingerprints": Endpoint(
        API + "fingerprints",
        contents.fingerprints,
        scope=keys.FINGERPRINTS_READ,
        cache_control="private, max-age=3600",
        sends_rate_limit=False,
    ),
    "openapi.json": Endpoint(
        API + "openapi.json", contents.openapi, None, cache_control="public, max-age=300", public=True
    ),
}
