"""The table of endpoints: the declaration of the API's surface. The OpenAPI document is made from it."""

from functools import lru_cache

from edge_auth.contract import keys, layer_names, market, movers, object_keys, site_files, sorts
from edge_auth.contract.text_filters import TEXT_FILTERS
from edge_auth.core import changes, contents
from edge_auth.core.accept import prefers
from edge_auth.core.bodies import JSON
from edge_auth.core.contents import NO_PATH
from edge_auth.core.endpoint import API, Endpoint
from edge_auth.core.parameters import (
    BuildId,
    Choice,
    GivenText,
    IdList,
    Integer,
    Price,
    ProductId,
    Required,
    Rule,
    Text,
    TextList,
)
from edge_auth.core.rate_limit import PER_KEY_FOR_FILES
from edge_auth.core.sources import FromBuild, FromFiles, FromKey, FromSteps
from edge_auth.errors import AmbiguousSlug, NotFound, RangeNotSatisfiable

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

_GAME = {"game": Text(MAX_TEXT_CHARACTERS)}
_KIND = {"kind": Choice(sorts.KINDS, "all")}
_FILTERS: dict[str, Rule] = {
    "q": Text(100),
    "set": Text(MAX_TEXT_CHARACTERS),
    **dict.fromkeys(TEXT_FILTERS, Text(MAX_TEXT_CHARACTERS)),
    "min_price": Price(),
    "max_price": Price(),
    **_KIND,
}


def _page(default: int, most: int) -> dict[str, Rule]:
    return {"limit": Integer(1, most, default), "offset": Integer(low=0, default=0)}


# In the order of the documents.
ENDPOINTS = (
    Endpoint(API + "me", FromKey(), id="getKey", tag="service", schema="Key"),
    Endpoint(API + "status", FromBuild(contents.status), id="getStatus", tag="service", schema="Status"),
    Endpoint(
        API + "watchlist",
        FromBuild(contents.watchlist),
        _page(100, 500),
        keys.WATCHLIST_READ,
        id="listWatchlist",
        tag="watchlist",
        schema="WatchlistPage",
    ),
    Endpoint(
        API + "watchlist/{slug}",
        FromBuild(contents.watchlist_item),
        scope=keys.WATCHLIST_READ,
        id="getWatchlistItem",
        tag="watchlist",
        schema="WatchlistItem",
        errors=(NotFound, AmbiguousSlug),
        slashes=True,
    ),
    Endpoint(
        API + "watchlist/{slug}/history",
        FromBuild(contents.watchlist_history),
        {"view": Choice(object_keys.HISTORY_VIEWS, "daily"), "range": Choice(object_keys.HISTORY_RANGES, "all")},
        keys.WATCHLIST_READ,
        id="getWatchlistHistory",
        tag="watchlist",
        schema="WatchlistHistory",
        errors=(NotFound, AmbiguousSlug),
        slashes=True,
    ),
    Endpoint(
        API + "watchlist/{slug}/offers",
        FromBuild(contents.watchlist_offers),
        scope=keys.WATCHLIST_READ,
        id="getWatchlistOffers",
        tag="watchlist",
        schema="WatchlistOffers",
        errors=(NotFound, AmbiguousSlug),
        slashes=True,
    ),
    Endpoint(
        API + "cards",
        FromBuild(contents.cards),
        {
            "ids": IdList(100),
            **_FILTERS,
            "sort": Choice((*sorts.SORTS, sorts.MATCH_SORT), sorts.DEFAULT_SORT),
            "order": Choice(sorts.ORDERS),
            **_page(50, 100),
        },
        keys.CARDS_READ,
        id="listCards",
        tag="catalogue",
        schema="CardPage",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "facets",
        FromBuild(contents.facets),
        _FILTERS,
        keys.CARDS_READ,
        id="countFacets",
        tag="catalogue",
        schema="Facets",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "names",
        FromBuild(contents.names),
        _GAME,
        keys.CARDS_READ,
        id="listNames",
        tag="catalogue",
        schema="Names",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "cards/{idProduct}",
        FromBuild(contents.card),
        {"days": Integer(1, 3650)},
        keys.CARDS_READ,
        id="getCard",
        tag="catalogue",
        schema="CardDetail",
        errors=(NotFound,),
        subject=ProductId(),
    ),
    Endpoint(
        API + "series",
        FromBuild(contents.series),
        {"ids": Required(IdList(100))},
        keys.CARDS_READ,
        id="listSeries",
        tag="catalogue",
        schema="SeriesList",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "cards/{idProduct}/identifiers",
        FromBuild(contents.card_identifiers),
        scope=keys.CARDS_READ,
        id="getCardIdentifiers",
        tag="catalogue",
        schema="CardIdentifiers",
        errors=(NotFound,),
        subject=ProductId(),
    ),
    Endpoint(
        API + "identifiers",
        FromBuild(contents.schemes),
        _page(100, 500),
        keys.CARDS_READ,
        id="listSchemes",
        tag="catalogue",
        schema="SchemePage",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "identifiers/{scheme}",
        FromBuild(contents.products_by_value),
        {"values": Required(TextList(100, MAX_TEXT_CHARACTERS))},
        keys.CARDS_READ,
        id="findByIdentifiers",
        tag="catalogue",
        schema="IdentifiedProducts",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "sets",
        FromBuild(contents.sets),
        {"q": Text(MAX_TEXT_CHARACTERS), **_GAME, **_page(100, 1000)},
        keys.CARDS_READ,
        id="listSets",
        tag="catalogue",
        schema="SetPage",
    ),
    Endpoint(
        API + "games",
        FromBuild(contents.stored_list(layer_names.GAMES)),
        _page(100, 500),
        keys.CARDS_READ,
        id="listGames",
        tag="catalogue",
        schema="GamePage",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "movers",
        FromBuild(contents.movers),
        {
            "window": Choice(movers.WINDOWS, "7d"),
            "by": Choice(movers.MEASURES, "percent"),
            "direction": Choice(movers.DIRECTIONS, "up"),
            **_KIND,
            "min_price": Choice(movers.FLOORS, "1"),
            "confirmed": Choice(("true", "false"), "false"),
            **_GAME,
            **_page(50, 100),
        },
        keys.CARDS_READ,
        id="listMovers",
        tag="catalogue",
        schema="MoverPage",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "market",
        FromBuild(contents.market),
        {
            "by": Choice(market.GROUPINGS, "set"),
            **_GAME,
            "sort": Choice(market.SORTS, "value"),
            "order": Choice(sorts.ORDERS),
            **_page(100, 500),
        },
        keys.CARDS_READ,
        id="listMarket",
        tag="catalogue",
        schema="MarketPage",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "market/history",
        FromBuild(contents.market_history),
        {"set": ProductId(), "game": GivenText(MAX_TEXT_CHARACTERS), "days": Integer(1, 3650)},
        keys.CARDS_READ,
        id="getMarketHistory",
        tag="catalogue",
        schema="MarketHistory",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "changes",
        FromSteps(changes.list_changes),
        {"since": BuildId(), **_page(50, 100)},
        keys.CARDS_READ,
        id="listChanges",
        tag="catalogue",
        schema="ChangesPage",
    ),
    Endpoint(
        API + "changes/{from}...{to}",
        FromSteps(changes.changes_document),
        scope=keys.CARDS_READ,
        id="getChanges",
        tag="catalogue",
        schema="Changes",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "fingerprints",
        FromBuild(contents.fingerprints),
        scope=keys.FINGERPRINTS_READ,
        id="getFingerprints",
        tag="fingerprints",
        schema="FingerprintIndex",
        cache_control="private, max-age=3600",
        sends_rate_limit=False,
    ),
    Endpoint(
        API + "bulk",
        FromBuild(contents.bulk),
        scope=keys.BULK_READ,
        id="listBulkFiles",
        tag="bulk",
        schema="BulkManifest",
        errors=(NotFound,),
    ),
    Endpoint(
        API + "bulk/{name}",
        FromFiles(),
        scope=keys.BULK_READ,
        id="getBulkFile",
        tag="bulk",
        errors=(NotFound, RangeNotSatisfiable),
        cache_control="private, max-age=31536000, immutable",
        vary="Authorization, X-API-Key",
        extra_headers={"Accept-Ranges": "bytes"},
        window=PER_KEY_FOR_FILES,
        methods=("GET", "HEAD"),
    ),
    Endpoint(
        API + "openapi.json",
        FromBuild(contents.openapi),
        None,
        id="getDescription",
        tag="service",
        schema="Description",
        cache_control="public, max-age=300",
        vary="Accept-Encoding, X-Build",
        public=True,
    ),
)


