"""The rules around the answers: methods, paths, the order of checks, parameters, cross-origin headers."""

import pytest

from tests.support.api_checks import EXPOSED
from tests.support.service import Client, Service
from tests.support.targets import has_nul

API = "/api/v1"
METHODS = ("HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND")
ENDPOINTS = (
    *("me", "status", "watchlist", "watchlist/never", "watchlist/never/history", "watchlist/never/offers"),
    *("cards", "cards/100", "sets", "fingerprints", "openapi.json"),
)
MARKS = "%CC%80%CC%96"  # two combining characters, which normalisation sorts
NO_SLUGS = (
    "%FF", "a%C3", "%ED%A0%80", "sealed//booster-box", "sealed%252Fbooster-box", "never/History", "never/offers/x",
    "language=1", "never+", "/" * 501, MARKS * 4500, "%00", "../me", "%2e%2e/me", "\\..\\me",
)  # fmt: skip
PREFLIGHT = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}


@pytest.fixture(scope="module")
def cards_only(fixed_service: Service, keys: dict[str, str]) -> Client:
    """A client whose key may read cards and nothing else."""
    return fixed_service.client(keys["cards"])


@pytest.mark.parametrize("method", METHODS)
def test_other_methods_are_refused(client: Client, method: str) -> None:
    for path in (f"{API}/cards", f"{API}/cards/abc?x=1", f"{API}/openapi.json", f"{API}/nowhere", "/elsewhere"):
        answer = client.send(method, path, key=False)
        assert answer.status == 405, path
        assert answer["Allow"] == "GET"
        if method != "HEAD":
            assert answer.code == "method_not_allowed"
        _assert_open_to_browsers(answer)


@pytest.mark.shim_only("nginx reads no such method: 400")
def test_a_method_in_small_letters_is_another_one(client: Client) -> None:
    assert client.send("get", f"{API}/cards").status == 405


@pytest.mark.parametrize(
    "path",
    ["/api", "/api/v1", "/api/v1/", "/api/v2/cards", "/api/v1/card", "/api/v1/cards/1/2", "/api/v1/me/",
     "/api/v1//me", "//api/v1/me", "/API/v1/me", "/api/v1/Me", "/api/v1/sets/1", "/api/v1/status/x",
     "/api/v1/cards/", "/api/v1/watchlist/", "/favicon.png", "/api/v1/openapi.yaml",
     "/api/v1/../healthz", "/api/v1/%2e%2e/healthz"],
)  # fmt: skip
def test_unknown_paths_are_404_before_the_key_is_read(client: Client, path: str) -> None:
    for with_key in (False, True):
        answer = client.send("GET", path, key=with_key)
        assert (answer.status, answer.code) == (404, "not_found")
        assert answer["X-RateLimit-Limit"] is None
        _assert_open_to_browsers(answer)


def test_the_order_of_checks(client: Client, cards_only: Client, keys: dict[str, str], fixed_service: Service) -> None:
    """Each request has all faults from its own line on; the answer is the error of the first one."""
    spent = fixed_service.client(keys["spent"])
    spent.get(f"{API}/me")
    without_key = fixed_service.client()
    table = [
        (without_key, "POST", "nowhere?x=1", 405, "method_not_allowed"),
        (without_key, "GET", "nowhere?x=1", 404, "not_found"),
        (without_key, "GET", "watchlist/unknown?x=1", 401, "unauthorized"),
        (without_key, "GET", "cards/abc", 401, "unauthorized"),
        (spent, "GET", "watchlist/unknown?x=1", 429, "rate_limited"),
        (cards_only, "GET", "watchlist/unknown?x=1", 403, "insufficient_scope"),
        (cards_only, "GET", "watchlist/charizard-ex/history?view=", 403, "insufficient_scope"),
        (cards_only, "GET", "fingerprints?x=1", 403, "insufficient_scope"),
        (client, "GET", "watchlist/unknown?x=1", 400, "invalid_parameter"),
        (client, "GET", "watchlist/charizard-ex/history?view=", 400, "invalid_parameter"),
        (client, "GET", "cards/77777?days=0", 400, "invalid_parameter"),
        (client, "GET", "cards?set=unknown&limit=0", 400, "invalid_parameter"),
        (client, "GET", "watchlist/charizard-ex", 409, "ambiguous_slug"),
        (client, "GET", "watchlist/unknown", 404, "not_found"),
        (client, "GET", "cards?set=unknown", 404, "not_found"),
    ]
    for caller, method, path, status, code in table:
        answer = caller.send(method, f"{API}/{path}")
        if code == "rate_limited" and answer.status != 429:  # a new minute began in between
            answer = caller.send(method, f"{API}/{path}")
        assert (answer.status, answer.code) == (status, code), path


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("cards?limit=%2B5", ["limit"]),
        ("cards?limit=%D9%A3", ["limit"]),
        ("cards?limit", ["limit"]),
        ("cards?ids=1&ids=2", ["ids", "separate its values by commas"]),
        ("identifiers/tcgdex?values=a&values=b", ["values", "separate its values by commas"]),
        ("cards?=5", ["unknown"]),
        ("cards?offset=1234567890123456789", ["offset"]),
        ("watchlist?limit=501", ["limit", "1", "500"]),
        ("sets?limit=1001", ["limit", "1", "1000"]),
        ("cards?sort=", ["sort", "trend", "filtered", "newest"]),
        ("cards?set=" + "x" * 201, ["set", "200"]),
        ("cards?rarity=" + MARKS * 5000, ["rarity", "200"]),
        ("sets?q=" + MARKS * 5000, ["q", "200"]),
        ("cards/100?day=1", ["day", "days"]),
        ("cards/100?days=3651", ["days", "1", "3650"]),
        ("cards/+1", ["idProduct"]),
        ("cards/%D9%A3", ["idProduct"]),
        ("watchlist/never/history?view=hourly", ["view", "daily", "weekly", "monthly"]),
        ("watchlist/never/history?range=30", ["range", "all", "30d", "90d", "365d"]),
        ("watchlist/never/history?rnage=30d", ["rnage", "range"]),
        ("me?x=1", ["x"]),
    ],
)
def test_a_refusal_names_the_parameter_and_what_is_allowed(client: Client, query: str, named: list[str]) -> None:
    answer = client.get(f"{API}/{query}")
    assert (answer.status, answer.code) == (400, "invalid_parameter")
    assert [word for word in named if word not in answer.message] == [], answer.message
    assert "\n" not in answer.message


