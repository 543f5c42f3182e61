"""The machine-readable description against the facts of the specification, its tables copied below.

The strict copy is checked, which allows only the fields of today; `test_generated_client` checks the published one.
"""

import json
import re
from itertools import product

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from edge_auth.live.keys import SCOPES
from generator.compare.diff import compared_fields
from generator.site.openapi import document, strict_document
from tests.support.oracle import params
from tests.support.oracle.cards import DESCENDING_BY_DEFAULT

ENDPOINTS = """
| Path | Parameters | Success body | Errors |
|---|---|---|---|
| /api/v1/me | - | Key | 400 401 403 405 429 500 |
| /api/v1/status | - | Status | 400 401 403 405 429 500 |
| /api/v1/watchlist | limit offset | WatchlistPage | 400 401 403 405 429 500 |
| /api/v1/watchlist/{slug} | slug | WatchlistItem | 400 401 403 404 405 409 429 500 |
| /api/v1/watchlist/{slug}/history | slug view range | WatchlistHistory | 400 401 403 404 405 409 429 500 |
| /api/v1/watchlist/{slug}/offers | slug | WatchlistOffers | 400 401 403 404 405 409 429 500 |
| /api/v1/cards | q set number rarity kind sort order limit offset | CardPage | 400 401 403 404 405 429 500 |
| /api/v1/cards/{idProduct} | idProduct days | CardDetail | 400 401 403 404 405 429 500 |
| /api/v1/sets | q limit offset | SetPage | 400 401 403 405 429 500 |
| /api/v1/fingerprints | - | FingerprintIndex | 400 401 403 405 429 500 |
| /api/v1/openapi.json | - | Description | 400 405 429 500 |
"""

PARAMETERS = """
| Paths | Parameters | In | Type | Required | Default | Bounds |
|---|---|---|---|---|---|---|
| /watchlist | limit | query | integer | no | 100 | 1 to 500 |
| /watchlist /cards /sets | offset | query | integer | no | 0 | minimum 0 |
| /watchlist/{slug} /watchlist/{slug}/history /watchlist/{slug}/offers | slug | path | string | yes | none | not empty |
| /watchlist/{slug}/history | view | query | string | no | daily | `daily`, `weekly`, `monthly` |
| /watchlist/{slug}/history | range | query | string | no | all | `all`, `30d`, `90d`, `365d` |
| /cards | q | query | string | no | none | at most 100 characters |
| /cards | set number rarity | query | string | no | none | at most 200 characters |
| /cards | kind | query | string | no | all | `all`, `single`, `sealed` |
| /cards | sort | query | string | no | trend | `trend` `low` `avg` `filtered` `name` `number` `newest` |
| /cards | order | query | string | no | none | `asc`, `desc` |
| /cards | limit | query | integer | no | 50 | 1 to 100 |
| /cards/{idProduct} | idProduct | path | integer | yes | none | - |
| /cards/{idProduct} | days | query | integer | no | none | 1 to 3650 |
| /sets | q | query | string | no | none | at most 200 characters |
| /sets | limit | query | integer | no | 100 | 1 to 1000 |
"""

