"""The endpoints of the site itself: the client's key, freshness, the description of the API; the pages for people."""

import re
from contextlib import suppress
from typing import Any

from flask import Response

from edge_auth.api.endpoint import Endpoint
from edge_auth.api.flask_app import ApiRequest, this_request, this_service
from edge_auth.api.responses import lost_page, prefers, refusal
from edge_auth.api.routes import Routes
from edge_auth.errors import ApiError, NotFound
from edge_auth.live.open_build import OpenBuild
from generator.storage import layout
from generator.storage.bodies import JSON, Body, MadeBody, dumps
from generator.storage.errors import NoLiveBuild, StoreError

service, description, pages = Routes("service"), Routes("description", tag="service"), Routes("pages")
# The site's pages load scripts and styles from their own host only. Images may come from any host, or be drawn here.
# The policy `cardpress-worker` of Trusted Types gives the scanner the address of its worker, and makes no markup.
SITE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types cardpress-worker",
    "Referrer-Policy": "no-referrer",
}
_OF_API = re.compile(rb"/api(?:/|$)")
_OPEN: dict[str, Any] = {"ignores_query": True, "cache_control": "public, max-age=300", "public": True}
_PAGES = _OPEN | {"extra_headers": SITE_HEADERS, "rate_limited": False, "methods": ("GET", "HEAD")}


@service.get("me", schema="Key", of_build=False, guests=False)
def get_key() -> Body:
    key = this_request().key
    if key is None:
        raise NotFound("a build alone has no keys")
    return MadeBody(dumps(key.public()) + b"\n")


@service.get("status", schema="Status")
def get_status(build: OpenBuild) -> Body:
    return MadeBody(build.status())


@description.get("openapi.json", schema="Description", vary="Accept-Encoding, X-Build", **_OPEN)
def get_description(build: OpenBuild) -> Body:
    return build.stored_body(layout.OPENAPI_KEY)


def page(build: OpenBuild, key: str, name: str = "") -> Body:
    """Return a file of the site, of a folder by its name. The path of a folder means its page."""
    key += name
    folder = key.removesuffix("/")
    key = f"{folder}/index.html" if folder in layout.SITE_PAGES else key
    if build.find(key) is None:
        raise NotFound(no_path())
    return build.stored_body(key)


def home(build: OpenBuild) -> Body:
    """Return the page at / in one of its two forms."""
    as_json = prefers(this_request().environ.get("HTTP_ACCEPT", ""), JSON, "text/html")
    return build.stored_body(layout.HOME_JSON if as_json else layout.HOME_PAGE)


def lost(error: NotFound) -> Response:
    """Return 404: JSON for programs, a page for browsers, but not below /api and not from a build without it."""
    request = this_request()
    if not of_api(request) and prefers(request.environ.get("HTTP_ACCEPT", ""), "text/html", JSON):
        with suppress(ApiError, StoreError, NoLiveBuild):
            return lost_page(request, page(this_service().builds.select(), layout.LOST_PAGE), SITE_HEADERS)
    return refusal(error)


def of_api(request: ApiRequest) -> bool:
    return _OF_API.match(request.raw_path) is not None


def no_path(meant: str | None = None) -> str:
    return f"there is no such path: {f'did you mean {meant}? ' if meant else ''}/docs lists what there is"


PAGE = Endpoint(view=page, path="/docs, /explore", vary="Accept-Encoding", pinned=False, **_PAGES)
HOME = Endpoint(view=home, path="/", vary="Accept, Accept-Encoding", pinned=False, kept=False, **_PAGES)
pages.add_endpoint("/", HOME)
for _name in layout.ROOT_FILES:
    pages.add_endpoint(f"/{_name}", PAGE, key=_name)
for _folder in layout.SITE_FOLDERS:
    pages.add_endpoint(f"/{_folder}", PAGE, key=_folder)
    pages.add_endpoint(f"/{_folder}/", PAGE, key=f"{_folder}/")
    pages.add_endpoint(f"/{_folder}/<text:name>", PAGE, key=f"{_folder}/")
pages.register_error_handler(NotFound, lost)
