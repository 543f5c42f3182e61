"""The machine-readable description against the recorded answers, the oracle's parameters and the specification.

The strict copy is checked, which allows only the fields of today; `test_generated_client` checks the published one.
"""

import json
import random
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from generator.compare.diff import compared_fields
from generator.site.openapi import document, strict_document
from generator.storage.keys import SCOPES
from tests.api import test_golden
from tests.support.endpoints import endpoint_of
from tests.support.lakes import FIXED
from tests.support.oracle import oracle, params
from tests.support.oracle.cards import DESCENDING_BY_DEFAULT
from tests.support.service import API, ROOT, Client, HttpAnswer, Service, environment
from tests.support.targets import Targets, has_nul

CODES = {
    "400": ["invalid_parameter"],
    "401": ["unauthorized", "invalid_api_key", "expired_api_key", "revoked_api_key"],
    "403": ["insufficient_scope"],
    "404": ["not_found"],
    "405": ["method_not_allowed"],
    "409": ["ambiguous_slug"],
    "412": ["precondition_failed"],
    "416": ["range_not_satisfiable"],
    "429": ["rate_limited"],
    "500": ["internal_error"],
}
CONDITIONS = {"MT", "NM", "EX", "GD", "LP", "PL", "PO"}
PUBLIC = f"{API}/openapi.json"
GOLDEN = ROOT / "tests" / "golden"
SUCCESSES = ("200", "206", "304")


DOCUMENT = json.loads(strict_document())
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {path: item["get"] for path, item in DOCUMENT["paths"].items()}
REGISTRY = Registry().with_resource("urn:api", DRAFT202012.create_resource(DOCUMENT))


def checker(schema: dict) -> Draft202012Validator:
    """Validates by a schema of the document, its references included."""
    absolute = json.loads(json.dumps(schema).replace('"#/', '"urn:api#/'))
    return Draft202012Validator(absolute, registry=REGISTRY, format_checker=FormatChecker())


def parameters(path: str, *places: str) -> dict[str, dict]:
    return {p["name"]: p for p in OPERATIONS[path]["parameters"] if p["in"] in places}


def test_the_document_is_valid_openapi_3_1():
    validate(DOCUMENT, cls=OpenAPIV31SpecValidator)
    validate(json.loads(document()), cls=OpenAPIV31SpecValidator)
    assert (DOCUMENT["openapi"], DOCUMENT["info"]["version"]) == ("3.1.0", "1.0.0")


@pytest.mark.parametrize("name", sorted({*test_golden.REQUESTS} - {"me"}))  # its times are not recorded
def test_a_recorded_answer_has_the_fields_and_types_of_its_schema(name):
    target, answer = f"{API}/{test_golden.REQUESTS[name]}", json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    path = endpoint_of(target)
    if path is not None:
        response = OPERATIONS[path]["responses"][str(answer["status"])]
        checker(response["content"]["application/json"]["schema"]).validate(answer["body"])


@pytest.mark.parametrize("path", [path for path in OPERATIONS if oracle.route(path)[0]])
def test_parameters_have_the_names_and_defaults_of_the_oracle(path):
    endpoint, _ = oracle.route(path)
    plain = oracle.PLAIN_LISTS.get(endpoint)
    known = params.paging(*plain[:2]) if plain else params.PARAMETERS[endpoint]
    described = {p["name"]: p["schema"] for p in OPERATIONS[path]["parameters"] if p["in"] == "query"}
    assert described.keys() == known.keys()
    defaults = {name: parameter.default for name, parameter in known.items() if parameter.default not in ("", None)}
    assert {name: schema["default"] for name, schema in described.items() if "default" in schema} == defaults


def test_operation_ids_are_unique_and_tags_are_described():
    identifiers = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(identifiers)) == len(identifiers) == len(OPERATIONS)
    used = {tag for operation in OPERATIONS.values() for tag in operation["tags"]}
    assert used == {tag["name"] for tag in DOCUMENT["tags"]}


def test_values_and_sizes_that_are_fixed():
    named = lambda schema, name: SCHEMAS[schema]["properties"][name]  # noqa: E731
    assert set(named("CheapestOffer", "condition")["enum"]) == CONDITIONS
    offers = named("FilteredPrice", "cheapest_offers_by_condition")
    assert set(offers["properties"]) == CONDITIONS
    assert offers["additionalProperties"] is False and "required" not in offers
    assert all((o["minItems"], o["maxItems"]) == (1, 5) for o in offers["properties"].values())
    assert named("FilteredPrice", "cheapest_offers")["maxItems"] == 5
    assert named("Card", "kind")["enum"] == ["single", "sealed"]
    sparkline = named("WatchlistItem", "sparkline_14d")
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
        content = response["content"]["application/json"]
        examples = content.get("examples", {})  # no request gets 403 where no scope is needed
        assert [*examples] == CODES[status] or status == "403"
        for code, example in examples.items():
            checker(content["schema"]).validate(example["value"])
            assert example["value"]["error"]["code"] == code
        assert not checker(content["schema"]).is_valid({"error": {"code": "other", "message": ""}})


def test_error_codes_are_those_of_the_specification():
    codes = SCHEMAS["Error"]["properties"]["error"]["properties"]["code"]["enum"]
    assert codes == [code for of_status in CODES.values() for code in of_status]


