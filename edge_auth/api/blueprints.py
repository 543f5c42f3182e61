"""The API as a whole: all endpoints, the application that answers them, and what it says to other requests."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import SequenceMatcher, get_close_matches
from functools import partial
from itertools import dropwhile
from typing import Any
from urllib.parse import quote

from flask import Response, current_app
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException
from werkzeug.exceptions import MethodNotAllowed as OtherMethods
from werkzeug.exceptions import NotFound as NoPath

from edge_auth.api.bulk import bulk, changes, fingerprints
from edge_auth.api.cards import cards
from edge_auth.api.endpoint import API
from edge_auth.api.flask_app import NAME, ApiFlask, Cardpress, this_request
from edge_auth.api.market import market
from edge_auth.api.responses import failure, finish, lost_page, prefers, preflight, refusal
from edge_auth.api.routes import Route, require_one_host
from edge_auth.api.site import SITE_HEADERS, description, no_path, page, pages, service
from edge_auth.api.watchlist import watchlist
from edge_auth.errors import ApiError, InvalidParameter, MethodNotAllowed, NotFound
from edge_auth.live.build_registry import OneBuild
from edge_auth.live.log import Log
from edge_auth.live.open_build import OpenBuild
from edge_auth.parameters import quote_input
from generator.storage import layout
from generator.storage.bodies import JSON
from generator.storage.errors import NoLiveBuild, StoreError

# In the order of the documents.
_DOCUMENTED = (service, watchlist, cards, market, changes, fingerprints, bulk, description)
ENDPOINTS = tuple(endpoint for blueprint in _DOCUMENTED for endpoint in blueprint.endpoints)
_MAX_MEANT_BYTES = 60  # of a path that is compared with those of the API
_MIN_NEARNESS = 0.7
_OF_PREFLIGHT = {"HTTP_ORIGIN", "HTTP_ACCESS_CONTROL_REQUEST_METHOD"}
_OF_API = re.compile(rb"/api(?:/|$)")
_VERSION = re.compile("api|v[0-9]+")
_SEGMENTS = [endpoint.path.removeprefix(API).split("/") for endpoint in ENDPOINTS]


def create_api(make_service: Callable[[], Cardpress], log: Log | None = None) -> ApiFlask:
    """Return the application. Each process calls `make_service` at its first request. Without a log,
    failures are raised.
    """
    app = ApiFlask(make_service)
    for blueprint in (*_DOCUMENTED, pages):
        app.register_blueprint(blueprint)
    for rule in app.url_map.iter_rules():
        route = app.view_functions[rule.endpoint]
        assert isinstance(route, Route), "the application has no views of its own yet"
        rule.methods = set(route.endpoint.methods)  # Werkzeug adds HEAD to every GET
    handlers: Any = {NoPath: _no_view, OtherMethods: _no_view, NotFound: _not_found, ApiError: refusal}
    if log is not None:
        handlers |= {NoLiveBuild: partial(_no_build, log), Exception: partial(_failed, log)}
    for error, handler in handlers.items():
        app.register_error_handler(error, handler)
    app.after_request(finish)
    return app


def client_of(build: OpenBuild) -> FlaskClient:
    """Return a client that asks a build in this process. It needs no key. What a service answers as 500 is raised."""
    app = create_api(lambda: Cardpress(OneBuild(build)))
    app.testing = True
    return app.test_client()


def _no_view(error: NoPath | OtherMethods) -> Response | HTTPException:
    """Answer an unknown path, a method that is not allowed, the preflight request of a browser below /api/v1/."""
    request, allowed = this_request(), ["GET"]
    if request.routing_exception is not error:  # of a view of the application
        return error
    try:
        require_one_host(request)
    except InvalidParameter as refused:
        return refusal(refused)
    may_be_asked = isinstance(error, NoPath) or request.raw_path.startswith(API.encode())
    if request.method == "OPTIONS" and may_be_asked and request.environ.keys() >= _OF_PREFLIGHT:
        return preflight(request)
    if isinstance(error, OtherMethods):
        allowed = sorted(error.valid_methods or ())
    elif request.method == "GET":
        return _not_found(NotFound(no_path(_nearest_path(request.raw_path))))
    why = "every operation is GET" if allowed == ["GET"] else f"this path answers {' and '.join(allowed)}"
    message = f"{quote_input(request.method)} is not allowed: {why}"
    return refusal(MethodNotAllowed(message, Allow=", ".join(allowed)))


def _not_found(error: NotFound) -> Response:
    """Return 404: JSON for programs, a page for browsers, but not below /api and not from a build without it."""
    request = this_request()
    service: Cardpress = current_app.extensions[NAME]
    if not _OF_API.match(request.raw_path) and prefers(request.environ.get("HTTP_ACCEPT", ""), "text/html", JSON):
        with suppress(ApiError, StoreError, NoLiveBuild):
            return lost_page(request, page(service.builds.select(), layout.LOST_PAGE), SITE_HEADERS)
    return refusal(error)


def _no_build(log: Log, error: NoLiveBuild) -> Response:
    log.once(f"requests get 500 until a build is live: {error}")
    return failure("no build has been published here yet; try again later")


def _failed(log: Log, error: Exception) -> Response | HTTPException:
    if isinstance(error, HTTPException):  # of a view of the application
        return error
    request = this_request()
    log.failure(request.method, request.raw_path, request.id, error)
    request.answer_headers.pop("X-Build", None)
    return failure("something failed here; try again later")


def _nearest_path(path: bytes) -> str | None:
    wanted = [part for part in path[:_MAX_MEANT_BYTES].decode(errors="replace").lower().split("/") if part]
    wanted = list(dropwhile(_VERSION.fullmatch, wanted))
    known = {*(first for first, *_ in _SEGMENTS), *(() if path.startswith(API.encode()) else layout.SITE_FOLDERS)}
    near = get_close_matches(wanted[0], known, 1, _MIN_NEARNESS) if wanted else []
    if not near:
        return None
    if near[0] == "sets" and len(wanted) > 1:  # which has no documents of its own
        return f"{API}cards?set={quote(wanted[1])}"
    if near[0] == "cards" and wanted[2:] in (["prices"], ["price"], ["history"]):  # the Card's detail has them
        return f"{API}cards/{quote(wanted[1])}"
    if near[0] in layout.SITE_FOLDERS:
        return f"/{near[0]}"
    alike = [segments for segments in _SEGMENTS if segments[0] == near[0]]

    def nearness(segments: Sequence[str]) -> tuple[bool, float, int]:
        ratio = SequenceMatcher(None, segments[-1], wanted[-1]).ratio()
        return len(segments) == len(wanted), ratio, -len(segments)

    meant = max(alike, key=nearness)
    return API + "/".join(meant)
