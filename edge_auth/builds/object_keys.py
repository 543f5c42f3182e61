"""Logical keys: the name of every document of a build, and the layer that holds it.

Keys are the paths below `api/v1/` of an exported build. The shim also reads `history/{period}/{id}.json`, the history
arrays of a closed year or of the open month. The files of the site (`index.html`, `docs/…` and `explore/…`) lie at the
top of an exported build. They are the only objects that are not JSON.
"""

import re
from typing import NamedTuple
from urllib.parse import quote

from edge_auth.builds import layer_names, site_files
from edge_auth.builds.sorts import KINDS, SORTS

FINGERPRINTS_KEY, STATUS_KEY, OPENAPI_KEY = "fingerprints.json", "status.json", "openapi.json"
BULK_KEY, NAMES_KEY = "bulk.json", "names.json"
# The parameters of the history of a watched product. A range is a number of days, or None for all.
HISTORY_VIEWS = ("daily", "weekly", "monthly")
HISTORY_RANGES = {"all": None, "30d": 30, "90d": 90, "365d": 365}
# The layers of keys by folder, and of keys without one. `layer_of` knows the folders that several layers share.
_LAYER_OF_FOLDER = {name: name for name in layer_names.LAYERS} | {"cards": layer_names.CATALOGUE}
_LAYER_OF_FOLDER |= dict.fromkeys(site_files.SITE_FOLDERS, layer_names.SITE)
_LAYER_OF_FILE = dict.fromkeys((OPENAPI_KEY, *site_files.TOP_FILES), layer_names.SITE) | {
    FINGERPRINTS_KEY: layer_names.FINGERPRINTS,
    STATUS_KEY: layer_names.STATUS,
    BULK_KEY: layer_names.BULK,
    NAMES_KEY: layer_names.NAMES,
}
_LIST_PAGE = re.compile(
    f"cards/(?P<kind>{'|'.join(KINDS)})/(?P<sort>{'|'.join(SORTS)})/(?P<number>0|[1-9][0-9]{{0,8}})\\.json"
)
_CARD = re.compile(r"cards/(-?[0-9]+)\.json")
_MARKET_PAGE = re.compile(r"market/(?P<by>[a-z]+)/(?P<sort>[a-z0-9_]+)/(?P<number>0|[1-9][0-9]{0,8})\.json")
_MARKET_POINTS = re.compile(r"market/([0-9]{4})/.+")
_MOVERS_LIST = re.compile(r"movers/(?P<confirmed>confirmed/)?(?P<list>[^/]+/[^/]+/[^/]+/[^/]+/[^/]+)\.json")


def history_pattern(period: str) -> str:
    """Return the pattern of the keys of a period, such as `history/2025/{}.json`."""
    return f"{layer_names.HISTORY}/{period}/{{}}.json"


class ListPage(NamedTuple):
    """A page of a ranking: the Cards of a kind in the default order of a sort. `number` counts from 0."""

    kind: str
    sort: str
    number: int


def list_page(kind: str, sort: str, number: int) -> str:
    """Return the key of a page of a ranking."""
    return f"cards/{kind}/{sort}/{number}.json"


def is_list_page(key: str) -> bool:
    """Return whether a key has the form of a list page's."""
    return key.startswith("cards/") and key.count("/") > 1


def parse_list_page(key: str) -> ListPage | None:
    """Return the page that a key names, or None."""
    found = _LIST_PAGE.fullmatch(key)
    return ListPage(found["kind"], found["sort"], int(found["number"])) if found else None


def card(id_: int) -> str:
    """Return the key of a card detail."""
    return f"cards/{id_}.json"


def card_id(key: str) -> int | None:
    """Return the product id in the key of a card detail, or None for another key."""
    found = _CARD.fullmatch(key)
    return int(found[1]) if found else None


def page_of_rows(layer: str, number: int) -> str:
    """Return the key of a page of the list that a layer stores, such as `games/0.json`."""
    return f"{layer}/{number}.json"


