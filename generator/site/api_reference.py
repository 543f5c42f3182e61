"""The OpenAPI description in the terms of a page: what the templates of the API reference and of llms.txt walk through.

Everything that the reference says of endpoints, parameters, fields and errors comes from the one document that the
API serves, so the two cannot drift apart.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, urlencode

_SCHEMAS = "#/components/schemas/"
_UNBOUNDED = 10**18 - 1  # what the description gives as the most of an integer that only its 18 digits bound


@dataclass(frozen=True)
class Word:
    """A piece of a type's name; `schema` where it names one."""

    text: str
    schema: str | None = None


@dataclass(frozen=True)
class Field:
    """A field of a resource, or a parameter of an endpoint.

    Attributes:
        type: its type in words.
        bounds: what it may be and is by default, in words.
        place: of a parameter: `path`, `query` or `header`; '' of a field.
        choices: its allowed values where they are few.
        example: as text, '' where there is none.
    """

    name: str
    type: list[Word]
    bounds: list[str]
    description: str
    place: str = ""
    required: bool = True
    choices: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True)
class Problem:
    """An error that an endpoint can answer with; `message` is an example."""

    status: int
    code: str
    description: str
    message: str


@dataclass(frozen=True)
class Operation:
    """An endpoint."""

    path: str
    id: str
    tag: str
    title: str
    description: str
    public: bool
    parameters: list[Field]
    answer: str
    body: str
    problems: list[Problem]

    def placed(self, *places: str) -> list[Field]:
        """The parameters in these places."""
        return [parameter for parameter in self.parameters if parameter.place in places]

    @cached_property
    def example(self) -> str:
        """Path and query of an example request: the path's examples, and that of the first query parameter with one."""
        path = self.path
        for parameter in self.placed("path"):
            path = path.replace(f"{{{parameter.name}}}", quote(parameter.example, safe=""))
        query = [(parameter.name, parameter.example) for parameter in self.placed("query") if parameter.example]
        return f"{path}?{urlencode(query[:1])}" if query else path


class Reference:
    """The description, read for people."""

    def __init__(self, document: dict):
        self.title: str = document["info"]["title"]
        self.summary: str = document["info"]["summary"]
        self.version: str = document["info"]["version"]
        self.guide: str = document["info"]["description"]
        self.tags: list[dict] = document["tags"]
        self.schemas: dict[str, dict] = document["components"]["schemas"]
        self.operations = [_operation(path, item["get"]) for path, item in document["paths"].items()]

    def tagged(self, tag: str) -> list[Operation]:
        """The endpoints of one tag, in the document's order."""
        return [operation for operation in self.operations if operation.tag == tag]

    def fields(self, schema: str) -> list[Field]:
        """The fields of a resource; those of an object inside it by their path, such as `build.id`."""
        return list(_fields(self.schemas[schema]))

    def example(self, schema: str) -> str:
        """The example of a resource as JSON to be read by people, '' where it has none."""
        examples = self.schemas[schema].get("examples")
        return json.dumps(examples[0], ensure_ascii=False, indent=2) if examples else ""

    @property
    def headers(self) -> list[Field]:
        """The headers that requests may carry."""
        return _distinct(parameter for operation in self.operations for parameter in operation.placed("header"))


def _operation(path: str, given: dict) -> Operation:
    success = given["responses"]["200"]
    return Operation(
        path=path,
        id=given["operationId"],
        tag=given["tags"][0],
        title=given["summary"],
        description=given["description"],
        public=given.get("security") == [],
        parameters=[_parameter(parameter) for parameter in given["parameters"]],
        answer=success["description"],
        body=_name(success["content"]["application/json"]["schema"]),
        problems=[problem for status, answer in given["responses"].items() for problem in _problems(status, answer)],
    )


def _parameter(given: dict) -> Field:
    schema = given["schema"]
    return Field(
        name=given["name"],
        type=_type(schema),
        bounds=_bounds(schema),
        description=given["description"],
        place=given["in"],
        required=given["required"],
        choices=tuple(schema.get("enum", ())),
        example=str(given.get("example", "")),
    )


def _problems(status: str, answer: dict) -> Iterator[Problem]:
    examples = answer.get("content", {}).get("application/json", {}).get("examples", {})
    for code, example in examples.items():
        yield Problem(int(status), code, answer["description"], example["value"]["error"]["message"])


def _fields(schema: dict, before: str = "") -> Iterator[Field]:
    for name, given in schema.get("properties", {}).items():
        yield Field(before + name, _type(given), _bounds(given), given.get("description", ""))
        if _alike(given) is None:
            yield from _fields(given, f"{before}{name}.")


def _type(schema: dict) -> list[Word]:
    """A type in words: `array of Card`, `number or null`."""
    if "anyOf" in schema:
        first, *others = (_type(option) for option in schema["anyOf"])
        return [*first, *(word for other in others for word in (Word(" or "), *other))]
    if "$ref" in schema:
        return [Word(_name(schema), _name(schema))]
    if alike := _alike(schema):
        return [Word("object of "), *_type(alike)]
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if types == ["array"]:
        return [Word("array of "), *_type(schema["items"])]
    form = f" ({schema['format']})" if schema.get("format") in ("date", "date-time") else ""
    return [Word(" or ".join(type_ + form if type_ == "string" else type_ for type_ in types))]


def _alike(schema: dict) -> dict | None:
    """The schema that all members of an object share, or None."""
    members = list(schema.get("properties", {}).values())
    return members[0] if len(members) > 1 and all(member == members[0] for member in members) else None


def _bounds(schema: dict) -> list[str]:
    """What a value may be, and what it is when it is left out."""
    words = []
    if "enum" in schema:
        words.append("one of " + ", ".join(f"`{value}`" for value in schema["enum"]))
    elif _alike(schema):
        words.append("under " + ", ".join(f"`{name}`" for name in schema["properties"]))
    elif schema.get("maximum", _UNBOUNDED) != _UNBOUNDED:
        words.append(f"{schema['minimum']} to {schema['maximum']}")
    elif "minimum" in schema:
        words.append(f"{schema['minimum']} or more")
    if "maxLength" in schema:
        words.append(f"at most {schema['maxLength']} characters")
    if "maxItems" in schema:
        same = schema["maxItems"] == schema.get("minItems")
        words.append(f"{schema['maxItems']} of them" if same else f"at most {schema['maxItems']} of them")
    if "default" in schema:
        words.append(f"default `{schema['default']}`")
    return words


def _name(reference: dict) -> str:
    return reference["$ref"].removeprefix(_SCHEMAS)


def _distinct(fields: Iterator[Field]) -> list[Field]:
    return list({field.name: field for field in fields}.values())