FIELDS = """
| Schema | Fields | Type |
|---|---|---|
| Key | id name prefix | string |
| Key | scopes | array of string |
| Key | rate_limit | integer |
| Key | created_at | date-time |
| Key | expires_at | date-time or null |
| Pagination | limit offset returned | integer |
| Pagination | has_more | boolean |
| Pagination | next_offset | integer or null |
| WatchlistPage | data | array of WatchlistItem |
| WatchlistPage | pagination | Pagination |
| WatchlistItem | slug name | string |
| WatchlistItem | game cardmarket_url | string or null |
| WatchlistItem | lowest_price change_24h_pct change_7d_pct | number or null |
| WatchlistItem | num_offers | integer or null |
| WatchlistItem | last_checked | date-time or null |
| WatchlistItem | sparkline_14d | array of (number or null) |
| WatchlistHistory | slug view range | string |
| WatchlistHistory | points | array of WatchlistPoint |
| WatchlistHistory | change_pct_over_range | number or null |
| WatchlistPoint | date | date |
| WatchlistPoint | price | number or null |
| WatchlistOffers | slug | string |
| WatchlistOffers | cardmarket_url | string or null |
| WatchlistOffers | as_of | date-time or null |
| WatchlistOffers | offers | array of Offer |
| Offer | seller condition quantity comment | string or null |
| Offer | price | number or null |
| CardPage | data | array of Card |
| CardPage | pagination | Pagination |
| Card | id_product | integer |
| Card | name kind | string |
| Card | category rarity number image image_large cardmarket_url | string or null |
| Card | set | CardSet |
| Card | filtered_price | FilteredPrice or null |
| Card | price_guide | PriceGuide or null |
| Card | listing | Listing or null |
| CardSet | id | integer or null |
| CardSet | name | string or null |
| FilteredPrice | filter | string |
| FilteredPrice | lowest | number or null |
| FilteredPrice | offers | integer |
| FilteredPrice | cheapest_seller cheapest_condition | string or null |
| FilteredPrice | cheapest_offers | array of CheapestOffer |
| FilteredPrice | cheapest_offers_by_condition | object |
| FilteredPrice | checked_at | date-time |
| CheapestOffer | price | number |
| CheapestOffer | condition seller | string |
| CheapestOffer | quantity | integer or null |
| ConditionOffer | price | number |
| ConditionOffer | quantity | integer or null |
| ConditionOffer | seller | string |
| PriceGuide | day | date |
| PriceGuide | low avg trend avg1 avg7 avg30 | number or null |
| PriceGuide | holo | HoloPrices |
| HoloPrices | low avg trend avg1 avg7 avg30 | number or null |
| Listing | available available_foil | integer or null |
| Listing | from_price from_price_foil | number or null |
| Listing | scraped_at | date-time |
| CardHistory | price_guide | array of PriceGuideDay |
| CardHistory | filtered | array of FilteredDay |
| CardHistory | listing | array of ListingDay |
| PriceGuideDay | day | date |
| PriceGuideDay | low avg trend low_holo avg_holo trend_holo | number or null |
| FilteredDay | day | date |
| FilteredDay | lowest | number or null |
| FilteredDay | offers | integer |
| ListingDay | day | date |
| ListingDay | available available_foil | integer or null |
| ListingDay | from_price from_price_foil | number or null |
| SetPage | data | array of Set |
| SetPage | pagination | Pagination |
| Set | id products singles | integer |
| Set | name | string |
| Set | cardmarket_url | string or null |
| FingerprintIndex | version image_url | string |
| FingerprintIndex | count | integer |
| FingerprintIndex | entries | array of FingerprintEntry |
| FingerprintEntry | key art_p art_d card_p colour | string |
| FingerprintEntry | products | array of integer |
| Status | build watchlist catalogue filtered_price | object |
| Status.build | id | string |
| Status.build | as_of | date |
| Status.watchlist | products checked | integer |
| Status.watchlist | last_checked | date-time or null |
| Status.catalogue | products singles sealed sets | integer |
| Status.catalogue | price_guide_day | date or null |
| Status.catalogue | listing_scraped_at | date-time or null |
| Status.filtered_price | filter | string |
| Status.filtered_price | checked never_checked checked_last_24h | integer |
| Status.filtered_price | latest_checked_at oldest_checked_at | date-time or null |
| Error | error | object |
| Error.error | code message | string |
"""

ERRORS = """
| Status | code |
|---|---|
| 400 | invalid_parameter |
| 401 | unauthorized |
| 401 | invalid_api_key |
| 401 | expired_api_key |
| 401 | revoked_api_key |
| 403 | insufficient_scope |
| 404 | not_found |
| 405 | method_not_allowed |
| 409 | ambiguous_slug |
| 412 | precondition_failed |
| 416 | range_not_satisfiable |
| 429 | rate_limited |
| 500 | internal_error |
"""

