"""Views under their routes: a blueprint that keeps what each view declares, and the steps that all of them share.

`Route` has the order of the checks: that of docs/api.md. Method and path come first, which Flask checks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from flask import Blueprint, Response, current_app

from edge_auth.api.auth import admit
from edge_auth.api.endpoint import API, Endpoint, documented
from edge_auth.api.flask_app import NAME, ApiRequest, Cardpress, this_request
from edge_auth.api.responses import success
from edge_auth.errors import InvalidParameter, NotFound
from edge_auth.live.open_build import OpenBuild
from edge_auth.parameters import NoQuery, quote_input, read_query
from generator.storage.bodies import Body
from generator.storage.errors import AccessDenied, DamagedObject, MissingObject, UnknownBuild

View = TypeVar("View", bound=Callable[..., Body | Response])
_MAX_PIN_CHARACTERS = 200


class Routes(Blueprint):
    """A blueprint of endpoints, whose keys need a scope. `tag` is its name in the OpenAPI document, if another one."""

    def __init__(self, name: str, scope: str | None = None, tag: str = ""):
        super().__init__(name, __name__)
        self._declared = {"tag": tag or name, "scope": scope}
        self.endpoints: list[Endpoint] = []

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
        more: Any = {"methods": endpoint.methods, "defaults": given, "provide_automatic_options": False}
        self.add_url_rule(rule, name, Route(endpoint), **more)


@dataclass(frozen=True)
class Route:
    """What Flask calls for the rules of an endpoint."""

    endpoint: Endpoint

    def __call__(self, **arguments: str) -> Response:
        """Answer a request: key, limit, scope, build, parameters, look-up."""
        request, endpoint = this_request(), self.endpoint
        service: Cardpress = current_app.extensions[NAME]
        request.access = endpoint
        require_one_host(request)
        if service.keyring is not None:
            admit(request, service, endpoint)
        if not endpoint.of_build:
            if service.keyring is None:
                raise NotFound("a build alone has no answer to this")
            found = endpoint.view(**read_parameters(endpoint, arguments, request.query))
            return success(request, service, endpoint, found) if isinstance(found, Body) else found
        pin = request.environ.get("HTTP_X_BUILD") if endpoint.pinned else None
        pin = pin[:_MAX_PIN_CHARACTERS] if pin else None  # a longer one is no build either
        path, query = request.raw_path, request.query
        for is_last in (False, True):  # a build may be pruned meanwhile
            try:
                build = service.builds.select(pin)
            except UnknownBuild:
                request.answer_headers.pop("X-Build", None)
                named, live = quote_input(pin or ""), service.builds.select().id
                raise InvalidParameter(f"X-Build {named} is not kept here; the live build is {live}") from None
            request.answer_headers["X-Build"] = build.id
            try:
                body: Body | None = build.kept((path, query)) if endpoint.kept else None
                body = body or make_body(build, endpoint, arguments, path, query)
                return success(request, service, endpoint, body)
            except (MissingObject, AccessDenied, DamagedObject) as error:
                if is_last:
                    raise
                service.builds.note_failure(build, error)
        raise AssertionError("unreachable")


def require_one_host(request: ApiRequest) -> None:
    """Refuse a request that names no host, or several."""
    host = request.environ.get("HTTP_HOST", "")  # granian joins the values of several with a comma
    if "," in host or (host == "" and request.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"):
        raise InvalidParameter("an HTTP/1.1 request must have one header Host")


def make_body(build: OpenBuild, endpoint: Endpoint, arguments: Mapping[str, str], path: bytes, query: str) -> Body:
    """Return the body that a view finds in a build, and keep it under the path and the query if it may be."""
    body: Body = endpoint.view(build, **read_parameters(endpoint, arguments, query))
    if endpoint.kept:
        body.again = partial(make_body, endpoint=endpoint, arguments=arguments, path=path, query=query)
        build.keep((path, query), body, body.cost + len(path) + len(query))
    return body


def read_parameters(endpoint: Endpoint, arguments: Mapping[str, str], query: str) -> dict[str, Any]:
    """Return what a view is given: the variable parts of the path, and the values of the parameters as `query`."""
    given: dict[str, Any] = dict(arguments)
    if endpoint.subject is not None:
        given = {name: endpoint.subject.read(endpoint.subjects[0], text) for name, text in arguments.items()}
    if endpoint.ignores_query:
        return given
    asked = read_query(query, endpoint.query, endpoint.parameters)
    return given if endpoint.query is NoQuery else given | {"query": asked}
