"""The API as a whole: all endpoints, the application that answers them, and what it says to other requests."""

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher, get_close_matches
from itertools import dropwhile
from typing import Any
from urllib.parse import quote

from flask import Response
from flask.testing import FlaskClient
from werkzeug.exceptions import BadRequest, HTTPException
from werkzeug.exceptions import MethodNotAllowed as OtherMethods
from werkzeug.exceptions import NotFound as NoPath

from edge_auth.api.bulk import bulk, changes, fingerprints
from edge_auth.api.cards import cards
from edge_auth.api.endpoint import API
from edge_auth.api.flask_app import ApiFlask, Cardpress, this_request
from edge_auth.api.market import market
from edge_auth.api.responses import finish, preflight, refusal
from edge_auth.api.routes import require_one_host
from edge_auth.api.site import description, lost, no_path, of_api, pages, service
from edge_auth.api.watchlist import watchlist
from edge_auth.errors import ApiError, InvalidParameter, MethodNotAllowed, NotFound
from edge_auth.live.build_registry import OneBuild
from edge_auth.live.open_build import OpenBuild
from edge_auth.parameters import quote_input
from generator.storage import layout

# In the order of the documents.
_DOCUMENTED = (service, watchlist, cards, market, changes, fingerprints, bulk, description)
_BLUEPRINTS = (*_DOCUMENTED, pages)
ENDPOINTS = tuple(endpoint for blueprint in _DOCUMENTED for endpoint in blueprint.endpoints)
BY_NAME = {name: endpoint for blueprint in _BLUEPRINTS for name, endpoint in blueprint.by_name.items()}
_MAX_MEANT_BYTES = 60  # of a path that is compared with those of the API
_MIN_NEARNESS = 0.7
_OF_PREFLIGHT = {"HTTP_ORIGIN", "HTTP_ACCESS_CONTROL_REQUEST_METHOD"}
_VERSION = re.compile("api|v[0-9]+")
_SEGMENTS = [endpoint.path.removeprefix(API).split("/") for endpoint in ENDPOINTS]


def create_api(make_service: Callable[[], Cardpress]) -> ApiFlask:
    """Return the application. Each process calls `make_service` at its first request."""
    app = ApiFlask(make_service, _no_view_of_api)
    for blueprint in _BLUEPRINTS:
        app.register_blueprint(blueprint)
    for rule in app.url_map.iter_rules():  # Werkzeug adds HEAD to every GET
        rule.methods = set(BY_NAME[rule.endpoint].methods)
    handlers: Any = {BadRequest: _no_view, NoPath: _no_view, OtherMethods: _no_view, NotFound: lost, ApiError: refusal}
    for error, handler in handlers.items():
        app.register_error_handler(error, handler)
    app.after_request(finish)
    return app


def client_of(build: OpenBuild) -> FlaskClient:
    """Return a client that asks a build in this process. It needs no key. What a service answers as 500 is raised."""
    app = create_api(lambda: Cardpress(builds=OneBuild(build)))
    app.testing = True
    return app.test_client()


def _no_view_of_api(error: HTTPException) -> Response | HTTPException | None:
    return _no_view(error) if of_api(this_request()) else None


def _no_view(error: HTTPException) -> Response | HTTPException:
    """Answer an unknown path, a method that is not allowed, the preflight request of a browser below /api/v1/."""
    request, allowed = this_request(), ["GET"]
    if request.routing_exception is not error:  # of a view of the application
        return error
    try:
        require_one_host(request)
        if isinstance(error, BadRequest):
            raise InvalidParameter("the target of a request must begin with a slash")
    except InvalidParameter as refused:
        return refusal(refused)
    may_be_asked = isinstance(error, NoPath) or request.raw_path.startswith(API.encode())
    if request.method == "OPTIONS" and may_be_asked and request.environ.keys() >= _OF_PREFLIGHT:
        return preflight(request)
    if isinstance(error, OtherMethods):
        allowed = sorted(error.valid_methods or ())
    elif request.method == "GET":
        return lost(NotFound(no_path(_nearest_path(request.raw_path))))
    why = "every operation is GET" if allowed == ["GET"] else f"this path answers {' and '.join(allowed)}"
    message = f"{quote_input(request.method)} is not allowed: {why}"
    return refusal(MethodNotAllowed(message, Allow=", ".join(allowed)))


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
