"""Turns the OpenAPI document into the view model of the API reference and of llms.txt.

Endpoints, parameters and errors come from the document that the API serves, fields from the rows that its schemas are
made of. So the document and the reference cannot differ. The reference has a start with the recipes of `recipes.md`, a
page of the concepts, and one for each resource, which is the first segment of a path. Its examples are requests for
products, sets and slugs that a build has, and their real answers.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from flask.testing import FlaskClient

from edge_auth.api.blueprints import client_of
from edge_auth.api.endpoint import API
from edge_auth.live.open_build import OpenBuild
from generator.site.openapi import anchor, guide_sections, strict_document
from generator.site.texts import REFERENCE, Json, Prose, Resource, Row, for_readers, resources
from generator.storage import layout
from generator.storage.stores.codec import decompressed_chunks
from generator.storage.text import base_name

_LARGEST_INTEGER = 10**18 - 1  # the maximum in the document when the limit of 18 digits is the only bound

START, CONCEPTS = "", "concepts"
_TITLES = {"me": "Your key", "openapi": "OpenAPI", "card": "One card"}  # the other pages have their resource's name
_ONE_CARD = "cards/{"  # has a page of its own, since that of the cards would be too long
_MOST_PAGES = 2  # a resource of more pages stands with the concepts
_RESOURCE = re.compile(r"[A-Z]\w+")
_BRACES = re.compile(r"\{(\w+)\}")

# The parameters whose values one build has and another lacks. One without a value in a build has no example there.
_NAMES_OF_BUILDS = {"idProduct", "ids", "names", "q", "set", "number", "rarity", "game", "scheme", "values", "slug",
                    "name", "from", "to"}  # fmt: skip
_EXAMPLE_CANDIDATES = 5
_WORD = re.compile(r"[^\W\d_]{3,}")
_MAX_NAME_CHARACTERS = 60  # a set or game with a longer name makes no good example
_MAX_LINES = 80  # of an answer
_LARGE = (f"{API}fingerprints", f"{API}names")
_MADE_LATER = f"{API}openapi.json"

Answers = Callable[[str], Any]


@dataclass(frozen=True)
class LiveExamples:
    """What the reference takes from a build."""

    # Example values of parameters by name. `q of listSets` is the value of `q` for that operation alone.
    values: Mapping[str, str] = field(default_factory=dict)
    answer: Answers = lambda target: None  # to a path with its query; None if the build cannot answer it
    status: Any = None


NO_EXAMPLES = LiveExamples()


def live_examples(build: OpenBuild) -> LiveExamples:
    answer = partial(_answer, client_of(build))
    return LiveExamples(dict(_values(build, answer)), answer, json.loads(build.status()))


def rows_of(answer: Answers, target: str) -> list[dict[str, Any]]:
    """Return the rows of a list, none if the build cannot answer."""
    rows: list[dict[str, Any]] = (answer(f"{API}{target}") or {"data": []})["data"]
    return rows


@dataclass(frozen=True)
class Field:
    """A field of a resource, or a parameter of an endpoint, or a header."""

    name: str
    type: str  # with the allowed values and the default, in words
    description: str
    place: str = ""  # `path`, `query` or `header` for a parameter
    required: bool = True
    choices: tuple[str, ...] = ()  # of an enumeration
    example: str = ""
    filled: str = ""  # the value in the operation's example request, '' if the request lacks the parameter


@dataclass(frozen=True)
class ErrorExample:
    """An error that an endpoint can return, with an example of its message."""

    status: int
    code: str
    description: str
    message: str


@dataclass(frozen=True)
class Operation:
    """An endpoint with its parameters, its answer and its errors."""

    path: str
    id: str
    tag: str
    title: str
    description: str
    public: bool
    parameters: list[Field]
    answer: str
    body: str  # the schema of its answer, '' for a file
    errors: list[ErrorExample]
    answer_headers: list[tuple[int, Field]]  # each with the status of an answer that carries it

    def placed(self, *places: str) -> list[Field]:
        """Return the parameters in these places."""
        return [parameter for parameter in self.parameters if parameter.place in places]

    @cached_property
    def example(self) -> str:
        """The path and query of an example request."""
        path = self.path
        for parameter in self.placed("path"):
            if parameter.example:
                path = path.replace(f"{{{parameter.name}}}", quote(parameter.example, safe=""))
        query = [(parameter.name, parameter.filled) for parameter in self.placed("query") if parameter.filled]
        return f"{path}?{urlencode(query)}" if query else path

    @property
    def page(self) -> str:
        path = self.path.removeprefix(API)
        return "card" if path.startswith(_ONE_CARD) else path.partition("/")[0].removesuffix(".json")


@dataclass(frozen=True)
class ResourcePage:
    """A page of the reference: endpoints, and the resources that no page before has."""

    name: str
    tag: str
    operations: list[Operation]
    schemas: list[str]

    @property
    def title(self) -> str:
        return _TITLES.get(self.name, self.name.capitalize())


class Recipe(NamedTuple):
    """A program of the reference."""

    name: str  # of its files in `docs/examples/`, '' if another page shows it
    title: str
    text: str  # what it does, as Markdown

    @property
    def anchor(self) -> str:
        return f"recipe-{anchor(self.title)}"


@cache
def recipes() -> list[Recipe]:
    """Return the recipes in the order of `recipes.md`: a heading for each, with the name of its files."""
    text = files("generator.site").joinpath("recipes.md").read_text("utf-8")
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return [Recipe(*heading.partition(": ")[::2], text.strip()) for heading, _, text in parts]


class SearchEntry(NamedTuple):
    """A place of the reference that the search finds: its name, what it is a part of, its address and its text."""

    name: str
    where: str
    href: str
    text: str


class Reference:
    """The OpenAPI document in the terms of the templates, with examples from a build if there is one."""

    def __init__(self, document: Json, live: LiveExamples = NO_EXAMPLES):
        self.live = live
        self.info: Json = document["info"]
        self.tags: list[Json] = document["tags"]
        self.schemas: dict[str, Json] = document["components"]["schemas"]
        self.resources = resources()
        prose, paths = Prose(), document["paths"]
        self.operations = [
            _operation(path, item["get"], prose.example_query(path), live) for path, item in paths.items()
        ]
        self.pages = _pages(self.operations, self.resources)
        own = {schema for page in self.pages for schema in page.schemas}
        self.shared = [schema for schema in self.resources if schema not in own]
        self._page_of = {schema: page.name for page in self.pages for schema in page.schemas}
        self._page_of |= {operation.id: operation.page for operation in self.operations}

    def tagged(self, tag: str) -> list[ResourcePage]:
        """Return the pages of one tag, in the order of the document."""
        return [page for page in self.pages if page.tag == tag]

    def href(self, anchor: str) -> str:
        """Return the address of an endpoint, a resource, one of their fields, or a place of the concepts."""
        return f"{page_address(self._page_of.get(anchor.partition('.')[0], CONCEPTS))}#{anchor}"

    def places(self) -> Iterator[SearchEntry]:
        """Yield all that the search of the reference finds."""
        yield SearchEntry("Make your first call", "", f"{page_address(START)}#start", self.info["summary"])
        for recipe in self.recipes:
            yield SearchEntry(recipe.title, "", f"{page_address(START)}#{recipe.anchor}", recipe.text)
        for place, heading, text in guide_sections():
            yield SearchEntry(heading, "", self.href(place), text)
        for owner, headers in (("headers", self.headers), ("answers", [header for header, _ in self.answer_headers])):
            yield from self._parts(headers, "Headers", owner)
        for one in self.operations:
            yield SearchEntry(one.title, "", self.href(one.id), f"{one.description} {one.answer}")
            yield SearchEntry(one.path, one.title, self.href(one.id), "")
            yield from self._parts(one.placed("path", "query"), one.title, one.id)
        for name, resource in self.resources.items():
            yield SearchEntry(name, "", self.href(name), resource.description)
            yield from self._parts(self.fields(name), name, name)

    def _parts(self, fields: Iterable[Field], where: str, owner: str) -> Iterator[SearchEntry]:
        for one in fields:
            yield SearchEntry(one.name, where, self.href(f"{owner}.{one.name}"), f"{one.type} {one.description}")

    @property
    def examples(self) -> dict[tuple[str, str], str]:
        """The values of the example requests, by operation and parameter."""
        return {
            (one.id, given.name): value
            for one in self.operations
            for given in one.placed("path", "query")
            if (value := given.example if given.place == "path" else given.filled)
        }

    @property
    def recipes(self) -> list[Recipe]:
        """The recipes of the page with which the reference begins. Their lines name what the build has."""
        names = {"idProduct": "10002", "names": "Emberfox ex"} | dict(self.live.values)
        return [recipe._replace(text=_BRACES.sub(lambda found: names[found[1]], recipe.text)) for recipe in recipes()]

    def fields(self, resource: str) -> list[Field]:
        """Return the own fields of a resource. A field of an inner object is named by its path, such as `build.id`."""
        return list(_fields(self.resources[resource].fields))

    def example(self, schema: str) -> str:
        """Return the example of a resource as indented JSON, '' if it has none."""
        examples = self.schemas[schema].get("examples")
        return _shown(examples[0]) if examples else ""

    def operation(self, id_: str) -> Operation:
        return next(operation for operation in self.operations if operation.id == id_)

    def answer(self, operation: Operation) -> tuple[bool, str]:
        """Return whether the build answers an operation's example, and the answer as indented JSON.

        If it does not, the answer is the schema's example.
        """
        answer = self.live.answer(operation.example)
        return (False, self.example(operation.body)) if answer is None else (True, _cut(_shown(answer)))

    @property
    def headers(self) -> list[Field]:
        """The headers that a request may carry, each once."""
        return _distinct(parameter for operation in self.operations for parameter in operation.placed("header"))

    @property
    def answer_headers(self) -> list[tuple[Field, list[int]]]:
        """The headers of answers, each once, with the statuses of the answers that carry it."""
        carried = [pair for operation in self.operations for pair in operation.answer_headers]
        return [
            (header, sorted({status for status, other in carried if other.name == header.name}))
            for header in _distinct(header for _, header in carried)
        ]


def reference(live: LiveExamples = NO_EXAMPLES) -> Reference:
    """Return the reference with the examples of a build, or with invented ones."""
    return Reference(json.loads(strict_document()), live)


def page_address(page: str) -> str:
    return f"/docs/{page}.html" if page else "/docs"


def _pages(operations: list[Operation], known: dict[str, Resource]) -> list[ResourcePage]:
    """Return the pages with the resources that their answers hold, each on the first page that has it."""
    names = list(dict.fromkeys(operation.page for operation in operations))
    reached = {name: _reached((one.body for one in operations if one.page == name), known) for name in names}
    users = {schema: [name for name in names if schema in reached[name]] for schema in known}
    pages = []
    for name in names:
        own = [operation for operation in operations if operation.page == name]
        of_page = [schema for schema, pages_ in users.items() if len(pages_) <= _MOST_PAGES and pages_[:1] == [name]]
        pages.append(ResourcePage(name, own[0].tag, own, of_page))
    return pages


def _reached(schemas: Iterable[str], known: dict[str, Resource]) -> set[str]:
    """Return some resources, and those that their fields hold, at any depth."""
    found: set[str] = set()
    waiting = [schema for schema in schemas if schema]
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            resource = known[name]
            words = {word for row in _fields(resource.fields) for word in _RESOURCE.findall(row.type)}
            waiting += [*(words & known.keys()), *([resource.base] if resource.base else [])]
    return found


def _operation(path: str, item: Json, query: dict[str, str], live: LiveExamples) -> Operation:
    success = item["responses"]["200"]
    answer = success["content"].get("application/json")
    return Operation(
        path=path,
        id=item["operationId"],
        tag=item["tags"][0],
        title=item["summary"],
        description=item["description"],
        public=item.get("security") == [],
        parameters=[_parameter(parameter, item["operationId"], query, live) for parameter in item["parameters"]],
        answer=success["description"],
        body=answer["schema"]["$ref"].removeprefix(REFERENCE) if answer else "",
        errors=[error for status, other in item["responses"].items() for error in _error_examples(status, other)],
        answer_headers=[
            (int(status), Field(name, _type(header["schema"]), header["description"]))
            for status, other in item["responses"].items()
            for name, header in other.get("headers", {}).items()
        ],
    )


def _parameter(item: Json, operation: str, query: dict[str, str], live: LiveExamples) -> Field:
    """Return a parameter of an operation, with its value in the example request, whose query has these values."""
    name, schema = item["name"], item["schema"]
    invented = "" if live.values and name in _NAMES_OF_BUILDS else str(item.get("example", ""))
    example = live.values.get(f"{name} of {operation}", live.values.get(name, invented))
    filled = query[name] or example if name in query else ""
    choices = tuple(schema.get("enum", ()))
    return Field(name, _type(schema), item["description"], item["in"], item["required"], choices, example, filled)


def _error_examples(status: str, answer: Json) -> Iterator[ErrorExample]:
    examples = answer.get("content", {}).get("application/json", {}).get("examples", {})
    for code, example in examples.items():
        yield ErrorExample(int(status), code, answer["description"], example["value"]["error"]["message"])


def _fields(rows: Iterable[Row], prefix: str = "") -> Iterator[Field]:
    for row in rows:
        yield Field(prefix + row.name, for_readers(row.type), row.description)
        yield from _fields(row.fields, f"{prefix}{row.name}.")


def _type(schema: Json) -> str:
    """Return the type, the allowed values and the default of a parameter or a header in words."""
    words = [schema["type"]]
    if "enum" in schema:
        words = ["one of " + ", ".join(f"`{value}`" for value in schema["enum"])]
    elif schema.get("maximum", _LARGEST_INTEGER) != _LARGEST_INTEGER:
        words.append(f"{schema['minimum']} to {schema['maximum']}")
    elif "minimum" in schema:
        words.append(f"at least {schema['minimum']}")
    if "maxLength" in schema:
        words.append(f"at most {schema['maxLength']} characters")
    if "default" in schema:
        words.append(f"default `{schema['default']}`")
    return ", ".join(words)


def _distinct(fields: Iterator[Field]) -> list[Field]:
    """Return the first field of each name."""
    first: dict[str, Field] = {}
    for one in fields:
        first.setdefault(one.name, one)
    return list(first.values())


def _shown(value: Any, indent: int = 0, width: int = 84) -> str:
    """Return JSON for people: indented, with short arrays and objects on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (len(line) + indent <= width and not _nested(value)):
        return line
    members = [(f'"{name}": ', member) for name, member in value.items()] if isinstance(value, dict) else [
        ("", member) for member in value]  # fmt: skip
    lines = [" " * (indent + 2) + name + _shown(member, indent + 2, width) for name, member in members]
    return line[0] + "\n" + ",\n".join(lines) + "\n" + " " * indent + line[-1]


