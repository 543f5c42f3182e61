"""Renders docs/api.md: the client guide with tables of all endpoints and parameters, for readers of the repository."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from generator.site import openapi
from generator.site.api_reference import Field, Reference
from generator.site.guide import table

_TEMPLATES = Path(__file__).with_name("templates")


def client_page() -> str:
    """Return docs/api.md as Markdown."""
    reference = Reference(json.loads(openapi.strict_document()))
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    page = environment.get_template("api.md.j2")
    return page.render(api=reference, endpoints=_endpoints(reference), parameters=_parameters(reference))


def _endpoints(api: Reference) -> str:
    rows = ((f"`{operation.path}`", operation.title) for operation in api.operations)
    return table(("path", "gives"), rows)


def _parameters(api: Reference) -> str:
    """Return the table of all parameters. Those that several endpoints share have one row."""
    paths: dict[Field, list[str]] = {}
    for path, field in _fields(api):
        paths.setdefault(field, []).append(f"`{path}`")
    rows = ((f"`{field.name}`", ", ".join(found), field.type, field.description) for field, found in paths.items())
    return table(("parameter", "of", "values", "says"), rows)


def _fields(api: Reference) -> Iterator[tuple[str, Field]]:
    for operation in api.operations:
        for field in operation.placed("path", "query"):
            yield operation.path.removeprefix("/api/v1"), replace(field, filled="")