def names(game: str | None) -> str:
    """Return the key of the names of the products of a game, given by its folded name; None for all products."""
    return NAMES_KEY if game is None else f"{layer_names.NAMES}/{encode_slug(game)}.json"


def is_exported(key: str) -> bool:
    """Return whether a tree has the object of an exported layer. The names of one game are left to the shim."""
    return not key.startswith(f"{layer_names.NAMES}/")


def movers_list(list_key: str, confirmed: bool = False) -> str:
    """Return the key of a list of Movers, all or the confirmed ones; see `edge_auth.builds.movers`."""
    return f"movers/{'confirmed/' if confirmed else ''}{list_key}.json"


def parse_movers_list(key: str) -> tuple[str, bool] | None:
    """Return the list in the key of a document and whether it has confirmed moves only, or None."""
    found = _MOVERS_LIST.fullmatch(key)
    return (found["list"], found["confirmed"] is not None) if found else None


class MarketPage(NamedTuple):
    """A page of the market's sets or games in the default order of a sort. `number` counts from 0."""

    by: str
    sort: str
    number: int


def market_page(by: str, sort: str, number: int) -> str:
    """Return the key of a page of a list of the market."""
    return f"{layer_names.MARKET}/{by}/{sort}/{number}.json"


def parse_market_page(key: str) -> MarketPage | None:
    """Return the page that a key has the form of, or None."""
    found = _MARKET_PAGE.fullmatch(key)
    return MarketPage(found["by"], found["sort"], int(found["number"])) if found else None


def market_set(id_: int) -> str:
    """Return the key of the market's history of a set."""
    return f"{layer_names.MARKET}/sets/{id_}.json"


def market_game(place: int) -> str:
    """Return the key of the market's history of a game, given by its place in /games."""
    return f"{layer_names.MARKET}/games/{place}.json"


def market_group(id_expansion: int | None, game: str | None) -> str:
    """Return the end of the keys of the points of a set, or of a game if the set is None."""
    return f"games/{encode_slug(game or '')}.json" if id_expansion is None else f"sets/{id_expansion}.json"


def market_points(period: str, group: str) -> str:
    """Return the key of the points of a group in a closed year or in the open month."""
    return f"{layer_names.MARKET}/{period}/{group}"


def watchlist_page(number: int) -> str:
    """Return the key of a page of the watchlist."""
    return f"watchlist/pages/{number}.json"


def watchlist_item(slug: str) -> str:
    """Return the key of a WatchlistItem."""
    return f"watchlist/{encode_slug(slug)}.json"


def watchlist_offers(slug: str) -> str:
    """Return the key of the offers of a watched product."""
    return f"watchlist/{encode_slug(slug)}/offers.json"


def watchlist_history(slug: str, view: str, range_: str) -> str:
    """Return the key of a history view of a watched product."""
    return f"watchlist/{encode_slug(slug)}/history/{view}-{range_}.json"


def encode_slug(slug: str) -> str:
    """Percent-encode a slug so that it is one safe path segment.

    It encodes more than a URL needs: `.` and `..` would leave the folder of an export, and the slug `x.json` would
    have the file name of the slug `x`.
    """
    encoded = quote(slug, safe="")
    if encoded in (".", ".."):
        return encoded.replace(".", "%2E")
    return encoded[:-5] + "%2Ejson" if encoded.endswith(".json") else encoded


def bulk_file(name: str) -> str:
    """Return the path of a bulk file below `api/v1/`."""
    return f"{layer_names.BULK}/{name}"


def layer_of(key: str) -> str | None:
    """Return the layer that holds `key` if it exists, or None if no layer has such keys.

    List pages and card details are put together; they exist if the layer `catalogue` has their products.
    """
    first, _, rest = key.partition("/")
    if not rest:
        return _LAYER_OF_FILE.get(key)
    if key.startswith(site_files.DRAWING_PREFIX):
        return layer_names.DRAWINGS
    if first == layer_names.HISTORY:
        return layer_names.history_layer(rest.partition("/")[0])
    if closed := _MARKET_POINTS.fullmatch(key):
        return layer_names.market_layer(closed[1])
    return _LAYER_OF_FOLDER.get(first)
