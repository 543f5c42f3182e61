"""Names of objects: which JSON document lies under which logical key, and in which layer.

The keys are the paths below `api/v1/` of an exported build (contract, section 4), plus those that only the shim
reads: `history/{period}/{id}.json`, the history arrays of a closed period; and the
files of the site, `docs/…` and `explore/…`, the only objects that are not JSON.
"""

from pathlib import PurePosixPath
from urllib.parse import quote

KINDS = ("all", "single", "sealed")
SORTS = ("trend", "low", "avg", "filtered", "name", "number", "newest")
ASCENDING_BY_DEFAULT = frozenset({"name", "number"})
VIEWS = ("daily", "weekly", "monthly")
RANGES = {"all": None, "30d": 30, "90d": 90, "365d": 365}

LISTS, CATALOGUE, CARDS, HISTORY = "lists", "catalogue", "cards", "history"
WATCHLIST, SETS, FINGERPRINTS, STATUS, SITE = "watchlist", "sets", "fingerprints", "status", "site"

CARD_PATTERN = "cards/{}.json"
FINGERPRINTS_KEY, STATUS_KEY, OPENAPI_KEY = "fingerprints.json", "status.json", "openapi.json"
SITE_FOLDERS = ("docs", "explore")
MEDIA_TYPES = {
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


def history_pattern(period: str) -> str:
    """Pattern of the keys of a closed period, such as `history/2025/{}.json`."""
    return f"{HISTORY}/{period}/{{}}.json"


def history_layer(period: str) -> str:
    """Name of the layer of a closed period."""
    return f"{HISTORY}-{period}"


def list_page(kind: str, sort: str, number: int) -> str:
    """Key of one page of a ranking."""
    return f"cards/{kind}/{sort}/{number}.json"


def sets_page(number: int) -> str:
    """Key of one page of the Set list."""
    return f"sets/{number}.json"


def watchlist_page(number: int) -> str:
    """Key of one page of the watchlist."""
    return f"watchlist/pages/{number}.json"


def watchlist_item(slug: str) -> str:
    """Key of one WatchlistItem."""
    return f"watchlist/{encode_slug(slug)}.json"


def watchlist_offers(slug: str) -> str:
    """Key of the offers of one watched product."""
    return f"watchlist/{encode_slug(slug)}/offers.json"


def watchlist_history(slug: str, view: str, range_: str) -> str:
    """Key of one history view of one watched product."""
    return f"watchlist/{encode_slug(slug)}/history/{view}-{range_}.json"


def encode_slug(slug: str) -> str:
    """Percent-encode a slug so that it is one safe path segment.

    Beyond what URLs ask, `.`, `..` and a final `.json` are encoded: as files the first two would leave the
    folder and the slug `x.json` would claim the name of the file of the slug `x`.
    """
    encoded = quote(slug, safe="")
    if encoded in (".", ".."):
        return encoded.replace(".", "%2E")
    return encoded[:-5] + "%2Ejson" if encoded.endswith(".json") else encoded


def is_site_file(key: str) -> bool:
    """Whether a key names a file of the site, which lies beside the API rather than in it."""
    return key.partition("/")[0] in SITE_FOLDERS


def media_type(key: str) -> str:
    """The Content-Type of an object."""
    return MEDIA_TYPES.get(PurePosixPath(key).suffix, "application/octet-stream")


def layer_of(key: str) -> str | None:
    """The layer that would hold `key`, or None for a key of no known shape."""
    first, _, rest = key.partition("/")
    if first == "cards":
        return LISTS if "/" in rest else CARDS
    if first == HISTORY:
        return history_layer(rest.partition("/")[0])
    folders = {"watchlist": WATCHLIST, "sets": SETS, **dict.fromkeys(SITE_FOLDERS, SITE)}
    files = {FINGERPRINTS_KEY: FINGERPRINTS, STATUS_KEY: STATUS, OPENAPI_KEY: SITE}
    return folders.get(first) if rest else files.get(first)
