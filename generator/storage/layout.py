"""The names of things: of every object in a store, of builds, and of their layers, documents and site files.

    current.json                              the pointer to the live build
    builds/<build id>.json                    the record of a build
    layers/<layer>/<digest>/…                 the packs, files and index of a layer
    changes/<from>...<to>.json                which products differ between two builds
    changes/index.json                        the counts and hashes of these documents
    gates/<build id>.json                     the results of a build's gates
    reports/<run>.json                        the report of a nightly run
    intents/<build id>/<nonce>.json           a process builds or publishes this build
    tree/…                                    the live build as plain objects under the API's own paths (`objects`)
    work/<build id>/…                         intermediate files of a build that is being written
    private/keys/<2 digits>/<hash>.json       the record of a key, named by the SHA-256 of the key
    private/keys.json                         how often key records changed, and which changed last
    private/prune.lock, private/nightly.lock, private/tree-update.lock  the locks
    private/reserve                           space that is freed when the disk is full
    private/last-reads.json                   when nights last read each layer again
    private/quarantine.json                   day files of the lake that builds leave out
    private/damaged/<build id>.json           a damaged record that a prune has set aside
    private/nights/<run>/…                    the pages of a nightly run
    private/probe-<nonce>                     a short-lived object that tests whether the store can compare and swap

No other module spells these names, but `private/` and its probe, which the stores themselves need.

A document has a logical key, its path below `api/v1/` in an exported build. The shim also reads
`history/{period}/{id}.json`, the history arrays of a closed year or of the open month. The files of the site lie at the
top of an exported build. They are the only objects that are not JSON.
"""

import hashlib
import json
import re
from pathlib import PurePosixPath
from urllib.parse import quote

from generator.storage.errors import UnknownBuild
from generator.storage.stores.interface import PRIVATE as PRIVATE

POINTER = "current.json"
BUILDS, LAYERS, GATES, REPORTS, INTENTS, WORK = "builds/", "layers/", "gates/", "reports/", "intents/", "work/"
CHANGES = "changes/"
TREE = "tree/"
CHANGES_INDEX = f"{CHANGES}index.json"
KEYS = f"{PRIVATE}keys.json"
PRUNE_LOCK = f"{PRIVATE}prune.lock"
NIGHTLY_LOCK = f"{PRIVATE}nightly.lock"
TREE_LOCK = f"{PRIVATE}tree-update.lock"
RESERVE = f"{PRIVATE}reserve"
LAST_READS = f"{PRIVATE}last-reads.json"
QUARANTINE = f"{PRIVATE}quarantine.json"
NIGHT_PAGES = f"{PRIVATE}nights/"

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
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".ico": "image/x-icon",
}

# The layers of a build: their names. A period is a closed year or the open month.
CATALOGUE, HISTORY, SERIES, EXTREMES = "catalogue", "history", "series", "extremes"
IDENTIFIERS, DAYS = "identifiers", "days"
WATCHLIST, SETS, FINGERPRINTS, STATUS, SITE = "watchlist", "sets", "fingerprints", "status", "site"
GAMES, NAMES, MOVERS, DRAWINGS = "games", "names", "movers", "drawings"
WORDS = "words"  # the file of `names` with what people say for what names say otherwise
MARKET = "market"  # of the open month; the closed years have layers of their own
BULK = "bulk"  # the manifest of the bulk files, which have layers by span of days or kind of table
OPEN_MONTH = "open"  # a period of the history; its name comes after those of all years
# The card details and the pages of /cards. No layer stores them: they are put together from other layers.
CARDS, LISTS = "cards", "lists"
# Documents of the API and files of the site, one by one, in the order of `diff`.
EXPORTED = (SETS, GAMES, NAMES, WATCHLIST, FINGERPRINTS, STATUS, BULK, DRAWINGS, SITE)
COMPARED = (CARDS, LISTS, MOVERS, MARKET, *EXPORTED)  # what `diff` counts as a resource of the API
ROWS_PER_PAGE = {SETS: 1000, GAMES: 100, WATCHLIST: 500}  # of the lists that layers store row by row
# Beside the documents the layers whose files answer lists and look-ups. Those of periods and bulk files are not here.
KEYED_LAYERS = (*COMPARED, CATALOGUE, IDENTIFIERS)

# The layers of keys by folder, and of keys without one. `layer_of` knows the folders that several layers share.
_LAYER_OF_FOLDER = {name: name for name in KEYED_LAYERS} | {"cards": CATALOGUE} | dict.fromkeys(SITE_FOLDERS, SITE)
_LAYER_OF_FILE = dict.fromkeys((OPENAPI_KEY, *TOP_FILES), SITE) | {
    FINGERPRINTS_KEY: FINGERPRINTS,
    STATUS_KEY: STATUS,
    BULK_KEY: BULK,
    NAMES_KEY: NAMES,
}
_MARKET_POINTS = re.compile(r"market/([0-9]{4})/.+")

_JSON = ".json"
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BUILD_ID = re.compile(_DAY.pattern + "-[0-9a-f]{12}")
# A well-formed id that no build has: for asking a store about an object that is certainly missing.
NO_BUILD_ID = "0000-00-00-000000000000"


