"""Renders the OpenAPI document of the API, which the layer `site` stores as the object `openapi.json`.

The document depends on neither the clock nor the build, so the layer changes only when the API does.
"""

import json

from jinja2 import Environment, PackageLoader, StrictUndefined

from edge_auth.contract import names
from edge_auth.contract.keys import SCOPES

# The words that parameters and fields accept, as the templates name them.
_WORDS = {
    "kinds": names.KINDS,
    "sorts": tuple(names.SORTS),
    "views": names.VIEWS,
    "ranges": tuple(names.RANGES),
    "scopes": SCOPES,
}


def document() -> bytes:
    """Return the OpenAPI 3.1.0 document as canonical JSON: compact, UTF-8, one line.

    Raises:
        ValueError: The template does not render to JSON, or an object in it has two members of the same name.
    """
    environment = Environment(loader=PackageLoader("generator.site"), undefined=StrictUndefined, autoescape=False)
    environment.globals |= _WORDS
    text = environment.get_template("openapi.json.j2").render()
    parsed = json.loads(text, object_pairs_hook=_to_object, parse_constant=_refuse_constant)
    return json.dumps(parsed, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _to_object(members: list[tuple[str, object]]) -> dict[str, object]:
    names_ = [name for name, _ in members]
    repeated = sorted({name for name in names_ if names_.count(name) > 1})
    if repeated:
        raise ValueError(f"openapi.json.j2: an object has more than one member named {', '.join(repeated)}")
    return dict(members)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"openapi.json.j2: {constant} is not JSON")
