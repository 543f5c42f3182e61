"""ETags, compression, cache headers, and builds named by `X-Build`."""

import copy
from collections.abc import Iterator

import pytest

from tests.support.api_checks import both
from tests.support.commands import build, issue
from tests.support.copies import copy_of_fixed
from tests.support.lakes import FIXED, write
from tests.support.service import Client, Service, until

API = "/api/v1"
KEYED = ("me", "status", "watchlist", "watchlist/never", "watchlist/never/history", "watchlist/never/offers",
         "cards", "cards?q=charizard&limit=1", "cards/100", "sets", "fingerprints")  # fmt: skip
FROM_A_BUILD = [path for path in KEYED if path != "me"]
VARY = {"authorization", "x-api-key", "accept-encoding", "x-build"}
of_two_builds = pytest.mark.xdist_group("two builds")  # one process: they are built once
RATE = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


@pytest.mark.parametrize("path", [*KEYED, "openapi.json"])
def test_an_etag_for_each_encoding(client: Client, path: str) -> None:
    plain, packed = both(client, path)
    for answer in (plain, packed):
        assert answer.status == 200
        assert answer["ETag"][0] == answer["ETag"][-1] == '"' and len(answer["ETag"]) > 4
    assert plain["ETag"] != packed["ETag"]
    assert plain.json == packed.json
    assert client.get(f"{API}/{path}")["ETag"] == plain["ETag"]


@pytest.mark.parametrize("path", [*KEYED, "openapi.json"])
def test_not_modified(client: Client, path: str) -> None:
    plain, packed = both(client, path)
    tags = (plain["ETag"], packed["ETag"])
    for tag in (*tags, f"W/{tags[0]}", f'"other", {tags[1]}', f'W/"a",{tags[0]} , "b"', "*"):
        for encoding in ("identity", "gzip"):
            answer = client.get(f"{API}/{path}", If_None_Match=tag, Accept_Encoding=encoding)
            assert (answer.status, answer.body) == (304, b""), tag
            assert answer["ETag"] in tags
            for header in ("Cache-Control", "Vary", "X-Build", "Access-Control-Allow-Origin", "X-RateLimit-Limit"):
                assert answer[header] == plain[header], header
    for tag in ('"other"', tags[0].strip('"'), tags[0].upper() + "x", ""):
        assert client.get(f"{API}/{path}", If_None_Match=tag).status == 200, tag


def test_errors_are_never_not_modified(client: Client) -> None:
    for path, status in (("cards/77777", 404), ("cards?limit=0", 400), ("watchlist/charizard-ex", 409)):
        answer = client.get(f"{API}/{path}", If_None_Match="*")
        assert answer.status == status
        assert answer["ETag"] is None
        assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [("gzip", "gzip"), ("gzip;q=1.0, *;q=0", "gzip"), ("br, gzip;q=0.5", "gzip"), ("gzip ; q=0.001", "gzip"),
     ("GZIP", "gzip"), ("deflate,gzip", "gzip"), ("gzip;q=0", None), ("gzip;q=0.000, identity", None),
     ("*", "gzip"), ("*;q=0", None), ("gzip;q=0, *", None), ("deflate, x-gzip", "gzip"), ("gzip;q=abc", None),
     ("identity", None), ("br", None), ("", None), ("gzipped", None), ("*;q=0, gzip;q=0", None)],
)  # fmt: skip
def test_which_clients_get_gzip(client: Client, accepted: str, encoding: str | None) -> None:
    for path in ("cards", "cards/100", "status"):
        answer = client.get(f"{API}/{path}", Accept_Encoding=accepted)
        assert (answer.status, answer["Content-Encoding"]) == (200, encoding)
        assert answer.json


@pytest.mark.parametrize("path", KEYED)
def test_cache_headers_of_keyed_answers(client: Client, path: str) -> None:
    answer = client.get(f"{API}/{path}")
    expected = "private,max-age=3600" if path == "fingerprints" else "private,no-cache"
    assert answer["Cache-Control"].replace(" ", "") == expected
    assert answer.listed("Vary") >= VARY


