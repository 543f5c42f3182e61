"""The documents of a build: their logical keys, layers and Content-Types, and the files of the site.

Keys are the paths below `api/v1/` of an exported build. The shim also reads `history/{period}/{id}.json`, the history
arrays of a closed year or of the open month. The files of the site (`index.html`, `docs/…` and `explore/…`) lie at the
top of an exported build: the page at /, the reference, the explorer, drawn pictures. They are the only objects that are
not JSON.
"""

import re
from pathlib import PurePosixPath
from urllib.parse import quote

from edge_auth.builds import layer_names

FINGERPRINTS_KEY, STATUS_KEY, OPENAPI_KEY = "fingerprints.json", "status.json", "openapi.json"
BULK_KEY, NAMES_KEY = "bulk.json", "names.json"
# The parameters of the history of a watched product. A range is a number of days, or None for all.
HISTORY_VIEWS = ("daily", "weekly", "monthly")
HISTORY_RANGES = {"all": None, "30d": 30, "90d": 90, "365d": 365}
SITE_FOLDERS = ("docs", "explore")
SITE_PAGES = ("docs", "explore", "explore/scan", "explore/value")  # folders whose path means their index.html
WEEK_KEY = "explore/week.json"  # how each price changed over 7 days, for the tiles of the explorer
CODES_KEY = "explore/value/codes.json"  # the sets of the codes that other catalogues give them, for lists
HOME_PAGE, HOME_JSON = "index.html", "index.json"  # the two forms of the page at /
LOST_PAGE = "404.html"  # for browsers, where there is no page
ROOT_FILES = ("favicon.ico", "llms.txt", "robots.txt")  # where browsers and programs look for them
TOP_FILES = (HOME_PAGE, HOME_JSON, LOST_PAGE, *ROOT_FILES)
# The pictures of cards that a build draws. A lake names one as `/explore/drawn/<16 hex digits>.svg`.
DRAWING_PREFIX, DRAWING_SUFFIX = "explore/drawn/", ".svg"
# The Content-Type of an object: what the suffix of its key means.
MEDIA_TYPES = {
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".ico": "image/x-icon",
}

# The layers of keys by folder, and of keys without one. `layer_of` knows the folders that several layers share.
_LAYER_OF_FOLDER = {name: name for name in layer_names.LAYERS} | {"cards": layer_names.CATALOGUE}
_LAYER_OF_FOLDER |= dict.fromkeys(SITE_FOLDERS, layer_names.SITE)
_LAYER_OF_FILE = dict.fromkeys((OPENAPI_KEY, *TOP_FILES), layer_names.SITE) | {
    FINGERPRINTS_KEY: layer_names.FINGERPRINTS,
    STATUS_KEY: layer_names.STATUS,
    BULK_KEY: layer_names.BULK,
    NAMES_KEY: layer_names.NAMES,
}
_CARD = re.compile(r"cards/(-?[0-9]+)\.json")
_MARKET_POINTS = re.compile(r"market/([0-9]{4})/.+")


def history_pattern(period: str) -> str:
    """Return the pattern of the keys of a period, such as `history/2025/{}.json`."""
    return f"{layer_names.HISTORY}/{period}/{{}}.json"


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
    if key.startswith(DRAWING_PREFIX):
        return layer_names.DRAWINGS
    if first == layer_names.HISTORY:
        return layer_names.history_layer(rest.partition("/")[0])
    if closed := _MARKET_POINTS.fullmatch(key):
        return layer_names.market_layer(closed[1])
    return _LAYER_OF_FOLDER.get(first)


def is_site_file(key: str) -> bool:
    """Return whether a key names a file of the site."""
    return key in TOP_FILES or in_site_folder(key)


def in_site_folder(key: str) -> bool:
    """Return whether a key names a file of the site below one of its folders."""
    return key.partition("/")[0] in SITE_FOLDERS


def media_type(key: str) -> str:
    """Return the Content-Type of an object."""
    return MEDIA_TYPES.get(PurePosixPath(key).suffix, "application/octet-stream")
