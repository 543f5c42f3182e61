"""The files of the site: the page at /, the reference, the explorer, drawn pictures; and the Content-Type of a file."""

from pathlib import PurePosixPath

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


def is_site_file(key: str) -> bool:
    """Return whether a key names a file of the site."""
    return key in TOP_FILES or in_site_folder(key)


def in_site_folder(key: str) -> bool:
    """Return whether a key names a file of the site below one of its folders."""
    return key.partition("/")[0] in SITE_FOLDERS


def media_type(key: str) -> str:
    """Return the Content-Type of an object."""
    return MEDIA_TYPES.get(PurePosixPath(key).suffix, "application/octet-stream")