CONDITIONS = {"MT", "NM", "EX", "GD", "LP", "PL", "PO"}
RATE_HEADERS = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
PUBLIC = "/api/v1/openapi.json"
FILE = "/api/v1/bulk/{name}"
SUCCESSES = ("200", "206", "304")


def rows(table: str) -> list[list[str]]:
    lines = [line.strip("|").split(" | ") for line in table.strip().splitlines()[2:]]
    return [[cell.strip() for cell in line] for line in lines]


DOCUMENT = json.loads(strict_document())
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {path: item["get"] for path, item in DOCUMENT["paths"].items()}
REGISTRY = Registry().with_resource("urn:api", DRAFT202012.create_resource(DOCUMENT))


def checker(schema: dict) -> Draft202012Validator:
    """Validates by a schema of the document, its references included."""
    absolute = json.loads(json.dumps(schema).replace('"#/', '"urn:api#/'))
    return Draft202012Validator(absolute, registry=REGISTRY, format_checker=FormatChecker())


def named(name: str) -> dict:
    """A schema by name; `Status.build` is a property of one."""
    schema, *properties = name.split(".")
    found = SCHEMAS[schema]
    for name in properties:
        found = found["properties"][name]
    return found


def described(schema: dict) -> str:
    """A field's schema in the words of the tables."""
    if "anyOf" in schema:
        return " or ".join(described(option) for option in schema["anyOf"])
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if types == ["array"]:
        item = described(schema["items"])
        return f"array of ({item})" if " or " in item else f"array of {item}"
    string = schema["format"] if schema.get("format") in ("date", "date-time") else "string"
    return " or ".join(string if type_ == "string" else type_ for type_ in types)


def parameters(path: str, *places: str) -> dict[str, dict]:
    return {p["name"]: p for p in OPERATIONS[path]["parameters"] if p["in"] in places}


def bounds(text: str) -> dict:
    """The bounds of a table cell as JSON Schema."""
    if numbers := re.fullmatch(r"(\d+) to (\d+)", text):
        return {"minimum": int(numbers[1]), "maximum": int(numbers[2])}
    if text == "minimum 0":
        return {"minimum": 0, "maximum": 10**18 - 1}  # integers have at most 18 digits
    if text.startswith("`"):
        return {"enum": re.findall(r"`(\w+)`", text)}
    if most := re.fullmatch(r"at most (\d+) characters", text):
        return {"maxLength": int(most[1])}
    return {"not empty": {"minLength": 1}, "-": {}}[text]


def test_the_document_is_valid_openapi_3_1():
    validate(DOCUMENT, cls=OpenAPIV31SpecValidator)
    validate(json.loads(document()), cls=OpenAPIV31SpecValidator)
    assert (DOCUMENT["openapi"], DOCUMENT["info"]["version"]) == ("3.1.0", "1.0.0")


def test_the_endpoints_of_the_specification_are_there():
    assert {row[0] for row in rows(ENDPOINTS)} <= set(DOCUMENT["paths"])
    assert all(set(item) == {"get"} for item in DOCUMENT["paths"].values())


@pytest.mark.parametrize(("path", "names", "body", "errors"), rows(ENDPOINTS))
def test_endpoint(path, names, body, errors):
    operation = OPERATIONS[path]
    assert set(parameters(path, "query", "path")) >= set(names.replace("-", "").split())
    assert set(operation["responses"]) == {"200", "304", *errors.split()}
    content = operation["responses"]["200"]["content"]
    assert content["application/json"]["schema"] == {"$ref": f"#/components/schemas/{body}"}
    assert operation["summary"] and operation["description"] and operation["tags"]


def test_operation_ids_are_unique_and_tags_are_described():
    identifiers = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(identifiers)) == len(identifiers) == len(OPERATIONS)
    used = {tag for operation in OPERATIONS.values() for tag in operation["tags"]}
    assert used == {tag["name"] for tag in DOCUMENT["tags"]}


