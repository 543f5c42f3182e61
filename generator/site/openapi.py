"""Renders the OpenAPI document of the API, which the layer `site` stores as the object `openapi.json`.

The document depends on neither the clock nor the build, so the layer changes only when the API does.
"""

import json
import os
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from edge_auth.contract import movers, object_keys, sorts
from generator.site.guide import guide
from generator.site.open_schemas import open_schemas
from generator.site.schemas import schemas
from generator.templates import compiled_templates

# The words that parameters accept, as the template names them.
_WORDS = {
    "kinds": sorts.KINDS,
    "sorts": tuple(sorts.SORTS),
    "views": object_keys.HISTORY_VIEWS,
    "ranges": tuple(object_keys.HISTORY_RANGES),
    "windows": tuple(movers.WINDOWS),
    "measures": movers.MEASURES,
    "directions": movers.DIRECTIONS,
    "floors": movers.FLOORS,
}


# What `info` says about the operator: the variable that sets it, and the neutral default.
_OPERATOR = {
    "contact_name": ("CARDPRESS_API_CONTACT_NAME", "The operator of this service"),
    "contact_url": ("CARDPRESS_API_CONTACT_URL", ""),
    "license_name": ("CARDPRESS_API_LICENSE_NAME", "As agreed with the operator of this service"),
    "license_url": ("CARDPRESS_API_LICENSE_URL", ""),
}


def document() -> bytes:
    """Return the published OpenAPI 3.1.0 document as canonical JSON: compact, UTF-8, one line.

    Its schemas are open: an answer may have more fields, so a client that was generated from it survives a new one.

    Raises:
        ValueError: A template does not render to JSON.
    """
    return _opened(strict_document())


def strict_document() -> bytes:
    """Return the document with schemas that allow only the fields of today. Tests and the reference use it.

    Raises:
        ValueError: As for `document`.
    """
    return _strict_document(tuple((name, os.environ.get(key) or text) for name, (key, text) in _OPERATOR.items()))


@lru_cache(1)
def _strict_document(operator: tuple[tuple[str, str], ...]) -> bytes:
    environment = Environment(
        loader=PackageLoader("generator.site"),
        undefined=StrictUndefined,
        autoescape=False,
        bytecode_cache=compiled_templates(),
    )
    environment.globals |= _WORDS
    environment.globals |= dict(operator) | {"guide": guide()}
    text = environment.get_template("openapi.json.j2").render()
    parsed = json.loads(text)
    parsed["components"]["schemas"] = schemas()
    return _canonical(parsed)


@lru_cache(1)
def _opened(strict: bytes) -> bytes:
    return _canonical(open_schemas(json.loads(strict)))


def _canonical(parsed: object) -> bytes:
    return json.dumps(parsed, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
