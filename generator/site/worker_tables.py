"""What the worker of `cardpress deploy worker` knows of the API, made from the declarations here."""

import re
from typing import Any

from edge_auth.api import auth
from edge_auth.api.blueprints import ENDPOINTS
from edge_auth.api.endpoint import COMMON_HEADERS, Endpoint
from edge_auth.api.responses import PREFLIGHT_HEADERS
from edge_auth.api.site import HOME, PAGE, no_path
from generator.storage import layout, objects
from generator.storage.keys import DEFAULT_RATE_LIMIT, GUEST_SCOPES, KEY

_SLUG = "{slug}"  # the variable that may hold slashes
_FOLDERS = "|".join(layout.SITE_FOLDERS)
_FILES = "|".join(map(re.escape, layout.ROOT_FILES))
_PAGES = {"/": HOME, f"/(?:{_FILES}|(?:{_FOLDERS})(?:/[^]*)?)": PAGE}


def tables() -> dict[str, Any]:
    """Return the tables by the names that the worker has for them, for `tables.json`. Patterns are of JavaScript."""
    pages = [_row(pattern, endpoint) for pattern, endpoint in _PAGES.items()]
    return {
        "key": KEY.pattern,
        "publicLimit": DEFAULT_RATE_LIMIT,
        "guestScopes": GUEST_SCOPES,
        "noKey": auth.NO_KEY,
        "noBearer": auth.NO_BEARER,
        "lacks": auth.LACKS,
        "needs": auth.NEEDS,
        "noPath": no_path(),
        "common": COMMON_HEADERS,
        "preflight": PREFLIGHT_HEADERS,
        "types": layout.MEDIA_TYPES,
        "rules": objects.to_json(),
        "endpoints": [*(_row(_pattern(endpoint.path), endpoint) for endpoint in ENDPOINTS), *pages],
    }


def _row(pattern: str, endpoint: Endpoint) -> dict[str, Any]:
    traits = {
        "methods": endpoint.methods,
        "scope": endpoint.scope,
        "guests": endpoint.guests,
        "public": endpoint.public,
        "page": not endpoint.rate_limited,
        "bulk": endpoint.own_window,
        "silent": not endpoint.sends_rate_limit,
        "headers": endpoint.headers,
    }
    return {"path": pattern} | {name: value for name, value in traits.items() if value}


def _pattern(path: str) -> str:
    """Return what matches the paths of an endpoint."""
    return "/".join(map(_segment_pattern, path.split("/")))


def _segment_pattern(segment: str) -> str:
    if "{" not in segment:
        return re.escape(segment)
    return "[^]+" if segment == _SLUG else "[^/]+"