@pytest.mark.parametrize(("paths", "names", "place", "type_", "required", "default", "limits"), rows(PARAMETERS))
def test_parameters(paths, names, place, type_, required, default, limits):
    for path, name in product(paths.split(), names.split()):
        parameter = parameters("/api/v1" + path, place)[name]
        expected = {"type": type_} | bounds(limits)
        if default != "none":
            expected["default"] = int(default) if type_ == "integer" else default
        schema = {key: value for key, value in parameter["schema"].items() if key != "format"}
        assert set(expected.pop("enum", ())) <= set(schema.pop("enum", ())), "new values may be added, none may go"
        assert schema == expected
        assert parameter["required"] is (required == "yes") and parameter["description"]


def test_the_product_id_is_an_int64():
    assert parameters("/api/v1/cards/{idProduct}", "path")["idProduct"]["schema"]["format"] == "int64"


@pytest.mark.parametrize(("schema", "fields", "type_"), rows(FIELDS))
def test_fields(schema, fields, type_):
    properties = named(schema)["properties"]
    assert {field: described(properties[field]) for field in fields.split()} == dict.fromkeys(fields.split(), type_)


@pytest.mark.parametrize("schema", dict.fromkeys(row[0] for row in rows(FIELDS)))
def test_fields_of_the_specification_are_required(schema):
    listed = {field for name, fields, _ in rows(FIELDS) if name == schema for field in fields.split()}
    assert listed <= set(named(schema)["required"]) <= set(named(schema)["properties"])
    assert named(schema)["additionalProperties"] is False


def test_card_detail_is_a_card_with_history():
    card, detail = SCHEMAS["Card"], SCHEMAS["CardDetail"]
    assert detail["properties"] == card["properties"] | {
        "history": {"$ref": "#/components/schemas/CardHistory", "description": "The prices day by day."}
    }
    assert detail["required"] == [*card["required"], "history"]
    assert detail["additionalProperties"] is False


def test_values_and_sizes_that_are_fixed():
    assert set(named("CheapestOffer.condition")["enum"]) == CONDITIONS
    offers = named("FilteredPrice.cheapest_offers_by_condition")
    assert set(offers["properties"]) == CONDITIONS
    assert offers["additionalProperties"] is False and "required" not in offers
    assert all((o["minItems"], o["maxItems"]) == (1, 5) for o in offers["properties"].values())
    assert named("FilteredPrice.cheapest_offers")["maxItems"] == 5
    assert named("Card.kind")["enum"] == ["single", "sealed"]
    sparkline = named("WatchlistItem.sparkline_14d")
    assert sparkline["minItems"] == sparkline["maxItems"] == 14


@pytest.mark.parametrize("name", SCHEMAS)
def test_examples_are_valid(name):
    assert SCHEMAS[name]["examples"]
    for example in SCHEMAS[name]["examples"]:
        checker(SCHEMAS[name]).validate(example)


@pytest.mark.parametrize("name", sorted(set(SCHEMAS) - {"Description"}))
def test_an_example_with_a_field_less_or_more_is_invalid(name):
    example = SCHEMAS[name]["examples"][0]
    assert not checker(SCHEMAS[name]).is_valid(example | {"surprise": 1})
    for field in example:
        assert not checker(SCHEMAS[name]).is_valid({key: value for key, value in example.items() if key != field})


@pytest.mark.parametrize("path", OPERATIONS)
def test_parameter_examples_are_valid(path):
    for parameter in OPERATIONS[path]["parameters"]:
        if "example" in parameter:
            checker(parameter["schema"]).validate(parameter["example"])


@pytest.mark.parametrize("path", OPERATIONS)
def test_error_responses_tell_their_codes_with_examples(path):
    for status, response in OPERATIONS[path]["responses"].items():
        if status in SUCCESSES:
            continue
        codes = {code for listed, code in rows(ERRORS) if listed == status}
        content = response["content"]["application/json"]
        examples = content.get("examples", {})  # no request gets 403 where no scope is needed
        assert set(examples) == codes or status == "403"
        for code, example in examples.items():
            checker(content["schema"]).validate(example["value"])
            assert example["value"]["error"]["code"] == code
        assert not checker(content["schema"]).is_valid({"error": {"code": "other", "message": ""}})


