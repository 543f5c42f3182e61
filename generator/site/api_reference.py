"""Turns the OpenAPI document into the view model of the API reference and of llms.txt.

All endpoints, parameters, fields and errors of the reference come from the document that the API serves, so the two
cannot differ.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

_SCHEMAS = "#/components/schemas/"
_LARGEST_INTEGER = 10**18 - 1  # the maximum in the document when the limit of 18 digits is the only bound

_Json = dict[str, Any]


@dataclass(frozen=True)
class TypeWord:
    """A word of a type's description. `schema`: the schema that it links to, or None."""

    text: str
    schema: str | None = None


@dataclass(frozen=True)
class Field:
    """A field of a resource, or a parameter of an endpoint.

    Attributes:
        type: The type in words.
        bounds: The allowed values and the default, in words.
        place: `path`, `query` or `header` for a parameter, '' for a field.
        choices: The allowed values of an enumeration.
        example: The example as text, '' if there is none.
    """

    name: str
    type: list[TypeWord]
    bounds: list[str]
    description: str
    place: str = ""
    required: bool = True
    choices: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True)
class ErrorExample:
    """An error that an endpoint can return, with an example of its message."""

    status: int
    code: str
    description: str
    message: str


@dataclass(frozen=True)
class Operation:
    """An endpoint with its parameters, its answer and its errors. `body`: its schema, '' for a file."""

    path: str
    id: str
    tag: str
    title: str
    description: str
    public: bool
    parameters: list[Field]
    answer: str
    body: str
    errors: list[ErrorExample]

    def placed(self, *places: str) -> list[Field]:
        """Return the parameters in these places."""
        return [parameter for parameter in self.parameters if parameter.place in places]

    @cached_property
    def example(self) -> str:
        """The path and query of an example request. The query holds the first query parameter that has an example."""
        path = self.path
        for parameter in self.placed("path"):
            path = path.replace(f"{{{parameter.name}}}", quote(parameter.example, safe=""))
        query = [(parameter.name, parameter.example) for parameter in self.placed("query") if parameter.example]
        return f"{path}?{urlencode(query[:1])}" if query else path


class Reference:
    """The OpenAPI document in the terms of the templates."""

    def __init__(self, document: _Json):
        self.title: str = document["info"]["title"]
        self.summary: str = document["info"]["summary"]
        self.version: str = document["info"]["version"]
        self.guide: str = document["info"]["description"]
        self.tags: list[_Json] = document["tags"]
        self.schemas: dict[str, _Json] = document["components"]["schemas"]
        self.operations = [_operation(path, item["get"]) for path, item in document["paths"].items()]

    def tagged(self, tag: str) -> list[Operation]:
        """Return the endpoints of one tag, in the order of the document."""
        return [operation for operation in self.operations if operation.tag == tag]

    def fields(self, schema: str) -> list[Field]:
        """Return the fields of a resource. A field of an inner object is named by its path, such as `build.id`."""
        return list(_fields(self.schemas[schema]))

    def example(self, schema: str) -> str:
        """Return the example of a resource as indented JSON, '' if it has none."""
        examples = self.schemas[schema].get("examples")
        return json.dumps(examples[0], ensure_ascii=False, indent=2) if examples else ""

    @property
    def headers(self) -> list[Field]:
        """The headers that a request may carry, each once."""
        return _distinct(parameter for operation in self.operations for parameter in operation.placed("header"))


def _operation(path: str, item: _Json) -> Operation:
    success = item["responses"]["200"]
    content = success["content"]
    return Operation(
        path=path,
        id=item["operationId"],
        tag=item["tags"][0],
        title=item["summary"],
        description=item["description"],
        public=item.get("security") == [],
        parameters=[_parameter(parameter) for parameter in item["parameters"]],
        answer=success["description"],
        body=_name(content["application/json"]["schema"]) if "application/json" in content else "",
        errors=[error for status, answer in item["responses"].items() for error in _error_examples(status, answer)],
    )


def _parameter(item: _Json) -> Field:
    schema = item["schema"]
    return Field(
        name=item["name"],
        type=_type(schema),
        bounds=_bounds(schema),
        description=item["description"],
        place=item["in"],
        required=item["required"],
        choices=tuple(schema.get("enum", ())),
        example=str(item.get("example", "")),
    )


def _error_examples(status: str, answer: _Json) -> Iterator[ErrorExample]:
    examples = answer.get("content", {}).get("application/json", {}).get("examples", {})
    for code, example in examples.items():
        yield ErrorExample(int(status), code, answer["description"], example["value"]["error"]["message"])


def _fields(schema: _Json, prefix: str = "") -> Iterator[Field]:
    for name, member in schema.get("properties", {}).items():
        yield Field(prefix + name, _type(member), _bounds(member), member.get("description", ""))
        if _shared_schema(member) is None:
            yield from _fields(member, f"{prefix}{name}.")


def _type(schema: _Json) -> list[TypeWord]:
    """Return a type in words, such as `array of Card` or `number or null`."""
    if "anyOf" in schema:
        first, *others = (_type(option) for option in schema["anyOf"])
        return [*first, *(word for other in others for word in (TypeWord(" or "), *other))]
    if "$ref" in schema:
        return [TypeWord(_name(schema), _name(schema))]
    if shared := _shared_schema(schema):
        return [TypeWord("object of "), *_type(shared)]
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if types == ["array"]:
        return [TypeWord("array of "), *_type(schema["items"])]
    form = f" ({schema['format']})" if schema.get("format") in ("date", "date-time") else ""
    return [TypeWord(" or ".join(type_ + form if type_ == "string" else type_ for type_ in types))]


def _shared_schema(schema: _Json) -> _Json | None:
    """Return the schema that all members of an object share, or None."""
    members = list(schema.get("properties", {}).values())
    return members[0] if len(members) > 1 and all(member == members[0] for member in members) else None


def _bounds(schema: _Json) -> list[str]:
    """Return the allowed values and the default, in words."""
    words = []
    if "enum" in schema:
        words.append("one of " + ", ".join(f"`{value}`" for value in schema["enum"]))
    elif _shared_schema(schema):
        words.append("under " + ", ".join(f"`{name}`" for name in schema["properties"]))
    elif schema.get("maximum", _LARGEST_INTEGER) != _LARGEST_INTEGER:
        words.append(f"{schema['minimum']} to {schema['maximum']}")
    elif "minimum" in schema:
        words.append(f"{schema['minimum']} or more")
    if "maxLength" in schema:
        words.append(f"at most {schema['maxLength']} characters")
    if "maxItems" in schema:
        exact = schema["maxItems"] == schema.get("minItems")
        words.append(f"{schema['maxItems']} of them" if exact else f"at most {schema['maxItems']} of them")
    if "default" in schema:
        words.append(f"default `{schema['default']}`")
    return words


def _name(reference: _Json) -> str:
    path: str = reference["$ref"]
    return path.removeprefix(_SCHEMAS)


def _distinct(fields: Iterator[Field]) -> list[Field]:
    return list({field.name: field for field in fields}.values())
