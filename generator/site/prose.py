"""Reads what people wrote about the API: the prose of the endpoints, the client guide, the recipes and the changes.

`operations.md` has the prose of the endpoints: a heading for each path and a row for each parameter. The recipes are
the headings of `recipes.md`. The changes of the API are parts of CHANGELOG.md.

The guide is a part of docs/api.md. The OpenAPI document and the reference show it, and llms.txt begins with it. Its
tables repeat what the code declares; `make golden` writes them. All methods of Prose raise SiteError where a heading or
a row of `operations.md` is missing, malformed or left over.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import NamedTuple

from edge_auth.api.blueprints import ENDPOINTS
from edge_auth.builds.catalogue import MATCH_BY, MATCH_SORT, SORTS, TEXT_FILTERS
from edge_auth.errors import API_ERRORS
from edge_auth.live.keys import SCOPES
from generator.errors import SiteError
from generator.templates import packaged

TAGS, PARAMETERS, HEADERS, STATUSES = "Tags", "Parameters of several paths", "Headers of answers", "Statuses"

_OPERATIONS = "generator/site/operations.md"
_EXAMPLE_ROW = "example"
_GUIDE = re.compile(r"<!-- the guide: [^>]*-->\n\n(.*?\n)\n## Endpoints\n", re.DOTALL)
_FOR_CLIENTS = "For clients of the API:"


class Sentence(NamedTuple):
    """A sentence with an example; '' for none."""

    text: str
    example: str


@dataclass
class Section:
    """A heading with its paragraph and the rows of its table."""

    name: str
    title: str  # what follows the path in the heading
    text: str
    rows: dict[str, Sentence] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)  # the rows that were asked for

    def find(self, name: str) -> Sentence | None:
        """Return a row, or None."""
        self.used.add(name)
        return self.rows.get(name)


class Prose:
    """The prose of `operations.md`, or of a text in its form."""

    def __init__(self, text: str | None = None):
        text = text or files("generator.site").joinpath("operations.md").read_text("utf-8")
        sections = [_read_section(part) for part in f"\n{text}".split("\n## ")[1:]]
        self._sections = {section.name: section for section in sections}
        self._used: set[str] = set()
        self.section(PARAMETERS).rows.update(_declared_rows())

    def section(self, name: str) -> Section:
        """Return the section of a path, or one of those above the paths."""
        self._used.add(name)
        if name not in self._sections:
            raise SiteError(f"{_OPERATIONS} has no heading '## {name}': add it with its rows")
        return self._sections[name]

    def texts(self, name: str) -> dict[str, str]:
        """Return the sentences of a section by the names of their rows."""
        section = self.section(name)
        section.used |= section.rows.keys()
        return {row: sentence.text for row, sentence in section.rows.items()}

    def sentence(self, path: str, shared: str, name: str, **facts: object) -> Sentence:
        """Return the row of a path, completed from the row of the shared section.

        Args:
            facts: What the code declares, by the names that the sentence has in braces.
        """
        own = self.section(path).find(name) or Sentence("", "")
        general = Sentence("", "") if own.text else self.section(shared).find(name) or Sentence("", "")
        text = own.text or general.text
        if not text:
            raise SiteError(f"{_OPERATIONS} has no row '{name}' below '## {path}', nor below '## {shared}': add one")
        try:
            return Sentence(text.format(**facts), own.example or general.example)
        except (KeyError, ValueError, IndexError):
            known = ", ".join(facts) or "nothing"
            raise SiteError(f"{_OPERATIONS}: the row '{name}' for {path} may name {known} in braces") from None

    def example_query(self, path: str) -> dict[str, str]:
        """Return the query of a path's example request. '' stands for the example of the parameter."""
        row = self.section(path).find(_EXAMPLE_ROW)
        pairs = (part.partition("=") for part in row.example.split("&")) if row else ()
        return {name: value for name, _, value in pairs}

    def require_all_used(self) -> None:
        """Check that nothing is left over after the document was made."""
        for name, section in self._sections.items():
            if name not in self._used:
                raise SiteError(f"{_OPERATIONS}: no endpoint has the path of the heading '## {name}': delete it")
            for row in sorted(section.rows.keys() - section.used - {_EXAMPLE_ROW}):
                raise SiteError(f"{_OPERATIONS}: nothing uses the row '{row}' below '## {name}': delete it")


class Recipe(NamedTuple):
    """A program of the reference."""

    name: str  # of its files in `templates/pages/examples/`, '' if another page shows it
    title: str
    text: str  # what it does, as Markdown

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


def _declared_rows() -> dict[str, Sentence]:
    """Return the rows of the parameters whose declarations say what they do."""
    by = groupby(SORTS, key=lambda name: SORTS[name].by)
    sorts = "; ".join(f"{', '.join(f'`{name}`' for name in names)}: {text}" for text, names in by)
    ascending = _enumerated([f"`{name}`" for name, sort in SORTS.items() if sort.ascending])
    descending = [f"`{name}`" for name, sort in SORTS.items() if not (sort.ascending or sort.price)]
    order = f"Default: `desc` for {_enumerated(['the price sorts', *descending])}, `asc` for {ascending}."
    filters = {name: Sentence(filter_.finds, filter_.example) for name, filter_ in TEXT_FILTERS.items()}
    return {"sort": Sentence(f"{sorts}; `{MATCH_SORT}`: {MATCH_BY}.", ""), "order": Sentence(order, ""), **filters}


def _enumerated(words: list[str]) -> str:
    """Return words such as `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _read_section(part: str) -> Section:
    heading, *lines = part.splitlines()
    name, _, title = heading.partition(": ")
    text = " ".join(line for line in lines if line and not line.startswith("|"))
    section = Section(name, title, text)
    for line in [line for line in lines if line.startswith("|")][2:]:  # without the head of the table
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 3 or cells[0] in section.rows:
            raise SiteError(
                f"{_OPERATIONS}: '{line}' below '## {name}' has not three cells, or its name stands there twice"
            )
        section.rows[cells[0]] = Sentence(cells[1], cells[2])
    return section


def _tables() -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Yield the head and the rows of each table."""
    yield ("scope", "reads"), [(f"`{scope}`" if scope else "none", _paths(scope)) for scope in (*SCOPES, None)]
    errors = [(str(error.status), f"`{error.code}`", error.when, error.advice) for error in API_ERRORS]
    yield ("status", "code", "when", "what to do"), [*errors]
    prose = Prose()
    titles = {endpoint: prose.section(endpoint.path).title for endpoint in ENDPOINTS}
    names = {endpoint: ", ".join(f"`{name}`" for name in endpoint.query or ()) for endpoint in ENDPOINTS}
    yield ("path", "gives", "parameters"), [(f"`{row.path}`", titles[row], names[row]) for row in ENDPOINTS]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _paths(scope: str | None) -> str:
    """Return the paths that need a scope."""
    rows = (endpoint for endpoint in ENDPOINTS if endpoint.scope == scope and not endpoint.public)
    return ", ".join(f"`{endpoint.path}`" for endpoint in rows)
