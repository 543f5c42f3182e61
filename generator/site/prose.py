"""Reads `operations.md`: the prose of the endpoints, a heading for each path and a row for each parameter."""

from dataclasses import dataclass, field
from importlib.resources import files
from itertools import groupby
from typing import NamedTuple

from edge_auth.builds.sorts import MATCH_BY, MATCH_SORT, SORTS
from edge_auth.builds.text_filters import TEXT_FILTERS
from generator.errors import SiteError

TAGS, PARAMETERS, HEADERS, STATUSES = "Tags", "Parameters of several paths", "Headers of answers", "Statuses"
_FILE = "generator/site/operations.md"
_EXAMPLE = "example"


class Sentence(NamedTuple):
    """A sentence with an example; '' for none."""

    text: str
    example: str


@dataclass
class Section:
    """A heading with its paragraph and the rows of its table.

    Attributes:
        title: What follows the path in the heading.
        used: The rows that were asked for.
    """

    name: str
    title: str = ""
    text: str = ""
    rows: dict[str, Sentence] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def find(self, name: str) -> Sentence | None:
        """Return a row, or None."""
        self.used.add(name)
        return self.rows.get(name)


class Prose:
    """The prose of `operations.md`, or of a text in its form.

    Raises:
        SiteError: A row is malformed, or stands twice.
    """

    def __init__(self, text: str | None = None):
        text = text or files("generator.site").joinpath("operations.md").read_text("utf-8")
        sections = [_read_section(part) for part in f"\n{text}".split("\n## ")[1:]]
        self._sections = {section.name: section for section in sections}
        self._used: set[str] = set()
        self.section(PARAMETERS).rows.update(_declared())

    def section(self, name: str) -> Section:
        """Return the section of a path, or one of those above the paths.

        Raises:
            SiteError: There is none.
        """
        self._used.add(name)
        if name not in self._sections:
            raise SiteError(f"{_FILE} has no heading '## {name}': add it with its rows")
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

        Raises:
            SiteError: Neither section has the row, or the sentence names an unknown fact.
        """
        own = self.section(path).find(name) or Sentence("", "")
        general = Sentence("", "") if own.text else self.section(shared).find(name) or Sentence("", "")
        text = own.text or general.text
        if not text:
            raise SiteError(f"{_FILE} has no row '{name}' below '## {path}', nor below '## {shared}': add one")
        try:
            return Sentence(text.format(**facts), own.example or general.example)
        except (KeyError, ValueError, IndexError):
            known = ", ".join(facts) or "nothing"
            raise SiteError(f"{_FILE}: the row '{name}' for {path} may name {known} in braces") from None

    def example_query(self, path: str) -> dict[str, str]:
        """Return the query of a path's example request. '' stands for the example of the parameter."""
        row = self.section(path).find(_EXAMPLE)
        pairs = (part.partition("=") for part in row.example.split("&")) if row else ()
        return {name: value for name, _, value in pairs}

    def require_all_used(self) -> None:
        """Check that nothing is left over after the document was made.

        Raises:
            SiteError: Nothing has asked for a heading or a row.
        """
        for name, section in self._sections.items():
            if name not in self._used:
                raise SiteError(f"{_FILE}: no endpoint has the path of the heading '## {name}': delete it")
            for row in sorted(section.rows.keys() - section.used - {_EXAMPLE}):
                raise SiteError(f"{_FILE}: nothing uses the row '{row}' below '## {name}': delete it")


def _declared() -> dict[str, Sentence]:
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
            raise SiteError(f"{_FILE}: '{line}' below '## {name}' has not three cells, or its name stands there twice")
        section.rows[cells[0]] = Sentence(cells[1], cells[2])
    return section
