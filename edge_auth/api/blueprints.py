"""The API as a whole: all endpoints, the application that answers them, and what it says to other requests."""

import re
from collections.abc import Sequence
from contextlib import suppress
from difflib import SequenceMatcher, get_close_matches
from functools import partial
from itertools import dropwhile

from flask import Response
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException
from werkzeug.exceptions import MethodNotAllowed as OtherMethods
from werkzeug.exceptions import NotFound as NoPath

from edge_auth.api.bulk import bulk, fingerprints
from edge_auth.api.cards import cards
from edge_auth.api.changes import changes
from edge_auth.api.endpoint import API
from edge_auth.api.flask_app import ApiFlask, ApiRequest, Cardpress, this_request
from edge_auth.api.market import market
from edge_auth.api.parameters import quote_input
from edge_auth.api.responses import failure, finish, lost_page, prefers, preflight, refusal
from edge_auth.api.routes import Query, Route, require_one_host
from edge_auth.api.service import service
from edge_auth.api.site import SITE_HEADERS, description, no_path, page, pages
from edge_auth.api.watchlist import watchlist
from edge_auth.builds import layout
from edge_auth.builds.bodies import JSON
from edge_auth.errors import ApiError, MethodNotAllowed, NoLiveBuild, NotFound, StoreError
from edge_auth.live.build_registry import OneBuild
from edge_auth.live.log import Log
from edge_auth.live.open_build import OpenBuild

# In the order of the documents.
_DOCUMENTED = (service, watchlist, cards, market, changes, fingerprints, bulk, description)
ENDPOINTS = tuple(endpoint for blueprint in _DOCUMENTED for endpoint in blueprint.endpoints)
_MAX_MEANT_BYTES = 60  # of a path that is compared with those of the API
_MIN_NEARNESS = 0.7
_OF_API = re.compile(rb"/api(?:/|$)")
_VERSION = re.compile("api|v[0-9]+")
_SEGMENTS = [endpoint.path.removeprefix(API).split("/") for endpoint in ENDPOINTS]


def create_api(cardpress: Cardpress) -> ApiFlask:
    """Return an application that answers the API."""
    app = ApiFlask(cardpress)
    for blueprint in (*_DOCUMENTED, pages):
        app.register_blueprint(blueprint)
    for rule in app.url_map.iter_rules():
        route = app.view_functions[rule.endpoint]
        assert isinstance(route, Route), "the application has no views of its own yet"
        rule.methods = set(route.endpoint.methods)  # Werkzeug adds HEAD to every GET
    app.register_error_handler(NoPath, partial(_no_path, cardpress))
    app.register_error_handler(NotFound, partial(_not_found, cardpress))
    app.register_error_handler(OtherMethods, _other_method)
    app.register_error_handler(ApiError, refusal)
    if cardpress.log is not None:
        app.register_error_handler(NoLiveBuild, partial(_no_build, cardpress.log))
        app.register_error_handler(Exception, partial(_failed, cardpress.log))
    app.after_request(finish)
    return app


def client_of(build: OpenBuild) -> FlaskClient:
    """Return a client that asks a build in this process. It needs no key. What a service answers as 500 is raised."""
    app = create_api(Cardpress(OneBuild(build)))
    app.testing = True
    return app.test_client()


# What Flask finds no view for


def _no_path(cardpress: Cardpress, error: NoPath) -> Response | HTTPException:
    """Return 404 for a path that is not there. Its method is checked before."""
    request = this_request()
    if request.routing_exception is not error:  # of a view of the application
        return error
    require_one_host(request)
    if request.method != "GET":
        return preflight(request) if _is_preflight(request) else refusal(_method_not_allowed(request, ("GET",)))
    return _not_found(cardpress, NotFound(no_path(_nearest_path(request.raw_path))))


def _other_method(error: OtherMethods) -> Response | HTTPException:
    """Answer the preflight request of a browser below /api/v1/. Refuse every other method."""
    request = this_request()
    require_one_host(request)
    if _is_preflight(request) and request.raw_path.startswith(API.encode()):
        return preflight(request)
    return refusal(_method_not_allowed(request, sorted(error.valid_methods or ())))


def _is_preflight(request: ApiRequest) -> bool:
    names = ("HTTP_ORIGIN", "HTTP_ACCESS_CONTROL_REQUEST_METHOD")
    return request.method == "OPTIONS" and all(name in request.environ for name in names)


def _method_not_allowed(request: ApiRequest, allowed: Sequence[str]) -> MethodNotAllowed:
    why = "every operation is GET" if list(allowed) == ["GET"] else f"this path answers {' and '.join(allowed)}"
    return MethodNotAllowed(f"{quote_input(request.method)} is not allowed: {why}", Allow=", ".join(allowed))


# Errors


def _not_found(cardpress: Cardpress, error: NotFound) -> Response:
    """Return 404: JSON for programs, a page for browsers, but not below /api and not from a build without it."""
    request = this_request()
    if not _OF_API.match(request.raw_path) and prefers(request.environ.get("HTTP_ACCEPT", ""), "text/html", JSON):
        with suppress(ApiError, StoreError, NoLiveBuild):
            found = page(cardpress.builds.select(), layout.LOST_PAGE, Query())
            return lost_page(request, found, SITE_HEADERS, cardpress)
    return refusal(error)


def _no_build(log: Log, error: NoLiveBuild) -> Response:
    """Return 500 until a build is published."""
    log.once(f"requests get 500 until a build is live: {error}")
    return failure("no build has been published here yet; try again later")


def _failed(log: Log, error: Exception) -> Response | HTTPException:
    """Return 500, and log why."""
    if isinstance(error, HTTPException):  # of a view of the application
        return error
    request = this_request()
    log.failure(request.method, request.raw_path, request.id, error)
    request.answer_headers.pop("X-Build", None)
    return failure("something failed here; try again later")


def _nearest_path(path: bytes) -> str | None:
    """Return the path of the API that a client means who asks for one that is not there, None if none is near."""
    wanted = [part for part in path[:_MAX_MEANT_BYTES].decode(errors="replace").lower().split("/") if part]
    wanted = list(dropwhile(_VERSION.fullmatch, wanted))
    known = {*(first for first, *_ in _SEGMENTS), *(() if path.startswith(API.encode()) else layout.SITE_FOLDERS)}
    near = get_close_matches(wanted[0], known, 1, _MIN_NEARNESS) if wanted else []
    if not near:
        return None
    if near[0] in layout.SITE_FOLDERS:
        return f"/{near[0]}"
    alike = [segments for segments in _SEGMENTS if segments[0] == near[0]]
    meant = max(alike, key=lambda segments: (len(segments) == len(wanted), _alike(segments, wanted), -len(segments)))
    return API + "/".join(meant)


def _alike(segments: Sequence[str], wanted: Sequence[str]) -> float:
    return SequenceMatcher(None, segments[-1], wanted[-1]).ratio()
