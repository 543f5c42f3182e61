"""The machine-readable description of the API, which the layer `site` stores as the object `openapi.json`.

Its text stands in `templates/openapi.json.j2`. It knows neither the clock nor the build, so the layer changes
only when the API does.
"""

import json

from jinja2 import Environment, PackageLoader, StrictUndefined


def document() -> bytes:
    """The OpenAPI 3.1.0 document as canonical JSON: compact, UTF-8, one line.

    Raises:
        ValueError: the template does not render to JSON, or names a member of an object twice.
    """
    environment = Environment(loader=PackageLoader("generator.site"), undefined=StrictUndefined, autoescape=False)
    text = environment.get_template("openapi.json.j2").render()
    parsed = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    return json.dumps(parsed, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _object(members: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in members]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"openapi.json.j2: an object names {', '.join(twice)} twice")
    return dict(members)


def _refuse(constant: str) -> None:
    raise ValueError(f"openapi.json.j2: {constant} is not JSON")