def _cut(text: str) -> str:
    """Return a text without the lines beyond those that a page shows."""
    lines = text.splitlines()
    return text if len(lines) <= _MAX_LINES + 1 else "\n".join([*lines[:_MAX_LINES], "…"])


def _values(build: OpenBuild, answer: Answers) -> Iterator[tuple[str, str]]:
    """Yield parameters with values that the build has."""
    if (card := _example_card(answer)) is not None:
        yield "idProduct", str(card["id_product"])
        yield "ids", str(card["id_product"])
        yield "names", base_name(card["name"]).strip()[:_MAX_NAME_CHARACTERS]
        yield "q of listCards", next(iter(_WORD.findall(card["name"])), card["name"])[:100]
        if card["set"]["name"] and len(card["set"]["name"]) <= _MAX_NAME_CHARACTERS:
            yield "set", card["set"]["name"]
            yield "q of listSets", card["set"]["name"]
        yield from ((name, card[name]) for name in ("number", "rarity") if card[name])
        identified = answer(f"{API}cards/{card['id_product']}/identifiers") or {"identifiers": {}}
        for scheme, values in list(identified["identifiers"].items())[:1]:
            yield from (("scheme", scheme), ("values", values[0]))
    games = [json.loads(line)["name"] for line in build.rows(layout.GAMES)]
    yield from (("game", name) for name in games[:1] if len(name) <= _MAX_NAME_CHARACTERS)
    market = rows_of(answer, "market?limit=1")
    yield "set of getMarketHistory", str(market[0]["set"]["id"]) if market else ""  # an id, where others have a name
    files = (answer(f"{API}bulk") or {"files": []})["files"]
    yield from (("name of getBulkFile", file["name"]) for file in files[:1])
    watched = [json.loads(line) for line in build.rows(layout.WATCHLIST)]
    best = sorted(watched, key=lambda item: (item["change_7d_pct"] is None, "/" in item["slug"]))
    yield from (("slug", item["slug"]) for item in best[:1])


