"""Which endpoint of the API a request reaches."""

from urllib.parse import unquote

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule

from edge_auth.api.endpoints import ENDPOINTS
from edge_auth.api.flask_app import AnyText

_RULES = Map(
    [Rule(endpoint.rule, endpoint=endpoint.path) for endpoint in ENDPOINTS],
    converters={"text": AnyText},
    merge_slashes=False,
)


def endpoint_of(target: str) -> str | None:
    """Return the path of the endpoint that a path with its query reaches, as the documents write it."""
    try:
        found, _ = _RULES.bind("").match(unquote(target.partition("?")[0]))
    except HTTPException:
        return None
    return str(found)
