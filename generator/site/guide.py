"""What people read of the API beside its reference: the client guide, the recipes and the changes of the API.

The guide is a part of docs/api.md. The OpenAPI document and the reference show it, and llms.txt begins with it. Its
tables repeat what the code declares; `make golden` writes them. The recipes are the headings of `recipes.md`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from edge_auth.api.endpoints import ENDPOINTS
from edge_auth.errors import API_ERRORS
from edge_auth.live.keys import SCOPES
from generator.site.prose import Prose
from generator.templates import packaged

_GUIDE = re.compile(r"<!-- the guide: [^>]*-->\n\n(.*?\n)\n## Endpoints\n", re.DOTALL)
_FOR_CLIENTS = "For clients of the API:"


class Recipe(NamedTuple):
    """A program of the reference.

    Attributes:
        name: Of its files in `templates/pages/examples/`, '' if another page shows it.
        text: What it does, as Markdown.
    """

    name: str
    title: str
    text: str

    @property
    def anchor(self) -> str:
        """The anchor of its heading."""
        return f"recipe-{anchor(self.title)}"


@cache
def guide() -> str:
    """Return the guide as Markdown. Its highest headings have level 2."""
    found = _GUIDE.search(packaged("docs/api.md").read_text("utf-8"))
    assert found, "docs/api.md has a guide before its endpoints"
    return found[1].rstrip("\n")


def guide_sections() -> list[tuple[str, str, str]]:
    """Return the anchor, the heading and the text of each section of the guide."""
    parts = (part.partition("\n") for part in guide().split("\n## ")[1:])
    return [(anchor(heading), heading, text.strip()) for heading, _, text in parts]


@cache
def recipes() -> list[Recipe]:
    """Return the recipes in the order of `recipes.md`: a heading for each, with the name of its files."""
    text = files("generator.site").joinpath("recipes.md").read_text("utf-8")
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return [Recipe(*heading.partition(": ")[::2], text.strip()) for heading, _, text in parts]


def anchor(text: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def with_tables(page: str) -> str:
    """Return docs/api.md with its tables of scopes, errors and endpoints as the code declares them."""
    for head, rows in _tables():
        table = "".join(f"{line}\n" for line in (_row(head), "|---" * len(head) + "|", *map(_row, rows)))
        before, old, rest = page.partition(f"{_row(head)}\n")
        assert old, f"docs/api.md has a table with the columns {', '.join(head)}"
        page = before + table + re.sub(r"\A(?:\|.*\n)*", "", rest)
    return page


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _tables() -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Yield the head and the rows of each table."""
    yield ("scope", "reads"), [(f"`{scope}`" if scope else "none", _paths(scope)) for scope in (*SCOPES, None)]
    errors = [(str(error.status), f"`{error.code}`", error.when, error.advice) for error in API_ERRORS]
    yield ("status", "code", "when", "what to do"), [*errors]
    prose = Prose()
    titles = {endpoint: prose.section(endpoint.path).title for endpoint in ENDPOINTS}
    names = {endpoint: ", ".join(f"`{name}`" for name in endpoint.rules or ()) for endpoint in ENDPOINTS}
    yield ("path", "gives", "parameters"), [(f"`{row.path}`", titles[row], names[row]) for row in ENDPOINTS]


def _paths(scope: str | None) -> str:
    """Return the paths that need a scope."""
    rows = (endpoint for endpoint in ENDPOINTS if endpoint.scope == scope and not endpoint.public)
    return ", ".join(f"`{endpoint.path}`" for endpoint in rows)


def api_changes() -> str:
    """Return the parts of CHANGELOG.md below "For clients of the API:", with the headings that have any."""
    text = packaged("CHANGELOG.md").read_text("utf-8").replace("[Unreleased]", "[Newest]")  # a service runs it
    text = re.sub(r"^## \[([^]]+)\]", r"## \1", text, flags=re.MULTILINE)
    kept: list[str] = []
    headings: dict[str, str] = {}
    wanted = False
    for block in re.split(r"\n{2,}", text.strip())[1:]:
        level = block[: len(block) - len(block.lstrip("#"))]
        if level:
            wanted = False
            headings = {other: text for other, text in headings.items() if other < level} | {level: block}
        elif block.startswith("For "):
            wanted = block == _FOR_CLIENTS
        elif wanted:
            kept += [*headings.values(), block]
            headings = {}
    return "\n\n".join(kept) + "\n"