def _example_card(answer: Answers) -> Any:
    """Return the single that rose most, with a picture if possible; else the most expensive product, or None."""
    movers = rows_of(answer, f"movers?kind=single&min_price=5&limit={_EXAMPLE_CANDIDATES}")
    risen = ",".join(str(mover["id_product"]) for mover in movers)
    cards = rows_of(answer, f"cards?ids={risen}" if risen else "cards?limit=1")
    return next((card for card in cards if card["image"]), cards[0] if cards else None)


def _answer(client: FlaskClient, target: str) -> Any:
    """Return the answer to a path with its query, or None. Of an object that may have tens of megabytes, its start."""
    if target == _MADE_LATER:
        return None
    if target in _LARGE:
        answer = client.get(target, headers={"Accept-Encoding": "gzip"})
        return _start(answer.data) if answer.status_code == 200 else None
    answer = client.get(target)
    return json.loads(answer.data) if answer.status_code == 200 else None


def _start(member: bytes) -> Any:
    """Return a list in a gzip member with its first entries."""
    start = next(decompressed_chunks(member))
    opening, *lines = start[: start.rindex(b"\n")].split(b"\n")
    entries = [line.rstrip(b",") for line in lines[:_MAX_LINES] if line.startswith(b"{")]
    return json.loads(opening + b",".join(entries) + b"]}")


def _nested(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value
    return any(isinstance(member, dict | list) and member for member in members)
