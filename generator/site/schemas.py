"""Makes JSON Schema of the rows in `schemas.md`: the fields of every object that the API returns, and of its errors."""

import json
from collections.abc import Mapping
from functools import cache

from generator.site.schema_rows import Resource, Row, all_fields, malformed, resources
from generator.site.types_in_words import ARRAY_OF, Json, is_optional, schema_of


@cache
def schemas() -> dict[str, Json]:
    """Return the schemas by name, as `components.schemas` of the OpenAPI document has them. Do not change the result.

    They allow only the fields of today. Each has an example, which is assembled from those of its fields.

    Raises:
        SiteError: A row of `schemas.md` is malformed.
    """
    return make_schemas(resources())


def make_schemas(resources: Mapping[str, Resource]) -> dict[str, Json]:
    """Return the schemas of resources by name.

    Raises:
        SiteError: A row is malformed.
    """
    return {name: _schema(name, resources) for name in resources}


def _schema(name: str, resources: Mapping[str, Resource]) -> Json:
    resource = resources[name]
    schema = _object(all_fields(name, resources)) | {"description": resource.description}
    if resource.open:
        del schema["additionalProperties"]
    return schema | {"examples": [_example_of(name, resources)]}


def _object(fields: tuple[Row, ...]) -> Json:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [field.name for field in fields if not is_optional(field.type)],
        "properties": {field.name: _member(field) for field in fields},
    }


def _member(field: Row) -> Json:
    inner = _object(field.fields) if field.fields else {}
    return _schema_of(field) | inner | {"description": field.description}


def _schema_of(field: Row) -> Json:
    try:
        return schema_of(field.type)
    except ValueError as error:
        raise malformed(field.line, str(error)) from None


def _example_of(name: str, resources: Mapping[str, Resource]) -> Json:
    return _example(all_fields(name, resources), resources)


def _example(fields: tuple[Row, ...], resources: Mapping[str, Resource]) -> Json:
    """Return the example of an object. A field that may be absent and has no example is left out."""
    shown = (field for field in fields if field.example or not is_optional(field.type))
    return {field.name: _value(field, resources) for field in shown}


def _value(field: Row, resources: Mapping[str, Resource]) -> object:
    """Return the example of a field: that of its row, or else that of its resource."""
    if field.fields:
        return _example(field.fields, resources)
    if field.example:
        return _given(field)
    name = field.type.removeprefix(ARRAY_OF).partition(",")[0].removesuffix(" or null")
    if name not in resources:
        raise malformed(field.line, f"{field.name!r} needs an example, or a type that is a heading of this file")
    example = _example_of(name, resources)
    return [example] if field.type.startswith(ARRAY_OF) else example


def _given(field: Row) -> object:
    """Return the example of a row: JSON, or the text of a string."""
    if field.example != "null" and "string" in _schema_of(field).get("type", ()):
        return field.example
    try:
        return json.loads(field.example)
    except ValueError:
        raise malformed(field.line, f"the example {field.example!r} is not JSON: write it as JSON") from None
