"""The table of endpoints: the declaration of the API's surface. Flask's rules and the OpenAPI document follow."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher, get_close_matches
from enum import Enum, auto
from functools import cached_property
from itertools import dropwhile
from typing import Any

from edge_auth.api import views
from edge_auth.api.parameters import (
    BuildId,
    Choice,
    GivenText,
    IdList,
    Integer,
    NameList,
    Price,
    ProductId,
    Required,
    Rule,
    Text,
    TextList,
)
from edge_auth.api.views import Values
from edge_auth.builds import card_lists, layer_names, market, object_keys
from edge_auth.builds.bodies import Body
from edge_auth.errors import AmbiguousSlug, ApiError, NotFound, RangeNotSatisfiable
from edge_auth.live import keys
from edge_auth.live.counter import PER_KEY, PER_KEY_FOR_FILES, KeyWindow

API = "/api/v1/"
MAX_TEXT_CHARACTERS = 200  # of a text parameter, before it is folded
_MAX_MEANT_BYTES = 60  # of a path that is compared with those of the table
_MIN_NEARNESS = 0.7
COMMON_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "Retry-After, ETag, X-Build, X-Total-Count, Accept-Ranges, Content-Range",
    "X-Content-Type-Options": "nosniff",
}


class Source(Enum):
    """What determines an answer."""

    BUILD = auto()  # a build, which the answer names in X-Build
    STEPS = auto()  # the steps of the store
    KEY = auto()  # the record of the request's key
    FILES = auto()  # the bulk files of all builds
    SITE = auto()  # the pages of the live build


@dataclass(frozen=True, eq=False)
class Endpoint:
    """A row of the table of endpoints. `generator/site/operations.md` has its prose.

    Attributes:
        path: As the documents write it; log and metrics use it as the endpoint's name.
        body: Makes the body from the source, the variable part of the path, and the parameters; None for a key or file.
        rules: The rules of the parameters by name. None means that the endpoint ignores the query.
        scope: The scope that the key needs, if any.
        id, tag, schema: What the OpenAPI document says: the operation's id and tag, and the schema of a 200.
        errors: The errors of its look-up. The document adds those of the checks that come before.
        subject: The rule of the variable part of the path, if it has one.
        slashes: Whether the variable part may hold slashes.
        vary: The header Vary of every 200.
        extra_headers: Headers of a 200 in addition to the usual ones.
        sends_rate_limit: Whether answers carry the X-RateLimit headers.
        public: Whether requests need no key. The limit then counts by client address.
        rate_limited: Whether requests count towards a limit.
        window: The window in which requests with a key count.
        methods: The methods that are allowed. HEAD is answered like GET, without the body.
    """

    path: str
    body: Callable[[Any, str, Values], Body] | None = None
    rules: Mapping[str, Rule] | None = field(default_factory=dict)
    scope: str | None = None
    source: Source = Source.BUILD
    id: str = ""
    tag: str = ""
    schema: str = ""
    errors: tuple[type[ApiError], ...] = ()
    subject: Rule | None = None
    slashes: bool = False
    cache_control: str = "private, no-cache"
    vary: str = "Authorization, X-API-Key, Accept-Encoding, X-Build"
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    sends_rate_limit: bool = True
    public: bool = False
    rate_limited: bool = True
    window: KeyWindow = PER_KEY
    methods: tuple[str, ...] = ("GET",)

    @property
    def of_build(self) -> bool:
        """Whether a build determines the answers."""
        return self.source is Source.BUILD

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers of every 200."""
        return {**COMMON_HEADERS, **self.extra_headers, "Cache-Control": self.cache_control, "Vary": self.vary}

    @cached_property
    def shared_scope(self) -> str | None:
        """The scope of the keys that get the same 200, "-" for all keys, or None if no other key gets it."""
        shared = self.of_build and self.sends_rate_limit and not self.public
        return (self.scope or "-") if shared else None

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """The names of the variable parts of the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    def shared(self) -> "Endpoint":
        """Return the row for a cache that asks before each use. One key may get the copy of another key's answer."""
        if not self.of_build or self.public:
            return self
        return replace(self, cache_control="public, no-cache", vary="Accept-Encoding, X-Build")

    @property
    def rule(self) -> str:
        """The path as a rule of Flask, with the variable part as `subject`."""
        before, brace, rest = self.path.partition("{")
        kind = "text:" if self.slashes else ""
        return f"{before}<{kind}subject>{rest.rpartition('}')[2]}" if brace else self.path


