"""Which path belongs to which endpoint: those of the table, and the pages of the site."""

from functools import lru_cache

from edge_auth.api import views as contents
from edge_auth.api.accept import prefers
from edge_auth.api.endpoint import API, Endpoint
from edge_auth.api.endpoints import ENDPOINTS
from edge_auth.api.sources import FromBuild
from edge_auth.api.views import NO_PATH
from edge_auth.builds import site_files
from edge_auth.builds.bodies import JSON
from edge_auth.errors import NotFound

_MAX_CACHED_PATH_BYTES = 256  # a client must not fill the memory with long paths
# The site's pages load scripts and styles from their own host only. Images may come from any host, or be drawn here.
# The policy `cardpress-worker` of Trusted Types gives the scanner the address of its worker, and makes no markup.
SITE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types cardpress-worker",
    "Referrer-Policy": "no-referrer",
}


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
        extra_headers=SITE_HEADERS,
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
    if site_files.in_site_folder(text[1:]) or text[1:] in site_files.ROOT_FILES:
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