@pytest.mark.parametrize(
    "query",
    ["cards?limit=007", "cards?offset=999999999999999999", "cards?offset=-0", "cards?", "cards?&&", "cards?q",
     "cards?q=&set=&number=&rarity=", "%6De",
     "cards?q=" + "%C3%A9" * 100, "cards?%6Cimit=5", "cards/0100", "cards?q=a%00b", "cards?q=%zz",
     "sets?q=" + "a" * 200, "cards?number=" + "%C3%A9" * 200, "cards?rarity=" + MARKS * 100],
)  # fmt: skip
def test_odd_but_allowed(client: Client, query: str) -> None:
    answer = client.get(f"{API}/{query}")
    assert answer.status == 200, answer.text


@pytest.mark.parametrize("path", NO_SLUGS)
def test_slugs_that_match_nothing(client: Client, path: str) -> None:
    if Service.through_nginx and has_nul(path):
        pytest.skip("nginx itself refuses NUL")
    for tail in ("", "/offers", "/history"):
        answer = client.get(f"{API}/watchlist/{path}{tail}")
        assert (answer.status, answer.code) == (404, "not_found"), answer.text


@pytest.mark.parametrize("path", [f"{API}/cards", f"{API}/watchlist/a%2Fb/history", f"{API}/openapi.json"])
def test_preflight(client: Client, path: str) -> None:
    answer = client.send("OPTIONS", path, PREFLIGHT, key=False)
    assert (answer.status, answer.body) == (204, b"")
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "get" in answer.listed("Access-Control-Allow-Methods")
    assert answer.listed("Access-Control-Allow-Headers") == {
        "authorization", "x-api-key", "if-none-match", "x-build", "x-request-id", "range", "if-range", "cache-control",
        "content-type",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        ("authorization,sentry-trace,baggage", True),
        ("x-datadog-trace-id ,\tx-b3-traceid", True),
        ("a" * 1000, True),
        ("a" * 1001, False),
        ("a b", False),
        ("a,(b)", False),
        ("a:b", False),
        ("", False),
    ],
)
def test_a_preflight_allows_the_headers_that_it_asks_for(client: Client, asked: str, allowed: bool) -> None:
    headers = PREFLIGHT | {"Access-Control-Request-Headers": asked}
    answer = client.send("OPTIONS", f"{API}/cards", headers, key=False)
    assert answer.status == 204 and "access-control-request-headers" in answer.listed("Vary")
    usual = client.send("OPTIONS", f"{API}/cards", PREFLIGHT, key=False).listed("Access-Control-Allow-Headers")
    wanted = {name.strip() for name in asked.split(",")} if allowed else usual
    assert answer.listed("Access-Control-Allow-Headers") == wanted


@pytest.mark.parametrize("missing", list(PREFLIGHT))
def test_options_that_are_no_preflight(client: Client, missing: str) -> None:
    headers = {name: value for name, value in PREFLIGHT.items() if name != missing}
    answer = client.send("OPTIONS", f"{API}/cards", headers)
    assert (answer.status, answer.code, answer["Allow"]) == (405, "method_not_allowed", "GET")


@pytest.mark.parametrize("endpoint", [*ENDPOINTS, "cards/abc", "cards/1", "watchlist/charizard-ex", "nowhere"])
def test_every_answer_is_open_to_browsers(client: Client, endpoint: str) -> None:
    for with_key in (True, False):
        _assert_open_to_browsers(client.send("GET", f"{API}/{endpoint}", {"Origin": "https://a.example"}, key=with_key))


def _assert_open_to_browsers(answer) -> None:
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer.listed("Access-Control-Expose-Headers") >= EXPOSED
    assert answer["Access-Control-Allow-Credentials"] is None
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("cards?page=2", "offset"),
        ("cards?per_page=2", "limit"),
        ("cards?search=x", "q"),
        ("cards?name=x", "q"),
        ("sets?search=x", "q"),
        ("watchlist?page=2", "offset"),
        ("cards?ofset=1", "offset"),
        ("cards?Limit=1", "limit"),
        ("cards?zzz=1", None),
        ("cards?utm_source=1", None),
        ("watchlist?search=x", None),
        ("cards/100?page=2", None),
    ],
)
def test_did_you_mean_only_what_is_near(client: Client, query: str, meant: str | None) -> None:
    message = client.get(f"{API}/{query}").message
    assert (f"did you mean {meant}?" in message) if meant else ("did you mean" not in message)
    assert "nown are" in message


def test_an_accept_encoding_of_any_length(client: Client) -> None:
    """A thousand characters are read."""
    for value, encoding in (
        ("br," * 300 + "gzip", "gzip"),
        ("br," * 20_000 + "gzip", None),
        ("a," * 25_000, None),
        ("gzip;q=0," * 500, None),
    ):
        answer = client.get(f"{API}/status", Accept_Encoding=value)
        assert (answer.status, answer["Content-Encoding"]) == (200, encoding)