_GAME: dict[str, Rule] = {"game": Text(MAX_TEXT_CHARACTERS)}
_NAMES: dict[str, Rule] = {"names": Required(NameList(100, MAX_TEXT_CHARACTERS))}
_PRINTINGS: dict[str, Rule] = {"printings": Choice(("true", "false"), "false")}
_KIND: dict[str, Rule] = {"kind": Choice(card_lists.KINDS, "all")}
_FILTERS: dict[str, Rule] = {
    "q": Text(100),
    "find": Text(100),
    "set": Text(MAX_TEXT_CHARACTERS),
    **dict.fromkeys(card_lists.TEXT_FILTERS, Text(MAX_TEXT_CHARACTERS)),
    "min_price": Price(),
    "max_price": Price(),
    **_KIND,
}
_CARDS: dict[str, Rule] = {
    "ids": IdList(100),
    **_FILTERS,
    "sort": Choice((*card_lists.SORTS, card_lists.MATCH_SORT), card_lists.DEFAULT_SORT),
    "order": Choice(card_lists.ORDERS),
}
_MOVERS: dict[str, Rule] = {
    "window": Choice(market.WINDOWS, "7d"),
    "by": Choice(market.MEASURES, "percent"),
    "direction": Choice(market.DIRECTIONS, "up"),
    **_KIND,
    "min_price": Choice(market.FLOORS, "1"),
    "confirmed": Choice(("true", "false"), "false"),
    **_GAME,
}
_MARKET: dict[str, Rule] = {
    "by": Choice(market.GROUPINGS, "set"),
    **_GAME,
    "sort": Choice(market.SORTS, "value"),
    "order": Choice(card_lists.ORDERS),
}
_GROUP: dict[str, Rule] = {"set": ProductId(), "game": GivenText(MAX_TEXT_CHARACTERS), "days": Integer(1, 3650)}
_HISTORY: dict[str, Rule] = {
    "view": Choice(object_keys.HISTORY_VIEWS, "daily"),
    "range": Choice(object_keys.HISTORY_RANGES, "all"),
}


def _page(default: int, most: int) -> dict[str, Rule]:
    return {"limit": Integer(1, most, default), "offset": Integer(low=0, default=0)}


def _service(path: str, id_: str, schema: str, **more: Any) -> Endpoint:
    return Endpoint(API + path, id=id_, schema=schema, tag="service", **more)


def _watched(
    part: str, body: Callable[[Any, str, Values], Body], id_: str, schema: str, rules: Mapping[str, Rule] | None = None
) -> Endpoint:
    """Return the row of a part of a watchlist item."""
    more: dict[str, Any] = {"slashes": True, "errors": (NotFound, AmbiguousSlug)}
    path = f"{API}watchlist/{{slug}}{part}"
    return Endpoint(path, body, rules or {}, keys.WATCHLIST_READ, id=id_, tag="watchlist", schema=schema, **more)


def _catalogue(
    path: str,
    body: Callable[[Any, str, Values], Body],
    id_: str,
    schema: str,
    rules: Mapping[str, Rule] | None = None,
    errors: tuple[type[ApiError], ...] = (NotFound,),
    **more: Any,
) -> Endpoint:
    """Return a row of the catalogue."""
    described: dict[str, Any] = {"id": id_, "tag": "catalogue", "schema": schema, "errors": errors}
    return Endpoint(API + path, body, rules or {}, keys.CARDS_READ, **described, **more)


def _bulk(path: str, **more: Any) -> Endpoint:
    return Endpoint(API + path, scope=keys.BULK_READ, tag="bulk", **more)


