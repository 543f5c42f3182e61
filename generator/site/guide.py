"""The client guide: `guide.md`, with tables that are made from what the code declares.

The OpenAPI document and the reference show it, and llms.txt and docs/api.md begin with it.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from edge_auth.api.endpoints import ENDPOINTS
from edge_auth.errors import API_ERRORS
from edge_auth.live.keys import SCOPES


@cache
def guide() -> str:
    """Return the guide as Markdown. Its highest headings have level 2."""
    text = files("generator.site").joinpath("guide.md").read_text("utf-8")
    template = Environment(undefined=StrictUndefined, autoescape=False).from_string(text)
    return template.render(errors=_errors(), scopes=_scopes())


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    cells = [tuple(head), *(tuple(row) for row in rows)]
    first, *others = ("| " + " | ".join(row) + " |" for row in cells)
    return "\n".join([first, "|---" * len(cells[0]) + "|", *others])


def _errors() -> str:
    rows = ((str(error.status), f"`{error.code}`", error.when, error.advice) for error in API_ERRORS)
    return table(("status", "code", "when", "what to do"), rows)


def _scopes() -> str:
    """Return the table of the scopes and the paths that need them."""
    rows = ((f"`{scope}`" if scope else "none", ", ".join(_paths(scope))) for scope in (*SCOPES, None))
    return table(("scope", "reads"), rows)


def _paths(scope: str | None) -> list[str]:
    return [f"`{endpoint.path}`" for endpoint in ENDPOINTS if endpoint.scope == scope and not endpoint.public]
