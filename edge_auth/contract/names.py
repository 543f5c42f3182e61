"""Logical keys: the name of every JSON document of a build, and the layer that holds it.

Keys are the paths below `api/v1/` of an exported build. The shim also reads
`history/{period}/{id}.json`, the history arrays of a closed period. The files of the site (`index.html`, `docs/…` and
`explore/…`) lie at the top of an exported build. They are the only objects that are not JSON.
"""

import re
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote


class Sort(NamedTuple):
    """A sort of Cards: whether its default order is ascending. `build/views/rankings.sql` has its key."""

    ascending: bool = False

    @property
    def default_order(self) -> str:
        """The value of the parameter `order` that means the default order."""
        return "asc" if self.ascending else "desc"


KINDS = ("all", "single", "sealed")
ORDERS = ("asc", "desc")
SORTS = {
    "trend": Sort(),
    "low": Sort(),
    "avg": Sort(),
    "filtered": Sort(),
    "name": Sort(ascending=True),
    "number": Sort(ascending=True),
    "newest": Sort(),
}
PRICE_SORTS = ("trend", "low", "avg", "filtered")
_LIST_PAGE = re.compile(
    f"cards/(?P<kind>{'|'.join(KINDS)})/(?P<sort>{'|'.join(SORTS)})/(?P<number>0|[1-9][0-9]{{0,8}})\\.json"
)
_MOVERS_LIST = re.compile(r"movers/([^/]+/[^/]+/[^/]+/[^/]+/[^/]+)\.json")
VIEWS = ("daily", "weekly", "monthly")
RANGES = {"all": None, "30d": 30, "90d": 90, "365d": 365}
# The parameters of /movers, with the number of days of a window.
MOVER_WINDOWS = {"1d": 1, "7d": 7, "30d": 30}
MOVER_MEASURES = ("percent", "euros")
MOVER_DIRECTIONS = ("up", "down")
MOVER_FLOORS = ("0", "1", "5", "20", "100")  # euros

CATALOGUE, CARDS, HISTORY = "catalogue", "cards", "history"
WATCHLIST, SETS, FINGERPRINTS, STATUS, SITE = "watchlist", "sets", "fingerprints", "status", "site"
GAMES, MOVERS, DRAWINGS = "games", "movers", "drawings"
# The manifest of the bulk files. The files are in layers of their own, one for each span of days or kind of table.
BULK = "bulk"
# The part of the tables without days of their own in the names of the layers.
BULK_PART_OF_TABLE = {"products": "catalogue", "sets": "catalogue", "cards": "cards", "watchlist": "watchlist"}
BULK_PRICE_TABLES = ("price_guide", "listings", "filtered")
# The layers whose objects are documents of the API or files of the site.
EXPORTED_LAYERS = (CARDS, SETS, GAMES, WATCHLIST, FINGERPRINTS, STATUS, BULK, DRAWINGS, SITE)

CARD_PATTERN = "cards/{}.json"
FINGERPRINTS_KEY, STATUS_KEY, OPENAPI_KEY = "fingerprints.json", "status.json", "openapi.json"
BULK_KEY = "bulk.json"
# Stems of files: the prices in the layer catalogue, and the part of the status object that a layer contributes.
PRICES_FILE, FACTS_FILE = "prices", "facts"
SITE_FOLDERS = ("docs", "explore")
SITE_PAGES = ("docs", "explore", "explore/scan")  # folders whose path means their index.html
HOME_PAGE, HOME_JSON = "index.html", "index.json"  # the two forms of the page at /
# The pictures of cards that a build draws. A lake names one as `/explore/drawn/<16 hex digits>.svg`.
DRAWING_PREFIX, DRAWING_SUFFIX = "explore/drawn/", ".svg"
MEDIA_TYPES = {
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


def history_pattern(period: str) -> str:
    """Return the pattern of the keys of a closed period, such as `history/2025/{}.json`."""
    return f"{HISTORY}/{period}/{{}}.json"


def history_layer(period: str) -> str:
    """Return the name of the layer of a closed period."""
    return f"{HISTORY}-{period}"


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


def sets_page(number: int) -> str:
    """Return the key of a page of the list of Sets."""
    return f"sets/{number}.json"


def games_page(number: int) -> str:
    """Return the key of a page of the list of Games."""
    return f"games/{number}.json"


def movers_list(list_key: str) -> str:
    """Return the key of a list of Movers; `edge_auth.contract.movers` describes the keys of lists."""
    return f"movers/{list_key}.json"


def mover_list_key(key: str) -> str | None:
    """Return the key of the list in the key of a document, or None."""
    found = _MOVERS_LIST.fullmatch(key)
    return found[1] if found else None


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


def bulk_layer(part: str) -> str:
    """Return the name of a layer with bulk files; `part` is a month, a day, or the name of a kind of table."""
    return f"{BULK}-{part}"


def bulk_file(name: str) -> str:
    """Return the path of a bulk file below `api/v1/`."""
    return f"{BULK}/{name}"


def holds_bulk_files(layer: str) -> bool:
    """Return whether a layer holds bulk files."""
    return layer.startswith(bulk_layer(""))


def is_site_file(key: str) -> bool:
    """Return whether a key names a file of the site."""
    return key in (HOME_PAGE, HOME_JSON) or in_site_folder(key)


def in_site_folder(key: str) -> bool:
    """Return whether a key names a file of the site below one of its folders."""
    return key.partition("/")[0] in SITE_FOLDERS


def card_id(key: str) -> int | None:
    """Return the product id in the key of a Card, or None if the key has no id."""
    prefix, _, suffix = CARD_PATTERN.partition("{}")
    digits = key.removeprefix(prefix).removesuffix(suffix)
    return int(digits) if digits.lstrip("-").isdecimal() else None


def media_type(key: str) -> str:
    """Return the Content-Type of an object."""
    return MEDIA_TYPES.get(PurePosixPath(key).suffix, "application/octet-stream")


def layer_of(key: str) -> str | None:
    """Return the layer that holds `key` if it exists, or None if no layer has such keys."""
    first, _, rest = key.partition("/")
    if key.startswith(DRAWING_PREFIX):
        return DRAWINGS
    if first == "cards":
        return CATALOGUE if "/" in rest else CARDS
    if first == HISTORY:
        return history_layer(rest.partition("/")[0])
    lists = {"watchlist": WATCHLIST, "sets": SETS, "games": GAMES, "movers": MOVERS}
    folders = lists | dict.fromkeys(SITE_FOLDERS, SITE)
    files = {FINGERPRINTS_KEY: FINGERPRINTS, STATUS_KEY: STATUS, BULK_KEY: BULK}
    files |= dict.fromkeys((OPENAPI_KEY, HOME_PAGE, HOME_JSON), SITE)
    return folders.get(first) if rest else files.get(first)
