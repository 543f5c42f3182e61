"""Which endpoint of the API a request reaches."""

from urllib.parse import unquote

from werkzeug.exceptions import HTTPException

from edge_auth.api.blueprints import BY_NAME, create_api
from edge_auth.api.flask_app import Cardpress
from edge_auth.live.build_registry import OneBuild

_APP = create_api(lambda: Cardpress(builds=OneBuild(None)))


def endpoint_of(target: str) -> str | None:
    """Return the path of the endpoint that a path with its query reaches, as the documents write it."""
    try:
        found, _ = _APP.url_map.bind("").match(unquote(target.partition("?")[0]))
    except HTTPException:
        return None
    return BY_NAME[found].path if BY_NAME[found].tag else None
