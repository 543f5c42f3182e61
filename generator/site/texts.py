"""Reads what people wrote about the API: the prose of the endpoints and the fields of the resources.

`operations.md` has a heading for each path and a row for each parameter, `schemas.md` the fields of every object that
the API returns, and of its errors. A row there has the type of its field in words. They become JSON Schema, and words
for readers:

    integer or null, at least 0        {"type": ["integer", "null"], "minimum": 0}
    array of Offer, at most 5 items    {"type": "array", "items": {"$ref": "#/components/schemas/Offer"}, "maxItems": 5}
    one of the views                   {"type": "string", "enum": ["daily", "weekly", "monthly"]}
    string, under any name             {"type": "object", "additionalProperties": {"type": "string"}}

All functions raise SiteError where a heading or a row is missing or malformed.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, NamedTuple

from edge_auth.errors import API_ERRORS
from edge_auth.parameters import Integer
from edge_auth.search.named import MATCHES
from generator.errors import SiteError
from generator.lake.tables import CONDITIONS
from generator.storage import bulk, layout
from generator.storage.catalogue import KINDS, MATCH_BY, MATCH_SORT, SORTS, TEXT_FILTERS
from generator.storage.keys import SCOPES

Json = dict[str, Any]
REFERENCE = "#/components/schemas/"
ARRAY_OF = "array of "
# The sections of `operations.md` above the paths.
TAGS, PARAMETERS, HEADERS, STATUSES = "Tags", "Parameters of several paths", "Headers of answers", "Statuses"

_OPERATIONS = "generator/site/operations.md"
_EXAMPLE_ROW = "example"

# The rows of `schemas.md`.
_COLUMNS = ("field", "type", "what it is", "example")
_BASE = re.compile(r"\*(\w+)\*")
_MORE = "…"
_PAGE_OF = ", a page of "
# The types in words.
_WORDS: dict[str, tuple[str, ...]] = {
    "kinds": KINDS[1:],
    "matches": MATCHES,
    "views": layout.HISTORY_VIEWS,
    "ranges": tuple(layout.HISTORY_RANGES),
    "scopes": SCOPES,
    "conditions": tuple(CONDITIONS),
    "bulk tables": (*bulk.PART_OF_TABLE, *bulk.PRICE_TABLES),
    "bulk formats": tuple(bulk.FORMATS),
    "error codes": tuple(error.code for error in API_ERRORS),
}
_TYPES: dict[str, Json] = {
    **{name: {"type": name} for name in ("string", "integer", "number", "boolean", "object")},
    "int64": {"type": "integer", "format": "int64"},
    "date": {"type": "string", "format": "date"},
    "date-time": {"type": "string", "format": "date-time"},
}
_ONE_OF = "one of the "
_UNDER = "under any of the "
_UNDER_NAMES = "under any name"
_OPTIONAL = "optional"
_SEPARATOR = re.compile(r", (?![^(]*\))")  # a comma that is in no parentheses
# The first pattern that matches a whole bound says which members it sets; its groups are their values in order.
_BOUNDS = (
    (re.compile(r"at least (\d+)"), ("minimum",)),
    (re.compile(r"at least (\d+) items?"), ("minItems",)),
    (re.compile(r"at most (\d+) items?"), ("maxItems",)),
    (re.compile(r"(\d+) to (\d+) items"), ("minItems", "maxItems")),
    (re.compile(r"(?=(\d+) items)(\d+) items"), ("minItems", "maxItems")),
    (re.compile(r"like `(.+)`"), ("pattern",)),
    (re.compile(r"always (.+)"), ("const",)),
)


class _Part(NamedTuple):
    """A heading of a text."""

    line: int
    heading: str
    text: str  # the paragraphs below it, on one line
    rows: list[tuple[int, list[str]]]  # the lines and the cells of its table, without the head


def _parts(file: str) -> Iterator[_Part]:
    """Yield the headings of level 2."""
    lines = list(enumerate(files("generator.site").joinpath(file).read_text("utf-8").splitlines(), 1))
    starts = [index for index, (_, line) in enumerate(lines) if line.startswith("## ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        (number, heading), *below = lines[start:end]
        text = " ".join(line for _, line in below if line and not line.startswith("|"))
        table = [(number, line.removeprefix("|").removesuffix("|")) for number, line in below if line.startswith("|")]
        rows = [(number, [cell.strip() for cell in line.split("|")]) for number, line in table[2:]]
        yield _Part(number, heading.removeprefix("## "), text, rows)


class Sentence(NamedTuple):
    """A sentence with an example; '' for none."""

    text: str
    example: str


@dataclass
class Section:
    """A heading with its paragraph and the rows of its table."""

    title: str  # what follows the path in the heading
    text: str
    rows: dict[str, Sentence] = field(default_factory=dict)


class Prose:
    """The prose of `operations.md`."""

    def __init__(self) -> None:
        self._sections = dict(map(_section, _parts("operations.md")))
        self.section(PARAMETERS).rows.update(_declared_rows())

    def section(self, name: str) -> Section:
        """Return the section of a path, or one of those above the paths."""
        if name not in self._sections:
            raise SiteError(f"{_OPERATIONS} has no heading '## {name}': add it with its rows")
        return self._sections[name]

    def texts(self, name: str) -> dict[str, str]:
        """Return the sentences of a section by the names of their rows."""
        return {row: sentence.text for row, sentence in self.section(name).rows.items()}

    def sentence(self, path: str, shared: str, name: str, **facts: object) -> Sentence:
        """Return the row of a path, completed from the row of the shared section.

        Args:
            facts: What the code declares, by the names that the sentence has in braces.
        """
        own = self.section(path).rows.get(name) or Sentence("", "")
        general = Sentence("", "") if own.text else self.section(shared).rows.get(name) or Sentence("", "")
        text = own.text or general.text
        if not text:
            raise SiteError(f"{_OPERATIONS} has no row '{name}' below '## {path}', nor below '## {shared}': add one")
        return Sentence(text.format(**facts), own.example or general.example)

    def example_query(self, path: str) -> dict[str, str]:
        """Return the query of a path's example request. '' stands for the example of the parameter."""
        row = self.section(path).rows.get(_EXAMPLE_ROW)
        pairs = (part.partition("=") for part in row.example.split("&")) if row else ()
        return {name: value for name, _, value in pairs}


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