# In the order of the documents.
ENDPOINTS = (
    _service("me", "getKey", "Key", source=Source.KEY),
    _service("status", "getStatus", "Status", body=views.status),
    Endpoint(
        f"{API}watchlist",
        views.watchlist,
        _page(100, 500),
        keys.WATCHLIST_READ,
        id="listWatchlist",
        tag="watchlist",
        schema="WatchlistPage",
    ),
    _watched("", views.watchlist_item, "getWatchlistItem", "WatchlistItem"),
    _watched("/history", views.watchlist_history, "getWatchlistHistory", "WatchlistHistory", _HISTORY),
    _watched("/offers", views.watchlist_offers, "getWatchlistOffers", "WatchlistOffers"),
    _catalogue("cards", views.cards, "listCards", "CardPage", _CARDS | _page(50, 100)),
    _catalogue("facets", views.facets, "countFacets", "Facets", _FILTERS),
    _catalogue("names", views.names, "listNames", "Names", _GAME),
    _catalogue(
        "cards/{idProduct}", views.card, "getCard", "CardDetail", {"days": Integer(1, 3650)}, subject=ProductId()
    ),
    _catalogue("cards/named", views.named_cards, "findNamedCards", "NamedCards", _NAMES | _GAME | _KIND | _PRINTINGS),
    _catalogue("series", views.series, "listSeries", "SeriesList", {"ids": Required(IdList(100))}),
    _catalogue(
        "cards/{idProduct}/identifiers",
        views.card_identifiers,
        "getCardIdentifiers",
        "CardIdentifiers",
        subject=ProductId(),
    ),
    _catalogue("identifiers", views.schemes, "listSchemes", "SchemePage", _page(100, 500)),
    _catalogue(
        "identifiers/{scheme}",
        views.products_by_value,
        "findByIdentifiers",
        "IdentifiedProducts",
        {"values": Required(TextList(100, MAX_TEXT_CHARACTERS))},
    ),
    _catalogue(
        "sets", views.sets, "listSets", "SetPage", {"q": Text(MAX_TEXT_CHARACTERS), **_GAME, **_page(100, 1000)}, ()
    ),
    _catalogue("games", views.stored_list(layer_names.GAMES), "listGames", "GamePage", _page(100, 500)),
    _catalogue("movers", views.movers, "listMovers", "MoverPage", _MOVERS | _page(50, 100)),
    _catalogue("market", views.market, "listMarket", "MarketPage", _MARKET | _page(100, 500)),
    _catalogue("market/history", views.market_history, "getMarketHistory", "MarketHistory", _GROUP),
    _catalogue(
        "changes",
        views.list_changes,
        "listChanges",
        "ChangesPage",
        {"since": BuildId(), **_page(50, 100)},
        (),
        source=Source.STEPS,
    ),
    _catalogue("changes/{from}...{to}", views.changes_document, "getChanges", "Changes", source=Source.STEPS),
    Endpoint(
        f"{API}fingerprints",
        views.fingerprints,
        scope=keys.FINGERPRINTS_READ,
        id="getFingerprints",
        tag="fingerprints",
        schema="FingerprintIndex",
        cache_control="private, max-age=3600",
        sends_rate_limit=False,
    ),
    _bulk("bulk", body=views.bulk, id="listBulkFiles", schema="BulkManifest", errors=(NotFound,)),
    _bulk(
        "bulk/{name}",
        source=Source.FILES,
        id="getBulkFile",
        errors=(NotFound, RangeNotSatisfiable),
        cache_control="private, max-age=31536000, immutable",
        vary="Authorization, X-API-Key",
        extra_headers={"Accept-Ranges": "bytes"},
        window=PER_KEY_FOR_FILES,
        methods=("GET", "HEAD"),
    ),
    _service(
        "openapi.json",
        "getDescription",
        "Description",
        body=views.openapi,
        rules=None,
        cache_control="public, max-age=300",
        vary="Accept-Encoding, X-Build",
        public=True,
    ),
)
# The site's pages load scripts and styles from their own host only. Images may come from any host, or be drawn here.
# The policy `cardpress-worker` of Trusted Types gives the scanner the address of its worker, and makes no markup.
SITE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types cardpress-worker",
    "Referrer-Policy": "no-referrer",
}


def _pages(path: str, vary: str) -> Endpoint:
    """Return the endpoint of pages for people."""
    return Endpoint(
        path,
        views.site_file,
        None,
        source=Source.SITE,
        cache_control="public, max-age=300",
        vary=vary,
        extra_headers=SITE_HEADERS,
        public=True,
        rate_limited=False,
        methods=("GET", "HEAD"),
    )


SITE = _pages("/docs, /explore", "Accept-Encoding")
HOME = _pages("/", "Accept, Accept-Encoding")

_VERSION = re.compile("api|v[0-9]+")
_SEGMENTS = [endpoint.path.removeprefix(API).split("/") for endpoint in ENDPOINTS]


def nearest_path(path: bytes) -> str | None:
    """Return the path of the table that a client means who asks for one that is not there, None if none is near."""
    wanted = [part for part in path[:_MAX_MEANT_BYTES].decode(errors="replace").lower().split("/") if part]
    wanted = list(dropwhile(_VERSION.fullmatch, wanted))
    known = {*(first for first, *_ in _SEGMENTS), *(() if path.startswith(API.encode()) else object_keys.SITE_FOLDERS)}
    near = get_close_matches(wanted[0], known, 1, _MIN_NEARNESS) if wanted else []
    if not near:
        return None
    if near[0] in object_keys.SITE_FOLDERS:
        return f"/{near[0]}"
    alike = [segments for segments in _SEGMENTS if segments[0] == near[0]]
    meant = max(alike, key=lambda segments: (len(segments) == len(wanted), _alike(segments, wanted), -len(segments)))
    return API + "/".join(meant)


def _alike(segments: Sequence[str], wanted: Sequence[str]) -> float:
    return SequenceMatcher(None, segments[-1], wanted[-1]).ratio()
