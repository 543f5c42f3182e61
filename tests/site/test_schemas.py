"""The rows of the schemas: what each type in words means, and what a malformed row is told."""

import pytest
from jsonschema import Draft202012Validator

from generator.errors import SiteError
from generator.site.schemas import for_readers, make_schemas, read_resources, resources, schema_of

HEAD = "## Card\n\nA card.\n\n| field | type | what it is | example |\n|---|---|---|---|\n"


@pytest.mark.parametrize(
    ("words", "schema"),
    [
        ("string", {"type": "string"}),
        ("int64 or null", {"type": ["integer", "null"], "format": "int64"}),
        ("date or null", {"type": ["string", "null"], "format": "date"}),
        ("number or null, at least 0", {"type": ["number", "null"], "minimum": 0}),
        ("string, like `^[0-9a-f]{64}$`", {"type": "string", "pattern": "^[0-9a-f]{64}$"}),
        ("string, always 3.1.0", {"type": "string", "const": "3.1.0"}),
        ("Offer", {"$ref": "#/components/schemas/Offer"}),
        ("Offer or null", {"anyOf": [{"$ref": "#/components/schemas/Offer"}, {"type": "null"}]}),
        ("array of string, at least 1 item", {"type": "array", "items": {"type": "string"}, "minItems": 1}),
        (
            "array of (number or null, at least 0), 14 items",
            {"type": "array", "items": {"type": ["number", "null"], "minimum": 0}, "minItems": 14, "maxItems": 14},
        ),
        ("array of int64, 1 to 5 items, optional",
         {"type": "array", "items": {"type": "integer", "format": "int64"}, "minItems": 1, "maxItems": 5}),
        ("one of the kinds", {"type": "string", "enum": ["single", "sealed"]}),
    ],
)  # fmt: skip
def test_a_type_in_words_is_a_schema(words: str, schema: dict) -> None:
    Draft202012Validator.check_schema(schema)
    assert schema_of(words) == schema


def test_readers_see_the_words_themselves() -> None:
    assert for_readers("one of the views") == "one of `daily`, `weekly`, `monthly`"


def test_rows_make_a_schema_with_an_example() -> None:
    rows = (
        "| id | int64 | The id. | 7 |\n| seen | object | When. | |\n| seen.day | date or null | The day. | null |\n"
        "| set | Set | Its set. | |\n| more | array of Set, optional | Others. | |\n"
    )
    set_rows = (
        "\n## Set\n\nA set.\n\n| field | type | what it is | example |\n|---|---|---|---|\n| name | string | N. | A |\n"
    )
    schema = make_schemas(read_resources(HEAD + rows + set_rows))["Card"]
    assert schema["required"] == ["id", "seen", "set"] and schema["additionalProperties"] is False
    assert schema["properties"]["seen"]["required"] == ["day"]
    assert schema["examples"] == [{"id": 7, "seen": {"day": None}, "set": {"name": "A"}}]


def test_a_page_is_as_long_as_its_endpoint_allows() -> None:
    page = make_schemas(resources())["SetPage"]["properties"]
    assert page["data"]["items"] == {"$ref": "#/components/schemas/Set"} and page["data"]["maxItems"] == 1000
    with pytest.raises(SiteError, match=r"schemas\.md:1: no endpoint answers SetsPage: add it"):
        read_resources("## SetsPage, a page of Set\n")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("| id | int64 | The id. |", "a row has 3 cells: write '| field | type | what it is | example |'"),
        ("| id | int46 | The id. | 7 |", "'int46' is no type: write one of string, integer"),
        ("| id | int64, over 3 | The id. | 7 |", "'over 3' is no bound: write one of 'at least 0'"),
        (
            "| id | one of the colours | The id. | 7 |",
            "there are no words 'colours': write one of kinds, matches, views",
        ),
        ("| id | int64 | The id. | seven |", "the example 'seven' is not JSON"),
        ("| id | int64 | The id. | |", "'id' needs an example"),
        ("| set | Sett | The set. | |", "'set' needs an example, or a type that is a heading of this file"),
        ("| build.id | string | The id. | 7 |", "'build.id' needs one row 'build'"),
        ("| id | int64 | The id. | 7 |\n| id | int64 | The id. | 7 |", "'id' has a row above"),
    ],
)
def test_a_malformed_row_is_named(row: str, problem: str) -> None:
    line = 7 + row.count("\n")
    with pytest.raises(SiteError) as error:
        make_schemas(read_resources(HEAD + row))
    assert str(error.value).startswith(f"generator/site/schemas.md:{line}: {problem}")