def _home_form(accept: str) -> str:
    """Return the file that a client gets at /: JSON if it prefers that to HTML."""
    return site_files.HOME_JSON if prefers(accept, JSON, "text/html") else site_files.HOME_PAGE


def _pages(path: str, source: FromBuild, vary: str) -> Endpoint:
    """Return the endpoint of pages for people."""
    return Endpoint(
        path,
        source,
        None,
        cache_control="public, max-age=300",
        vary=vary,
        extra_headers=_SITE_HEADERS,
        public=True,
        rate_limited=False,
        methods=("GET", "HEAD"),
    )


_SITE = _pages("/docs, /explore", FromBuild(contents.site_file, pinned=False), "Accept-Encoding")
_HOME = _pages("/", FromBuild(contents.site_file, pinned=False, form=_home_form), "Accept, Accept-Encoding")


_BY_PATH = {endpoint.path: endpoint for endpoint in ENDPOINTS if not endpoint.subjects}


def _by_place() -> dict[tuple[str, str], Endpoint]:
    """Return the endpoints with a subject by their first segment and what follows the subject."""
    found = {}
    for endpoint in ENDPOINTS:
        if endpoint.subjects:
            first, _, rest = endpoint.path.removeprefix(API).partition("/")
            found[first, rest.rpartition("}")[2].removeprefix("/")] = endpoint
    return found


_BY_PLACE = _by_place()


def route(path: bytes) -> tuple[Endpoint, str]:
    """Return the endpoint of a percent-decoded path, and the subject of the path.

    The subject is the id of a product, a slug, a scheme, a pair of builds, the path of a file of the site, or ''.

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
    if text in _BY_PATH:
        return _BY_PATH[text], ""
    first, _, rest = text.removeprefix(API).partition("/")
    subject, _, last = rest.rpartition("/")
    endpoint = _BY_PLACE.get((first, last)) if subject and last else None
    if endpoint is None:
        endpoint, subject = _BY_PLACE.get((first, "")), rest
    if endpoint is None or not subject or ("/" in subject and not endpoint.slashes):
        raise NotFound(NO_PATH)
    return endpoint, subject


_cached_route = lru_cache(4096)(_route)