def build_id(as_of: str, digests: dict[str, str]) -> str:
    """Return the id of a build, the same on every machine: its as-of day and a hash of its layers' digests."""
    # The lists of day files say nothing that other layers do not.
    counted = sorted(item for item in digests.items() if not item[0].startswith(sublayer(DAYS, "")))
    listed = json.dumps([as_of, counted])
    return f"{as_of}-{hashlib.sha256(listed.encode()).hexdigest()[:12]}"


def record_name(id_: str) -> str:
    """Return the name of a build's record, or raise UnknownBuild: another text must not become part of a path."""
    if not _BUILD_ID.fullmatch(id_):
        raise UnknownBuild(
            f"{id_!r} is not the id of a build (such as 2026-08-22-0123456789ab): "
            "`cardpress builds` lists the builds of a store"
        )
    return f"{BUILDS}{id_}{_JSON}"


def damaged_name(id_: str) -> str:
    return f"{PRIVATE}damaged/{id_}{_JSON}"


def gates_name(id_: str) -> str:
    return f"{GATES}{id_}{_JSON}"


def pair(from_: str, to: str) -> str:
    """Return the name of a step from one build to another, as paths of the API write it."""
    return f"{from_}...{to}"


def changes_name(from_: str, to: str) -> str:
    return f"{CHANGES}{pair(from_, to)}{_JSON}"


def page_name(run: str, page: str) -> str:
    return f"{NIGHT_PAGES}{run}/{page}"


def intent_name(id_: str, nonce: str) -> str:
    return f"{INTENTS}{id_}/{nonce}{_JSON}"


def work_folder(id_: str) -> str:
    return f"{WORK}{id_}/"


def sublayer(kind: str, part: str) -> str:
    """Return the name of one of the layers of a kind: of a period, or of a span of days or kind of table in `bulk`."""
    return f"{kind}-{part}"


def holds_bulk_files(layer: str) -> bool:
    return layer.startswith(sublayer(BULK, ""))


def layer_folder(layer: str, digest: str) -> str:
    return f"{LAYERS}{layer}/{digest}/"


def layer_folder_of(name: str) -> str:
    """Return the folder of the layer that an object below `layers/` belongs to."""
    return "/".join(name.split("/")[:3]) + "/"


def id_of(name: str) -> str:
    """Return the id in the name of a record, of a gates object or of a report."""
    return name.rpartition("/")[2].removesuffix(_JSON)


def day_of(id_: str) -> str:
    """Return the as-of day in the id of a build, as YYYY-MM-DD."""
    found = _DAY.match(id_)
    return found.group() if found else ""


def page_of_rows(layer: str, number: int) -> str:
    """Return the key of a page of the list that a layer stores, such as `games/0.json`."""
    folder = "watchlist/pages" if layer == WATCHLIST else layer
    return f"{folder}/{number}.json"


def names_key(game: str | None) -> str:
    """Return the key of the names of the products of a game, given by its folded name; None for all products."""
    return NAMES_KEY if game is None else f"{NAMES}/{encode_slug(game)}.json"


def market_group(id_expansion: int | None, game: str | None) -> str:
    """Return the end of the keys of the points of a set, or of a game if the set is None."""
    return f"games/{encode_slug(game or '')}.json" if id_expansion is None else f"sets/{id_expansion}.json"


def market_points(period: str, group: str) -> str:
    return f"{MARKET}/{period}/{group}"


def watchlist_item(slug: str) -> str:
    return f"watchlist/{encode_slug(slug)}.json"


def watchlist_offers(slug: str) -> str:
    return f"watchlist/{encode_slug(slug)}/offers.json"


def watchlist_history(slug: str, view: str, range_: str) -> str:
    return f"watchlist/{encode_slug(slug)}/history/{view}-{range_}.json"


def encode_slug(slug: str) -> str:
    """Percent-encode a slug as one segment of a path: `..` must not leave an export, nor `x.json` mean the slug `x`."""
    encoded = quote(slug, safe="")
    if encoded in (".", ".."):
        return encoded.replace(".", "%2E")
    return encoded[:-5] + "%2Ejson" if encoded.endswith(".json") else encoded


def layer_of(key: str) -> str | None:
    """Return the layer that holds `key` if it exists, of a card detail `catalogue`; None if no layer has such keys."""
    first, _, rest = key.partition("/")
    if not rest:
        return _LAYER_OF_FILE.get(key)
    if key.startswith(DRAWING_PREFIX):
        return DRAWINGS
    if first == HISTORY:
        return sublayer(HISTORY, rest.partition("/")[0])
    if closed := _MARKET_POINTS.fullmatch(key):
        return sublayer(MARKET, closed[1])
    return _LAYER_OF_FOLDER.get(first)


def is_site_file(key: str) -> bool:
    return key in TOP_FILES or key.partition("/")[0] in SITE_FOLDERS


def media_type(key: str) -> str:
    return MEDIA_TYPES.get(PurePosixPath(key).suffix, "application/octet-stream")
