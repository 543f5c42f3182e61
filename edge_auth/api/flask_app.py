"""The Flask application, without what an API has no use for: sessions, static files, redirects to other paths."""

from typing import Any

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface, SessionMixin
from flask.testing import FlaskClient
from werkzeug.exceptions import NotFound
from werkzeug.routing import BaseConverter, MapAdapter

from edge_auth.api.blueprint import Api, Parts
from edge_auth.api.nginx_edge import answers_fetches
from edge_auth.live.build_registry import OneBuild
from edge_auth.live.open_build import OpenBuild

_MAX_PATH_CHARACTERS = 8000
_PARSED = ("scheme", "server", "root_path", "path", "query_string", "headers", "remote_addr")


class LazyRequest(Request):
    """Flask's request, whose parts are parsed at their first use. Most requests need none of them."""

    def __init__(self, environ: dict[str, Any], populate_request: bool = True, shallow: bool = False):
        self.environ, self.shallow = environ, shallow
        self.method = environ["REQUEST_METHOD"]

    def __getattr__(self, name: str) -> Any:
        if name not in _PARSED:
            raise AttributeError(name)
        super().__init__(self.environ, populate_request=False)
        return getattr(self, name)


class AnyText(BaseConverter):
    """A part of a path that may hold slashes and line feeds."""

    regex = "(?s:.+)"
    part_isolating = False


class NoSessions(SessionInterface):
    """Clients have no sessions."""

    _none = NullSession()

    def open_session(self, app: Flask, request: Request) -> SessionMixin:
        """Return the same empty session for all."""
        return self._none


class ApiFlask(Flask):
    """A Flask application whose paths are what the client sent: no slash is added, removed or merged."""

    request_class = LazyRequest
    session_interface = NoSessions()

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return what finds the rule of a request, whatever its Host.

        Raises:
            NotFound: The path is not UTF-8, is too long for any object, or begins with two slashes: Werkzeug would
                drop one.
        """
        if request is None:
            return super().create_url_adapter(None)
        path: str = request.environ["PATH_INFO"]
        try:
            path = path if path.isascii() else path.encode("latin-1").decode()
        except UnicodeError:
            raise NotFound from None
        if len(path) > _MAX_PATH_CHARACTERS or path.startswith("//"):
            raise NotFound
        return MapAdapter(self.url_map, "", "", "", "http", path, request.method)


def create_api(parts: Parts) -> Flask:
    """Return an application that answers the API."""
    app = ApiFlask("edge_auth", static_folder=None)
    app.url_map.merge_slashes = False
    app.url_map.converters["text"] = AnyText
    if parts.behind_nginx and parts.log is not None:
        app.before_request(answers_fetches(create_api(parts.inside()), parts.builds, parts.log))
    app.register_blueprint(Api(parts).blueprint())
    return app


def client_of(build: OpenBuild) -> FlaskClient:
    """Return a client that asks a build in this process. It needs no key. What a service answers as 500 is raised."""
    app = create_api(Parts(OneBuild(build)))
    app.testing = True
    return app.test_client()
