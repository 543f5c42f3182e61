"""The published form of the OpenAPI document's schemas: open, and with a name for each object."""

from typing import Any

_Json = dict[str, Any]
_REFERENCE = "#/components/schemas/"


def open_schemas(document: _Json) -> _Json:
    """Return a document whose schemas allow further fields, and whose nested objects are schemas of their own."""
    opened: _Json = _open(document)
    schemas: _Json = opened["components"]["schemas"]
    for name in list(schemas):
        _name_objects(schemas, name)
    return opened


def _open(value: Any) -> Any:
    """Return JSON without the member `additionalProperties: false` in any object."""
    if isinstance(value, dict):
        closed = value.get("additionalProperties") is False
        return {key: _open(member) for key, member in value.items() if not (closed and key == "additionalProperties")}
    return [_open(item) for item in value] if isinstance(value, list) else value


def _name_objects(schemas: _Json, name: str) -> None:
    """Move the objects in a schema's properties to schemas of their own: `build` of Status becomes StatusBuild."""
    properties: _Json = schemas[name].get("properties", {})
    for field, schema in list(properties.items()):
        if "properties" not in schema:
            continue
        own = name + "".join(word.capitalize() for word in field.split("_"))
        if own in schemas:
            raise ValueError(f"two schemas would be named {own}")
        schemas[own] = schema
        properties[field] = {"$ref": _REFERENCE + own}
        _name_objects(schemas, own)
