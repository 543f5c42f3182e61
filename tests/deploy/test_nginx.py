"""nginx.conf before a real shim: nothing that the shim says is changed, and little is added."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nginx.test_hostile import (  # noqa: F401
    test_a_refused_method_says_which_are_allowed,
    test_its_own_place_is_no_path,
    test_what_is_malformed_is_refused_in_the_apis_words,
    test_what_is_private_is_no_path,
)
from tests.support.nginx import Nginx
from tests.support.ports import free_port
from tests.support.programs import needs
from tests.support.rate_limits import in_one_window
from tests.support.raw_requests import READABLE, assert_refused, get
from tests.support.service import Client, HttpAnswer, Service, until, window_left

pytestmark = [needs("nginx"), pytest.mark.xdist_group("nginx")]
API = "/api/v1"
PATHS = ("me", "status", "bulk", "changes", "cards", "cards?q=charizard", "cards/100", "watchlist", "sets",
         "fingerprints", "openapi.json", "cards/1", "cards?limit=0", "watchlist/charizard-ex",
         "watchlist/sealed%2Fbooster-box", "watchlist/a//b", "nowhere")  # fmt: skip
READ_HEADERS = (
    "Authorization", "X-API-Key", "X-Build", "Accept", "Accept-Encoding", "If-None-Match", "Range", "If-Range",
    "Origin", "Access-Control-Request-Method", "X-Request-Id", "X-Forwarded-For",
)  # fmt: skip
# Said of the connection or the moment, not of the answer.
OF_THE_MOMENT = {"date", "server", "connection", "x-ratelimit-remaining", "x-ratelimit-reset"}


@pytest.fixture(scope="module")
def shim(fixed_store: Path, keys: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    state = tmp_path_factory.mktemp("behind") / "state"
    with Service(fixed_store, state, "--trusted-proxy", "127.0.0.1/32") as service:
        yield service


@pytest.fixture(scope="module")
def front(shim: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    """Before one shim and one that is down."""
    with Nginx.before(tmp_path_factory.mktemp("front") / "nginx", [shim.port, free_port()]) as running:
        yield running


@pytest.fixture(scope="module")
def fixed_service(front: Nginx) -> Nginx:
    """What the tests of the other nginx ask."""
    return front


@pytest.fixture
def client(front: Nginx, fixed_key: str) -> Client:
    return Client(front.port, fixed_key)


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
@pytest.mark.parametrize("path", PATHS)
def test_what_the_shim_says_arrives_as_it_is(client: Client, shim: Service, path: str, encoding: str) -> None:
    there = client.get(f"{API}/{path}", Accept_Encoding=encoding)
    here = shim.client(client.key).get(f"{API}/{path}", Accept_Encoding=encoding)
    assert (there.status, there.body) == (here.status, here.body)
    assert lasting(there) == lasting(here)


def test_messages_of_the_shim_arrive(client: Client, shim: Service) -> None:
    """The body of a 400 is written anew. It may be escaped in another way."""
    for target, headers in [
        ("cards?rarity=a&rarity=b", {}),
        ("cards?é🃏=%22%5C%0A", {}),
        ("cards?sort=" + "x" * 60_000, {}),
        ("cards", {"X-Build": "2020-01-01-000000000000"}),
    ]:
        raw = [f"X-API-Key: {client.key}".encode(), *(f"{name}: {value}".encode() for name, value in headers.items())]
        there, here = (get(port, f"{API}/{target}".encode(), *raw) for port in (client.port, shim.port))
        assert (there.status, there.json) == (here.status, here.json) == (400, here.json)
        assert lasting(there).keys() == lasting(here).keys()


@pytest.mark.parametrize("range_", ["bytes=0-99", "bytes=-8", "bytes=999999999-", None])
def test_bulk_files_arrive_as_they_are(client: Client, shim: Service, range_: str | None) -> None:
    file = client.get(f"{API}/bulk").json["files"][0]
    range_headers = {} if range_ is None else {"Range": range_}
    for method in ("GET", "HEAD"):
        there = client.send(method, file["url"], range_headers)
        here = shim.client(client.key).send(method, file["url"], range_headers)
        assert (there.status, there.body, lasting(there)) == (here.status, here.body, lasting(here))
    assert there["X-RateLimit-Limit"] == str(10 * int(client.get(f"{API}/bulk")["X-RateLimit-Limit"]))


def lasting(answer: HttpAnswer) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items() if name.lower() not in OF_THE_MOMENT}


def test_tls(front: Nginx, fixed_key: str) -> None:
    connection = http.client.HTTPSConnection("localhost", front.tls_port, context=front.trusted(), timeout=60)
    connection.request("GET", f"{API}/cards/100", headers={"Authorization": f"Bearer {fixed_key}"})
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["id_product"]) == (200, 100)
    plain = Client(front.tls_port).get(f"{API}/me")  # without TLS on its port
    assert (plain.status, plain.code) == (400, "invalid_parameter")


@pytest.mark.shim_only("both write X-Cache")
def test_only_the_sites_pages_are_kept(client: Client, front: Nginx) -> None:
    for path in ("/docs", "/docs?again", "/explore/"):
        first, again = client.get(path), client.get(path)
        assert again["X-Cache"] == "HIT" and again.body == first.body
        assert again["Cache-Control"] == "public, max-age=300"
    for path in PATHS:
        assert client.get(f"{API}/{path}")["X-Cache"] is None
    kept = [file.read_bytes() for file in (front.folder / "cache").rglob("*") if file.is_file()]
    assert kept and not any(b"X-RateLimit-Limit:" in data or b'"id_product"' in data for data in kept)


def test_kept_pages_are_kept_by_encoding(client: Client) -> None:
    for _ in range(2):
        plain, packed = client.get("/docs"), client.get("/docs", Accept_Encoding="gzip")
        assert (plain["Content-Encoding"], packed["Content-Encoding"]) == (None, "gzip")
        assert plain.text == packed.text and plain["ETag"] != packed["ETag"]
    assert packed["X-Cache"] == "HIT"
    assert client.get("/docs", If_None_Match=packed["ETag"], Accept_Encoding="gzip").status == 304
    assert client.get("/docs", X_Build="2020-01-01-000000000000")["X-Cache"] == "HIT"  # pages ignore it
    head = client.send("HEAD", "/docs")
    assert (head.status, head.body, head["Content-Type"]) == (200, b"", plain["Content-Type"])
    assert client.get("/docs//api.html").status == 404


def test_the_limit_is_that_of_the_address_which_came_to_nginx(front: Nginx) -> None:
    """nginx appends the address that it sees, 127.0.0.1. The shim trusts that one and takes the address before it."""

    def left(forwarded: str) -> tuple[int, int]:
        return window_left(Client(front.port, headers={"X-Forwarded-For": forwarded}).get(f"{API}/openapi.json"))

    def attempt() -> tuple[set[int], list[int]]:
        windows = [left(name) for name in ("198.51.100.1", "198.51.100.2", "203.0.113.9, 198.51.100.1", "198.51.100.2")]
        return {reset for reset, _ in windows}, [windows[0][1] - windows[2][1], windows[1][1] - windows[3][1]]

    assert in_one_window(attempt) == [1, 1]


@needs("curl")
@pytest.mark.parametrize("body", ["--data-binary=@-", "--upload-file=-"])  # with its length, and without
def test_a_large_body_over_http2_is_refused_in_the_apis_words(front: Nginx, body: str) -> None:
    command = ["curl", "-sSki", "--http2", "-X", "PUT", *body.split("="), f"https://localhost:{front.tls_port}{API}/me"]
    sent = subprocess.run(command, input="x" * 5_000, capture_output=True, text=True, check=True)
    head, _, text = sent.stdout.partition("\n\n")
    assert head.startswith("HTTP/2 405") and "allow: GET" in head.splitlines(), head
    assert json.loads(text)["error"]["code"] == "method_not_allowed"


@pytest.mark.parametrize("target", READABLE)
def test_unusual_addresses_reach_the_shim(client: Client, shim: Service, target: bytes) -> None:
    key = f"X-API-Key: {client.key}".encode()
    there, here = (get(port, API.encode() + target, key) for port in (client.port, shim.port))
    assert (there.status, there.body) == (here.status, here.body) and "malformed" not in there.text


@pytest.mark.parametrize("condition", ["If-Match", "If-Unmodified-Since"])
def test_conditions_that_the_shim_ignores(client: Client, condition: str) -> None:
    headers = {condition: '"x"' if condition == "If-Match" else "Mon, 01 Jan 2024 00:00:00 GMT"}
    for path in ("/docs", "/docs", f"{API}/cards", "/"):
        answer = client.send("GET", path, headers)
        assert (answer.status, answer.body) == (200, client.get(path).body)


@pytest.mark.parametrize("name", [*READ_HEADERS, "User-Agent", "Referer", "Cookie", "Accept-Language"])
def test_a_header_with_a_control_character(front: Nginx, name: str) -> None:
    for path in ("/docs", "/", f"{API}/cards"):
        for value in (b"a\x01b", b"\x7f", b"\x1b[0m"):
            answer = get(front.port, path.encode(), name.encode() + b": " + value)
            assert_refused(answer, 400, "invalid_parameter")


def test_long_addresses_reach_the_shim(client: Client) -> None:
    for length in (9_000, 60_000):
        answer = client.get(f"{API}/cards?q={'x' * length}")
        assert (answer.status, "at most 100" in answer.message) == (400, True)
        assert client.get(f"{API}/openapi.json?q={'x' * length}", X_Other="x" * length).status == 200


def test_without_any_shim_it_is_a_server_side_failure(tmp_path: Path) -> None:
    with Nginx.before(tmp_path / "nginx", [free_port(), free_port()]) as alone:
        answer = Client(alone.port).get(f"{API}/me")
        assert (answer.status, answer.code) == (500, "internal_error")
        assert int(answer["Retry-After"]) > 0 and answer["Access-Control-Allow-Origin"] == "*"


def test_an_id_goes_with_every_request(client: Client, shim: Service) -> None:
    client.get(f"{API}/me", X_Request_Id="one-of-mine")
    client.get(f"{API}/me")

    def ids() -> list[str]:
        lines = (line for line in shim.log.read_text().splitlines() if line.startswith("{"))
        return [json.loads(line).get("request") for line in lines][-2:]

    until(lambda: ids()[:1] == ["one-of-mine"] and len(ids()[-1]) == 32, 60, "both requests are in the log")
