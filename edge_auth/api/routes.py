"""Views under their routes: a blueprint that keeps what each view declares, and the steps that all of them share.

`answer` has the order of the checks: that of docs/api.md. Method and path come first, which Flask checks.
"""

from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, TypeVar

from flask import Blueprint, Response
from werkzeug.exceptions import HTTPException, InternalServerError

from edge_auth.api.auth import admit
from edge_auth.api.endpoint import API, Endpoint, documented
from edge_auth.api.flask_app import ApiRequest, Cardpress, this_request, this_service
from edge_auth.api.responses import failed, no_build, refusal, success
from edge_auth.errors import ApiError, InvalidParameter
from edge_auth.live.open_build import OpenBuild
from edge_auth.parameters import NoQuery, quote_input, read_query
from generator.storage.bodies import Body
from generator.storage.errors import AccessDenied, DamagedObject, MissingObject, NoLiveBuild, UnknownBuild

View = TypeVar("View", bound=Callable[..., Body | Response])
_MAX_PIN_CHARACTERS = 200


class Routes(Blueprint):
    """A blueprint of endpoints, whose keys need a scope. `tag` is its name in the OpenAPI document, if another one.

    What fails in its views is answered as JSON, whatever handlers the application has for its own views.

    Attributes:
        endpoints: Those of the API, in the order of the documents.
        by_name: All of them by Flask's name.
    """

    def __init__(self, name: str, scope: str | None = None, tag: str = ""):
        super().__init__(name, __name__)
        self._declared = {"tag": tag or name, "scope": scope}
        self.endpoints: list[Endpoint] = []
        self.by_name: dict[str, Endpoint] = {}
        handlers: Any = {ApiError: refusal, NoLiveBuild: no_build, Exception: _leave, InternalServerError: failed}
        for error, handler in handlers.items():
            self.register_error_handler(error, handler)

    def get(  # type: ignore[override]  # its views are given more, and return bodies
        self, rule: str, **declared: Any
    ) -> Callable[[View], View]:
        """Add a view below /api/v1/, by Flask's rule and what `Endpoint` holds."""

        def add(view: View) -> View:
            more = self._declared | {"path": documented(API + rule)} | declared
            self.endpoints.append(Endpoint(view=view, **more))
            self.add_endpoint(API + rule, self.endpoints[-1])
            return view

        return add

    def add_endpoint(self, rule: str, endpoint: Endpoint, **given: str) -> None:
        """Add a rule for an endpoint, whose view gets `given` beside the variable part of the path."""
        name = "_".join((endpoint.view.__name__, *given.values())).replace(".", "_")
        self.by_name[f"{self.name}.{name}"] = endpoint
        more: Any = {"methods": endpoint.methods, "defaults": given, "provide_automatic_options": False}
        self.add_url_rule(rule, name, _view_of(endpoint), **more)


@cache  # rules of one name have one view
def _view_of(endpoint: Endpoint) -> Callable[..., Response]:
    """Return what Flask calls: a function with the name and the module of the view, which extensions read."""

    @wraps(endpoint.view)
    def view(**arguments: str) -> Response:
        return answer(this_request(), this_service(), endpoint, arguments)

    return view


def _leave(error: Exception) -> HTTPException:
    """Leave it to Flask: it tells extensions, raises the error in tests and for its debugger, or calls `failed`."""
    if isinstance(error, HTTPException):  # of an extension
        return error
    raise error


def answer(request: ApiRequest, service: Cardpress, endpoint: Endpoint, arguments: Mapping[str, str]) -> Response:
    """Answer a request: steps in the order of the contract, each of which raises its refusal."""
    request.access = endpoint
    require_one_host(request)  # 400
    admit(request, service, endpoint)  # 401, 429, 403
    if not endpoint.of_build:
        found = endpoint.view(**read_parameters(endpoint, arguments, request.query))  # 400, 404, 412, 416
        return success(request, service, endpoint, found) if isinstance(found, Body) else found
    build = choose_build(request, service, endpoint)  # 400: X-Build
    try:
        return success(request, service, endpoint, find(request, build, endpoint, arguments))  # 400, 404, 409
    except (MissingObject, AccessDenied, DamagedObject) as error:  # it may have been pruned meanwhile
        service.builds.note_failure(build, error)
    build = choose_build(request, service, endpoint)
    return success(request, service, endpoint, find(request, build, endpoint, arguments))


def choose_build(request: ApiRequest, service: Cardpress, endpoint: Endpoint) -> OpenBuild:
    """Return the build that X-Build names, or the live one, and note it for the answer. Raise InvalidParameter."""
    pin = request.environ.get("HTTP_X_BUILD") if endpoint.pinned else None
    pin = pin[:_MAX_PIN_CHARACTERS] if pin else None  # a longer one is no build either
    try:
        build = service.builds.select(pin)
    except UnknownBuild:
        request.answer_headers.pop("X-Build", None)
        named, live = quote_input(pin or ""), service.builds.select().id
        raise InvalidParameter(f"X-Build {named} is not kept here; the live build is {live}") from None
    request.answer_headers["X-Build"] = build.id
    return build


def find(request: ApiRequest, build: OpenBuild, endpoint: Endpoint, arguments: Mapping[str, str]) -> Body:
    """Return the body that was kept of an earlier request, or make one, and keep it if path and query determine it."""
    path, query = request.raw_path, request.query
    body: Body | None = build.kept((path, query)) if endpoint.kept else None
    if body is None:
        body = endpoint.view(build, **read_parameters(endpoint, arguments, query))
        if endpoint.kept:
            build.keep((path, query), body, body.cost + len(path) + len(query))
    return body


def require_one_host(request: ApiRequest) -> None:
    """Refuse a request that names no host, or several."""
    host = request.environ.get("HTTP_HOST", "")  # granian joins the values of several with a comma
    if "," in host or (host == "" and request.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"):
        raise InvalidParameter("an HTTP/1.1 request must have one header Host")


def read_parameters(endpoint: Endpoint, arguments: Mapping[str, str], query: str) -> dict[str, Any]:
    """Return what a view is given: the variable parts of the path, and the values of the parameters as `query`."""
    given: dict[str, Any] = dict(arguments)
    if endpoint.subject is not None:
        given = {name: endpoint.subject.read(endpoint.subjects[0], text) for name, text in arguments.items()}
    if endpoint.ignores_query:
        return given
    asked = read_query(query, endpoint.query, endpoint.parameters)
    return given if endpoint.query is NoQuery else given | {"query": asked}