def _section(part: _Part) -> tuple[str, Section]:
    name, _, title = part.heading.partition(": ")
    section = Section(title, part.text)
    for line, cells in part.rows:
        if len(cells) != 3 or cells[0] in section.rows:
            raise SiteError(f"{_OPERATIONS}:{line}: the row '{cells[0]}' has not three cells, or stands there twice")
        section.rows[cells[0]] = Sentence(cells[1], cells[2])
    return name, section


@dataclass(frozen=True)
class Row:
    """A field of a resource."""

    name: str
    type: str  # in words
    description: str
    example: str  # JSON, or the text of a string; '' for none
    line: int  # in `schemas.md`
    fields: tuple["Row", ...] = ()  # of an inner object

    @property
    def is_optional(self) -> bool:
        """Whether it may be absent."""
        return _SEPARATOR.split(self.type)[-1] == _OPTIONAL


@dataclass(frozen=True)
class Resource:
    """A resource."""

    name: str
    description: str
    fields: tuple[Row, ...]  # its own, in the order of an answer
    base: str | None = None  # the resource whose fields come before its own
    open: bool = False  # whether it has fields that are not listed


@cache
def resources() -> dict[str, Resource]:
    """Return the resources by name, in the order of the file."""
    return {resource.name: resource for resource in map(_resource, _parts("schemas.md"))}


def all_fields(name: str) -> tuple[Row, ...]:
    """Return the fields of a resource, those of its base first."""
    resource = resources()[name]
    return (*(all_fields(resource.base) if resource.base else ()), *resource.fields)


@cache
def schemas() -> dict[str, Json]:
    """Return the schemas by name, as `components.schemas` of the OpenAPI document has them. Do not change the result.

    They allow only the fields of today. Each has an example, which is assembled from those of its fields.
    """
    return {name: _resource_schema(resource) for name, resource in resources().items()}


def schema_of(words: str) -> Json:
    """Return the JSON Schema of a type in words.

    Raises:
        ValueError: The words are not a type. The message says what to write.
    """
    type_, *bounds = (part for part in _SEPARATOR.split(words) if part != _OPTIONAL)
    schema = _without_bounds(type_)
    for bound in bounds:
        if bound == _UNDER_NAMES:
            schema = {"type": "object", "additionalProperties": schema}
        elif bound.startswith(_UNDER):
            names = dict.fromkeys(_declared_words(bound.removeprefix(_UNDER)), schema)
            schema = {"type": "object", "additionalProperties": False, "properties": names}
        else:
            schema |= _bound(bound)
    return schema


@cache
def for_readers(words: str) -> str:
    """Return a type with the declared words in place of their name: "one of `single`, `sealed`"."""
    for start in (_ONE_OF, _UNDER):
        for name, declared in _WORDS.items():
            listed = ", ".join(f"`{word}`" for word in declared)
            words = words.replace(start + name, start.replace("the ", "") + listed)
    return words


def _malformed(line: int, problem: str) -> SiteError:
    return SiteError(f"generator/site/schemas.md:{line}: {problem}")


def _resource(part: _Part) -> Resource:
    name, _, item = part.heading.partition(_PAGE_OF)
    rows = [_row(*row) for row in part.rows]
    bases = [found[1] for row in rows if (found := _BASE.fullmatch(row.name))]
    own = [row for row in rows if row.name != _MORE and not _BASE.fullmatch(row.name)]
    own = [*(_page_rows(name, item, part.line) if item else ()), *own]
    if not own:
        heading, columns = f"## {part.heading}", ", ".join(_COLUMNS)
        raise _malformed(part.line, f"{heading!r} has no fields: add a table with the columns {columns}")
    text = part.text or f"One page of a list: {item} objects and the place of the page."
    is_open = any(row.name == _MORE for row in rows)
    return Resource(name, text, _nested(own), next(iter(bases), None), is_open)