def test_a_key_goes_into_either_header_and_the_description_needs_none():
    schemes = DOCUMENT["components"]["securitySchemes"]
    bearer, header = (schemes[name] for requirement in DOCUMENT["security"] for name in requirement)
    assert (bearer["type"], bearer["scheme"]) == ("http", "bearer")
    assert (header["type"], header["in"], header["name"]) == ("apiKey", "header", "X-API-Key")
    assert all(len(requirement) == 1 for requirement in DOCUMENT["security"])
    assert {path for path, operation in OPERATIONS.items() if "security" in operation} == {PUBLIC}
    assert OPERATIONS[PUBLIC]["security"] == []


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
        [example] = SCHEMAS[schema]["examples"]
        assert compared_fields()[resource] == [path for path in leaves(example) if path != key], schema


def leaves(value: dict, prefix: str = "") -> list[str]:
    found = []
    for name, member in value.items():
        whole = not isinstance(member, dict) or name == "cheapest_offers_by_condition"
        found += [prefix + name] if whole else leaves(member, f"{prefix}{name}.")
    return found


PATHS = json.loads(strict_document())["paths"]
# Of every answer, and of HTTP itself.
COMMON = {
    "access-control-allow-origin",
    "access-control-expose-headers",
    "x-content-type-options",
    "content-type",
    "content-length",
    "content-encoding",
    "date",
    "server",
    "connection",
}


def undeclared(path: str, answer: HttpAnswer) -> set[str]:
    """Return the headers of an answer that the document does not have, and those it must have and has not."""
    declared = PATHS[path]["get"]["responses"][str(answer.status)]["headers"]
    sent = {name.lower() for name in answer.headers} - COMMON
    missing = {name.lower() for name, header in declared.items() if header["required"]} - sent
    return sent - {name.lower() for name in declared} | missing


@pytest.mark.parametrize("seed", range(2))
def test_every_header_is_declared(client: Client, live_build: str, seed: int) -> None:
    rng = random.Random(seed)
    sends = {
        "as it is": client.get,
        "without a key": lambda target: client.send("GET", target, key=False),
        "with a wrong key": lambda target: client.send("GET", target, {"X-API-Key": "x"}, key=False),
        "by POST": partial(client.send, "POST"),
        "from a build": partial(client.get, X_Build=live_build),
        "from no build": partial(client.get, X_Build="none"),
        "again": partial(client.get, If_None_Match="*"),
        "in part": partial(client.get, Range="bytes=0-1"),
        "of another file": partial(client.get, If_Match='"0"'),
    }
    targets = [target for target in Targets(FIXED, rng).some(400) if not has_nul(target)]
    targets += [f"{path}?limit=0" for path in PATHS if "{" not in path]
    targets += [f"/api/v1/bulk/{name}" for name in ("catalog.ducklake", "none")]
    seen = set()
    for target in targets:
        if (path := endpoint_of(target)) is not None:
            how = rng.choice(list(sends))
            answer = sends[how](target)
            assert not undeclared(path, answer), (target, how, answer.status)
            seen.add(answer.status)
    assert seen >= {200, 304, 400, 401, 404, 405}


# A made-up build is refused by rule, so requests that name one name the live build.
CONFIG = """
hooks = "hooks.py"

[parameters]
"header.X-Build" = "{build}"
"query.since" = "{build}"

# A tag of another file is 412, and a part behind its end 416.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "412", "416", "429"]
"""

# OpenAPI has no words for "beside ids, only defaults", "min_price is not above max_price" and "match needs words and no
# order". Two decimals would be a multiple of 0.01, which few validators compute without a rounding error.
HOOKS = """
import schemathesis

@schemathesis.hook
def before_call(context, case, kwargs):
    if "ids" in (case.query or {}):
        case.query = {"ids": case.query["ids"]}
    if {"min_price", "max_price"} <= set(case.query or {}):
        del case.query["max_price"]
    query = case.query or {}
    if query.get("sort") == "match" and ("order" in query or not str(query.get("q", "")).split()):
        del query["sort"]
    if case.path.endswith("/market/history"):
        if {"set", "game"} <= set(query):
            del case.query["game"]
        elif not {"set", "game"} & set(query):
            case.query = {**query, "set": 1}
    for name in {"min_price", "max_price"} & set(case.query or {}):
        price = case.query[name]
        if isinstance(price, float) and 0 <= price < 1e18:
            case.query[name] = f"{abs(price):.2f}" if price < 1e15 else int(price)
"""


@pytest.mark.hypothesis  # which draws the requests
@pytest.mark.thorough
def test_the_api_is_as_described(fixed_service: Service, fixed_key: str, live_build: str, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIG.format(build=live_build))
    (tmp_path / "hooks.py").write_text(HOOKS)
    examples = settings.default.max_examples
    phases = "examples,fuzzing" if examples < 10 else "examples,coverage,fuzzing"
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(tmp_path / "schemathesis.toml")),
        *("run", f"http://127.0.0.1:{fixed_service.port}{API}/openapi.json"),
        *("--header", f"Authorization: Bearer {fixed_key}"),
        *("--max-examples", str(examples), "--seed", "1", "--phases", phases, "--no-color"),
    ]
    result = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]
