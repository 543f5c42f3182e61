"""The fields that a diff compares, taken from the schemas of the resources."""

from collections.abc import Iterator

from generator.site.schemas import schemas
from generator.site.types_in_words import REFERENCE, Json

# Per resource of the diff: its schema, and the members that are not compared (its key, and items of their own).
_SCHEMAS = {
    "products": ("Card", {"id_product"}),
    "sets": ("Set", {"id"}),
    "watchlist": ("WatchlistItem", {"slug"}),
    "fingerprints": ("FingerprintEntry", {"key"}),
    "fingerprint index": ("FingerprintIndex", {"entries"}),
}


def compared_fields() -> dict[str, list[str]]:
    """Return per resource the fields that a diff compares, in the order of `generator/site/schemas.md`.

    A field of an inner object is named by its path, such as `price_guide.holo.low`. Arrays, and objects without a
    schema of their own, are compared as a whole.
    """
    return {
        resource: [path for path in _paths(schema) if path not in excluded]
        for resource, (schema, excluded) in _SCHEMAS.items()
    }


def _paths(schema: str, prefix: str = "") -> Iterator[str]:
    for name, member in schemas()[schema]["properties"].items():
        inner = _inner_schema(member)
        if inner is None:
            yield prefix + name
        else:
            yield from _paths(inner, f"{prefix}{name}.")


def _inner_schema(member: Json) -> str | None:
    """Return the name of the schema of an object that may be null, or None for any other value."""
    for option in (member, *member.get("anyOf", ())):
        if "$ref" in option:
            return str(option["$ref"]).removeprefix(REFERENCE)
    return None
