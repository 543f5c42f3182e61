"""The schemas of the resources: the fields of every object that the API returns, and those of its errors."""

import json
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from edge_auth.contract import bulk, object_keys, sorts
from edge_auth.contract.bulk import FORMATS
from edge_auth.contract.keys import SCOPES
from generator.templates import compiled_templates

# The words that fields accept, as the template names them.
_WORDS = {
    "kinds": sorts.KINDS,
    "views": object_keys.HISTORY_VIEWS,
    "ranges": tuple(object_keys.HISTORY_RANGES),
    "scopes": SCOPES,
    "bulk_tables": (*bulk.PART_OF_TABLE, *bulk.PRICE_TABLES),
    "bulk_formats": tuple(FORMATS),
}
_TEMPLATE = "openapi/schemas.json.j2"


@cache
def schemas() -> dict[str, Any]:
    """Return the schemas by name, as `components.schemas` of the OpenAPI document has them. Do not change the result.

    Raises:
        ValueError: The template does not render to JSON, or an object in it has two members of the same name.
    """
    environment = Environment(
        loader=PackageLoader("generator.site"),
        undefined=StrictUndefined,
        autoescape=False,
        bytecode_cache=compiled_templates(),
    )
    environment.globals |= _WORDS
    text = environment.get_template(_TEMPLATE).render()
    parsed: dict[str, Any] = json.loads(text, object_pairs_hook=_to_object, parse_constant=_refuse_constant)
    return parsed


def _to_object(members: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(members)
    if len(found) < len(members):
        names_ = [name for name, _ in members]
        repeated = sorted({name for name in names_ if names_.count(name) > 1})
        raise ValueError(f"{_TEMPLATE}: an object has more than one member named {', '.join(repeated)}")
    return found


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{_TEMPLATE}: {constant} is not JSON")
