"""Which endpoint of the API a request reaches."""

from urllib.parse import unquote

from werkzeug.exceptions import HTTPException

from edge_auth.api.blueprints import create_api
from edge_auth.api.flask_app import Cardpress
from edge_auth.api.routes import Route
from edge_auth.live.build_registry import OneBuild

_APP = create_api(lambda: Cardpress(OneBuild(None)))


def endpoint_of(target: str) -> str | None:
    """Return the path of the endpoint that a path with its query reaches, as the documents write it."""
    try:
        found, _ = _APP.url_map.bind("").match(unquote(target.partition("?")[0]))
    except HTTPException:
        return None
    route = _APP.view_functions[found]
    assert isinstance(route, Route)
    return route.endpoint.path if route.endpoint.tag else None