def test_cache_headers_of_the_public_description(client: Client) -> None:
    answer = client.send("GET", f"{API}/openapi.json?anything=goes", key=False)
    assert answer.status == 200
    assert answer["Cache-Control"].replace(" ", "") == "public,max-age=300"
    assert "accept-encoding" in answer.listed("Vary")
    assert (answer.json["openapi"], answer.json["info"]["version"]) == ("3.1.0", "1.0.0")


def test_only_the_fingerprint_index_goes_without_rate_headers(client: Client) -> None:
    for path in [*KEYED, "cards/1", "cards?limit=0", "watchlist/charizard-ex"]:
        actual = [client.get(f"{API}/{path}")[header] is not None for header in RATE]
        assert actual == [path != "fingerprints"] * 3, path


@pytest.mark.parametrize("path", [*FROM_A_BUILD, "cards/1", "watchlist/unknown", "watchlist/charizard-ex"])
def test_x_build_names_the_build(client: Client, live_build: str, path: str) -> None:
    assert client.get(f"{API}/{path}")["X-Build"] == live_build
    assert client.get(f"{API}/{path}", X_Build=live_build)["X-Build"] == live_build
    assert client.get(f"{API}/me")["X-Build"] is None


@pytest.mark.parametrize("named", ["nothing", "../keys", "%2e%2e", "a" * 64])
def test_an_unknown_build(client: Client, live_build: str, named: str) -> None:
    answer = client.get(f"{API}/cards", X_Build=named)
    assert (answer.status, answer.code) == (400, "invalid_parameter")
    assert live_build in answer.message


@pytest.mark.parametrize("named", ["", "\xe9"])
def test_an_empty_build_is_absent(client: Client, live_build: str, named: str) -> None:
    """The server hands a value that is not ASCII over as an empty one."""
    answer = client.get(f"{API}/cards", X_Build=named)
    assert (answer.status, answer["X-Build"]) == (200, live_build)


@pytest.fixture(scope="module")
def two_builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, str, str]]:
    """A client of a shim that saw two builds; the second differs in one card's name."""
    folder = tmp_path_factory.mktemp("two")
    store = folder / "store"
    old = copy_of_fixed(store)
    key = issue(store)
    with Service(store, folder / "state") as service:
        client = service.client(key)
        assert client.get(f"{API}/status")["X-Build"] == old
        changed = copy.deepcopy(FIXED)
        next(row for row in changed.products if row["id_product"] == 113)["name"] = "Renamed"
        client.before = {path: client.get(f"{API}/{path}")["ETag"] for path in KEYED}
        new = build(write(changed, folder / "new"), store)
        until(lambda: client.get(f"{API}/status")["X-Build"] == new, 60, "the shim serves the new build")
        yield client, old, new


@of_two_builds
def test_what_did_not_change_keeps_its_etag(two_builds: tuple[Client, str, str]) -> None:
    client, old, new = two_builds
    assert old != new
    after = {path: client.get(f"{API}/{path}")["ETag"] for path in KEYED}
    changed = {path for path in KEYED if client.before[path] != after[path]}
    assert changed == {"status", "cards"}


@of_two_builds
def test_the_old_build_by_name(two_builds: tuple[Client, str, str]) -> None:
    client, old, new = two_builds
    for named, name in ((old, "Never priced"), (new, "Renamed"), (None, "Renamed")):
        headers = {"X_Build": named} if named else {}
        answer = client.get(f"{API}/cards/113", **headers)
        assert (answer.json["name"], answer["X-Build"]) == (name, named or new)
        listed = client.get(f"{API}/cards?q={name.split()[0]}", **headers)
        assert [card["id_product"] for card in listed.json["data"]] == [113]
    tag = client.get(f"{API}/cards/113", X_Build=old)["ETag"]
    assert client.get(f"{API}/cards/113", If_None_Match=tag).status == 200
    assert client.get(f"{API}/cards/113", If_None_Match=tag, X_Build=old).status == 304