def test_error_codes_are_those_of_the_specification():
    codes = SCHEMAS["Error"]["properties"]["error"]["properties"]["code"]["enum"]
    assert codes == [code for _, code in rows(ERRORS)]


def required_headers(response: dict) -> set[str]:
    return {name for name, header in response["headers"].items() if header["required"]}


@pytest.mark.parametrize("path", OPERATIONS)
def test_headers_of_success(path):
    success, unchanged = (OPERATIONS[path]["responses"][status] for status in ("200", "304"))
    counted = set() if path == "/api/v1/fingerprints" else RATE_HEADERS
    assert required_headers(success) >= {"ETag", "Cache-Control"} | counted
    assert unchanged["headers"] == success["headers"]
    assert "content" not in unchanged


@pytest.mark.parametrize("path", OPERATIONS)
def test_headers_of_errors(path):
    responses = {s: r for s, r in OPERATIONS[path]["responses"].items() if s not in SUCCESSES}
    assert all(r["headers"]["Cache-Control"]["schema"]["const"] == "no-store" for r in responses.values())
    assert required_headers(responses["429"]) >= RATE_HEADERS | {"Retry-After"}
    assert required_headers(responses["400"]) >= RATE_HEADERS
    assert "Retry-After" in required_headers(responses["500"])
    assert "Allow" in required_headers(responses["405"])
    if path != PUBLIC:
        assert "WWW-Authenticate" in required_headers(responses["401"])
    if "409" in responses:
        assert required_headers(responses["409"]) >= RATE_HEADERS | {"X-Build"}


def test_a_key_goes_into_either_header_and_the_description_needs_none():
    schemes = DOCUMENT["components"]["securitySchemes"]
    bearer, header = (schemes[name] for requirement in DOCUMENT["security"] for name in requirement)
    assert (bearer["type"], bearer["scheme"]) == ("http", "bearer")
    assert (header["type"], header["in"], header["name"]) == ("apiKey", "header", "X-API-Key")
    assert all(len(requirement) == 1 for requirement in DOCUMENT["security"])
    assert {path for path, operation in OPERATIONS.items() if "security" in operation} == {PUBLIC}
    assert OPERATIONS[PUBLIC]["security"] == []


def test_paths_are_relative_to_the_host_that_serves_them():
    assert [server["url"] for server in DOCUMENT["servers"]] == ["/"]


def test_the_document_names_the_scopes():
    assert set(re.findall(r"\b[a-z]+:read\b", document().decode())) == set(SCOPES)


def test_each_sort_is_explained():
    described = parameters("/api/v1/cards", "query")
    assert set(re.findall(r"`(\w+)`", described["sort"]["description"])) == {*params.SORTS, "q", "find", "order"}
    ascending = set(re.findall(r"`(\w+)`", described["order"]["description"].partition("`asc`")[2]))
    assert ascending == set(params.SORTS) - set(DESCENDING_BY_DEFAULT) - {"match"}


def test_the_diff_compares_every_field():
    """The examples hold every field, so their leaves are the fields that a diff has to compare."""
    for resource, schema, key in (
        ("products", "Card", "id_product"),
        ("sets", "Set", "id"),
        ("watchlist", "WatchlistItem", "slug"),
        ("fingerprints", "FingerprintEntry", "key"),
        ("fingerprint index", "FingerprintIndex", "entries"),
    ):
        [example] = named(schema)["examples"]
        assert compared_fields()[resource] == [path for path in leaves(example) if path != key], schema


def leaves(value: dict, prefix: str = "") -> list[str]:
    found = []
    for name, member in value.items():
        whole = not isinstance(member, dict) or name == "cheapest_offers_by_condition"
        found += [prefix + name] if whole else leaves(member, f"{prefix}{name}.")
    return found