def _page_rows(page: str, item: str, line: int) -> Iterator[Row]:
    """Yield the fields of a page of a list."""
    from edge_auth.api.blueprints import ENDPOINTS  # imports Flask, which a diff does not need

    rules = [endpoint.parameters["limit"].rule for endpoint in ENDPOINTS if endpoint.schema == page]
    most = [rule.high for rule in rules if isinstance(rule, Integer)]
    if not most:
        raise _malformed(line, f"no endpoint answers {page}: add it to `edge_auth/api`")
    yield Row("data", f"array of {item}, at most {most[0]} items", "The rows of this page.", "", line)
    yield Row("pagination", "Pagination", "Where this page stands.", "", line)


def _row(number: int, cells: list[str]) -> Row:
    if len(cells) != len(_COLUMNS):
        raise _malformed(number, f"a row has {len(cells)} cells: write '| {' | '.join(_COLUMNS)} |'")
    name, type_, description, example = cells
    return Row(name, type_, description, example, number)


def _nested(rows: list[Row]) -> tuple[Row, ...]:
    """Return rows with those of inner objects, such as `build.id`, inside the row of the object."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        name, _, inner = row.name.partition(".")
        if inner and name not in found:
            raise _malformed(row.line, f"{row.name!r} needs one row {name!r} of type 'object' above it")
        if name in found and not inner:
            raise _malformed(row.line, f"{name!r} has a row above: remove one of them")
        found.setdefault(name, []).append(replace(row, name=inner or name))
    return tuple(replace(own, fields=_nested(inner)) for own, *inner in found.values())


def _resource_schema(resource: Resource) -> Json:
    fields = all_fields(resource.name)
    schema = _object(fields) | {"description": resource.description, "examples": [_example(fields)]}
    if resource.open:
        del schema["additionalProperties"]
    return schema


def _object(fields: tuple[Row, ...]) -> Json:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [field.name for field in fields if not field.is_optional],
        "properties": {field.name: _member(field) for field in fields},
    }


def _member(field: Row) -> Json:
    inner = _object(field.fields) if field.fields else {}
    return _field_schema(field) | inner | {"description": field.description}


def _field_schema(field: Row) -> Json:
    try:
        return schema_of(field.type)
    except ValueError as error:
        raise _malformed(field.line, str(error)) from None


def _example(fields: tuple[Row, ...]) -> Json:
    """Return the example of an object. A field that may be absent and has no example is left out."""
    shown = (field for field in fields if field.example or not field.is_optional)
    return {field.name: _field_example(field) for field in shown}


def _field_example(field: Row) -> object:
    """Return the example of a field: that of its row, or else that of its resource."""
    if field.fields:
        return _example(field.fields)
    if field.example:
        return _given_example(field)
    name = field.type.removeprefix(ARRAY_OF).partition(",")[0].removesuffix(" or null")
    if name not in resources():
        raise _malformed(field.line, f"{field.name!r} needs an example, or a type that is a heading of this file")
    example = _example(all_fields(name))
    return [example] if field.type.startswith(ARRAY_OF) else example


def _given_example(field: Row) -> object:
    """Return the example of a row: JSON, or the text of a string."""
    if field.example != "null" and "string" in _field_schema(field).get("type", ()):
        return field.example
    try:
        return json.loads(field.example)
    except ValueError:
        raise _malformed(field.line, f"the example {field.example!r} is not JSON: write it as JSON") from None


def _without_bounds(type_: str) -> Json:
    if type_.startswith(ARRAY_OF):
        return {"type": "array", "items": schema_of(type_.removeprefix(ARRAY_OF).strip("()"))}
    if type_.startswith(_ONE_OF):
        return {"type": "string", "enum": list(_declared_words(type_.removeprefix(_ONE_OF)))}
    name = type_.removesuffix(" or null")
    if name[:1].isupper():
        reference = {"$ref": REFERENCE + name}
        return reference if name == type_ else {"anyOf": [reference, {"type": "null"}]}
    if name not in _TYPES:
        raise ValueError(
            f"{type_!r} is no type: write one of {', '.join(_TYPES)}, a resource, 'array of …', 'one of the …'"
        )
    known = _TYPES[name]
    return known | ({} if name == type_ else {"type": [known["type"], "null"]})


def _declared_words(name: str) -> tuple[str, ...]:
    if name not in _WORDS:
        raise ValueError(f"there are no words {name!r}: write one of {', '.join(_WORDS)}")
    return _WORDS[name]


def _bound(text: str) -> Json:
    for pattern, members in _BOUNDS:
        if found := pattern.fullmatch(text):
            return {
                name: int(value) if value.isdigit() else value
                for name, value in zip(members, found.groups(), strict=True)
            }
    raise ValueError(f"{text!r} is no bound: write one of 'at least 0', '1 to 5 items', 'like `regex`', 'always text'")
