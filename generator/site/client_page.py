"""Renders docs/api.md: the client guide with a table of all endpoints, for readers of the repository."""

import json
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from generator.site import openapi
from generator.site.api_reference import Operation, Reference
from generator.site.guide import table

_TEMPLATES = Path(__file__).with_name("templates")


def client_page() -> str:
    """Return docs/api.md as Markdown."""
    reference = Reference(json.loads(openapi.strict_document()))
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    page = environment.get_template("api.md.j2")
    return page.render(api=reference, endpoints=_endpoints(reference))


def _endpoints(api: Reference) -> str:
    rows = ((f"`{operation.path}`", operation.title, _parameters(operation)) for operation in api.operations)
    return table(("path", "gives", "parameters"), rows)


def _parameters(operation: Operation) -> str:
    return ", ".join(f"`{field.name}`" for field in operation.placed("query"))
