"""What the shim does around the data: methods, paths, keys, parameters, encodings, validators, limits, pins."""

import gzip
import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from edge_auth.api.auth import client_address
from edge_auth.builds.bodies import accepts_gzip
from edge_auth.builds.builds import open_build
from edge_auth.live.key_file import open_key_file
from edge_auth.live.keys import SCOPES, digest, issue, parse_expiry
from edge_auth.store.folder import FolderStore
from tests.support import small_store
from tests.support.serving import eventually
from tests.support.wsgi import WsgiClient

WRONG = "cpm_live_" + "x" * 32


def issued(location: str, **fields) -> str:
    given = {"name": "n", "scopes": SCOPES, "rate_limit": 1000, "expires_at": None, "now": 0} | fields
    key, record = issue(**given)
    open_key_file(location).add(record)
    return key


@pytest.mark.parametrize(
    ("target", "method", "key", "status", "code"),
    [
        ("/nope", "POST", None, 405, "method_not_allowed"),
        ("/api/v1/me", "HEAD", "", 405, None),
        ("/api/v1/me", "OPTIONS", "", 405, "method_not_allowed"),
        ("/nope", "GET", WRONG, 404, "not_found"),
        ("/elsewhere", "GET", "", 404, "not_found"),
        ("/api/v1", "GET", "", 404, "not_found"),
        ("/api/v1/me/", "GET", "", 404, "not_found"),
        ("//api/v1/me", "GET", "", 404, "not_found"),
        ("/api/v1/cards/", "GET", "", 404, "not_found"),
        ("/api/v1/cards/1/2", "GET", "", 404, "not_found"),
        ("/api/v1/watchlist/", "GET", None, 404, "not_found"),
        ("/api/v1/watchlist/%FF", "GET", None, 404, "not_found"),
        ("/api/v1/cards?x=1", "GET", None, 401, "unauthorized"),
        ("/api/v1/cards?x=1", "GET", WRONG, 401, "invalid_api_key"),
        ("/api/v1/cards/abc", "GET", "", 400, "invalid_parameter"),
        ("/api/v1/cards/%D9%A3", "GET", "", 400, "invalid_parameter"),
        ("/api/v1/cards/+1", "GET", "", 400, "invalid_parameter"),
        ("/api/v1/cards/-99", "GET", "", 404, "not_found"),
        ("/api/v1/cards/" + "9" * 5000, "GET", "", 404, "not_found"),
        ("/api/v1/cards/9223372036854775808", "GET", "", 404, "not_found"),
        ("/api/v1/%6De", "GET", "", 200, None),
        ("/api/v1/watchlist/unknown", "GET", "", 404, "not_found"),
        ("/api/v1/watchlist/cardmarket", "GET", "", 409, "ambiguous_slug"),
        ("/api/v1/watchlist/sellerCountry", "GET", "", 404, "not_found"),
    ],
)
def test_order_of_checks(client, target, method, key, status, code):
    answer = client.get(target, method, key)
    assert answer.status == status
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    if status >= 400:
        assert answer.headers["Cache-Control"] == "no-store"
    if code:
        assert answer.code == code
    assert ("Allow" in answer.headers) == (status == 405)
    assert ("WWW-Authenticate" in answer.headers) == (status == 401)
    asked_with_valid_key = status not in (401, 405) and key == "" and (code, status) != ("not_found", 404)
    if asked_with_valid_key:
        assert "X-RateLimit-Remaining" in answer.headers


def test_preflight(client):
    answer = client.get("/x", "OPTIONS", None, origin="https://a", access_control_request_method="GET")
    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Headers"] == (
        "Authorization, X-API-Key, If-None-Match, X-Build, X-Request-ID, Range, If-Range, Cache-Control, Content-Type"
    )


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "unauthorized"),
        ({"authorization": "Basic abc"}, "unauthorized"),
        ({"authorization": "Basic abc", "x_api_key": "KEY"}, None),
        ({"authorization": "Bearer KEY"}, None),
        ({"authorization": "bEARER    KEY"}, None),
        ({"authorization": "Bearer", "x_api_key": "KEY"}, "invalid_api_key"),
        ({"authorization": "", "x_api_key": "KEY"}, "invalid_api_key"),
        ({"authorization": f"Bearer {WRONG}", "x_api_key": "KEY"}, "invalid_api_key"),
        ({"authorization": "Bearer KEY", "x_api_key": "rubbish"}, None),
        ({"authorization": "Bearer KEY,Bearer KEY"}, "invalid_api_key"),
        ({"x_api_key": ""}, "invalid_api_key"),
        ({"x_api_key": "é"}, "invalid_api_key"),
    ],
)
def test_where_a_key_is_read(client, headers, code):
    sent = {name: value.replace("KEY", client.key) for name, value in headers.items()}
    answer = client.get("/api/v1/me", key=None, **sent)
    assert (answer.status, code) == (200, None) or (answer.status, answer.code) == (401, code)


def test_revoked_comes_before_expired_and_scopes_hold(own):
    location = own.location
    past, cards = parse_expiry("2020-01-01"), ("cards:read",)
    expired, narrow = issued(location, expires_at=past), issued(location, scopes=cards)
    file = open_key_file(location)
    both = issued(location, expires_at=past)
    file.update(f"key_{digest(both)[:12]}", revoked=True)
    own.reopen()
    assert own.get("/api/v1/me", key=expired).code == "expired_api_key"
    assert own.get("/api/v1/me", key=both).code == "revoked_api_key"
    assert own.get("/api/v1/watchlist?bad=1", key=narrow).code == "insufficient_scope"
    assert own.get("/api/v1/fingerprints", key=narrow).code == "insufficient_scope"
    assert own.get("/api/v1/sets", key=narrow).status == 200
    assert own.get("/api/v1/me", key=narrow).json()["scopes"] == ["cards:read"]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("cards?limit=0", "limit must be an integer from 1 to 100"),
        ("cards?limit=", "limit"),
        ("cards?limit=%2B5", "limit"),
        ("cards?limit=+5", "limit"),
        ("cards?limit=1_0", "limit"),
        ("cards?limit=5.0", "limit"),
        ("cards?limit=%D9%A3", "limit"),
        ("cards?limit=5&limit=5", "limit may be given only once"),
        ("cards?ids=1&ids=2", "ids may be given only once: separate its values by commas"),
        ("series?ids=1&ids=2", "ids may be given only once: separate its values by commas"),
        ("identifiers/tcgdex?values=a&values=b", "values may be given only once: separate its values by commas"),
        ("cards?offset=-1", "offset must be an integer of at least 0"),
        ("cards?offset=" + "1" * 19, "18 digits"),
        ("cards?kind=", "kind must be one of all, single, sealed"),
        ("cards?sort=Trend", "sort"),
        ("cards?order=up", "asc, desc"),
        ("cards?q=" + "a" * 101, "100 characters"),
        ("cards?set=" + "a" * 201, "set must be at most 200 characters"),
        ("sets?q=" + "a" * 201, "q must be at most 200 characters"),
        ("cards?q=%FF", "q must be UTF-8"),
        ("cards?lmit=5", "limit"),
        ("cards?LIMIT=5", "limit"),
        ("cards?%FF=5", "unknown"),
        ("cards?=5", "unknown"),
        ("me?x=1", "takes none"),
        ("status?limit=1", "takes none"),
        ("watchlist?limit=501", "from 1 to 500"),
        ("sets?limit=1001", "from 1 to 1000"),
        ("cards/1?days=0", "days must be an integer from 1 to 3650"),
        ("watchlist/pikachu/history?view=hourly", "daily, weekly, monthly"),
        ("watchlist/pikachu/history?range=", "all, 30d, 90d, 365d"),
        ("watchlist/pikachu?view=daily", "takes none"),
    ],
)
def test_refused_parameters(client, target, says):
    answer = client.get("/api/v1/" + target)
    assert (answer.status, answer.code) == (400, "invalid_parameter")
    assert says in answer.message


@pytest.mark.parametrize(
    "target",
    ["cards?q=&set=&number=&rarity=", "cards?&&limit=007&", "cards?offset=999999999999999999", "cards?q=%C3%A9+e"],
)
def test_accepted_parameters(client, target):
    assert client.get("/api/v1/" + target).status == 200


def test_slugs(client):
    assert client.get("/api/v1/watchlist/PIKACHU").json()["slug"] == "pikachu"
    assert client.get("/api/v1/watchlist/E%CC%81clair%2Fx").json()["slug"] == "Éclair/x"
    offers = client.get("/api/v1/watchlist/eclair/x/offers").json()
    assert (offers["slug"], offers["offers"]) == ("Éclair/x", [])
    assert client.get("/api/v1/watchlist/Jungle%2Fraichu").json()["slug"] == "raichu"
    history = client.get("/api/v1/watchlist/raichu-v/history?view=weekly&range=90d").json()
    assert (history["slug"], history["view"], history["range"]) == ("raichu", "weekly", "90d")


@pytest.mark.parametrize("target", ["me", "status", "watchlist", "watchlist/pikachu", "cards?q=a", "fingerprints"])
def test_encodings_and_validators(client, target):
    plain = client.get("/api/v1/" + target)
    zipped = client.get("/api/v1/" + target, accept_encoding="br, gzip;q=0.5")
    assert gzip.decompress(zipped.body) == plain.body
    assert zipped.headers["Content-Encoding"] == "gzip"
    etags = [plain.headers["ETag"], zipped.headers["ETag"]]
    assert etags[0] != etags[1]
    for sent in (*etags, f'"a,b", W/{etags[0]}', "*"):
        known = client.get("/api/v1/" + target, accept_encoding="gzip", if_none_match=sent)
        assert (known.status, known.body) == (304, b"")
        ignored = {"X-RateLimit-Remaining", "Content-Encoding", "Content-Length"}
        expected = {name: value for name, value in zipped.headers.items() if name not in ignored}
        assert {name: value for name, value in known.headers.items() if name not in ignored} == expected
    for sent in ('"x"', etags[0].strip('"'), ""):
        assert client.get("/api/v1/" + target, if_none_match=sent).status == 200
    keyed = plain.headers["Cache-Control"] == "private, no-cache"
    assert keyed == ("X-RateLimit-Limit" in plain.headers)
    assert ("X-Build" in plain.headers) == (target != "me")


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        ("gzip", True), ("", False), ("identity", False), ("gzip;q=0", False), ("*", True), ("*;q=0", False),
        ("gzip;q=0, *", False), ("GZIP; q=0.001", True), ("gzip;q=0.000", False), ("deflate, x-gzip", True),
        ("gzip;q=abc", False), ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
    ],
)  # fmt: skip
def test_accept_encoding(header, takes):
    assert accepts_gzip(header) == takes


@pytest.mark.shim_only("clients of other addresses")
def test_openapi_is_public_and_limited_by_address(own):
    answer = own.get("/api/v1/openapi.json?whatever=1&x", key=None, remote="10.0.0.1")
    assert answer.headers["Cache-Control"] == "public, max-age=300"
    assert [answer.headers[f"X-RateLimit-{n}"] for n in ("Limit", "Remaining")] == ["120", "119"]
    assert own.get("/api/v1/openapi.json", key=None, remote="10.0.0.2").headers["X-RateLimit-Remaining"] == "119"


def test_pins(own, products):
    store = FolderStore(own.location)
    other = small_store.add_build(store, 20, live=False)
    first = own.get("/api/v1/status")
    assert first.headers["X-Build"] == own.build
    pinned = own.get("/api/v1/status", x_build=other)
    assert pinned.json()["catalogue"]["products"] == 20
    assert pinned.headers["X-Build"] == other
    assert own.get("/api/v1/cards/9999", x_build=other).headers["X-Build"] == other
    assert own.get("/api/v1/status", x_build="").headers["X-Build"] == own.build
    for bad in ("nope", "../current", small_store.AS_OF + "-00000000000c"):
        refused = own.get("/api/v1/status", x_build=bad)
        assert refused.code == "invalid_parameter"
        assert own.build in refused.message
    assert own.get("/api/v1/me", x_build="nope").status == 200
    store.delete(list(store.list("layers/")))
    store.delete([f"builds/{other}.json"])
    unread = products[0]["id_product"]
    assert own.get(f"/api/v1/cards/{unread}", x_build=other).code == "invalid_parameter"


def test_a_build_pruned_under_our_hands_is_answered_from_the_live_one(own, products):
    store = FolderStore(own.location)
    assert own.get("/api/v1/status").status == 200
    other = small_store.add_build(store, 20)
    kept = [f"layers/{name}/{layer['digest']}/" for name, layer in open_build(store, other).record["layers"].items()]
    store.delete([name for name in store.list("layers/") if not name.startswith(tuple(kept))])
    answer = own.get(f"/api/v1/cards/{products[0]['id_product']}")
    assert (answer.status, answer.headers["X-Build"]) == (200, other)


@pytest.mark.parametrize("damage", ["pack", "index", "gone", "nothing live"])
def test_a_failing_store_is_500(own, damage):
    store = FolderStore(own.location)
    packs = [name for name in store.list("layers/") if name.endswith(".gz")]
    if damage == "pack":
        for name in packs:
            store.put(name, bytes(byte ^ 1 for byte in store.get(name)))
    elif damage == "index":
        for name in store.list("layers/"):
            if name.endswith("index.arrow"):
                store.put(name, store.get(name)[:100])
        own.reopen()  # one that runs has read them
    elif damage == "gone":
        shutil.rmtree(store.root / "layers")
    else:
        store.delete(["current.json", f"builds/{own.build}.json"])
        shutil.rmtree(store.root / "layers")
    answer = own.get("/api/v1/watchlist/pikachu")
    assert (answer.status, answer.code) == (500, "internal_error")
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.headers["Cache-Control"] == "no-store"
    assert "raceback" not in answer.body.decode()
    assert own.get("/api/v1/me").status == 200


@pytest.mark.shim_only("reads the log of an application in this process")
def test_a_store_without_a_live_build_says_so_once(tmp_path):
    client = WsgiClient(str(tmp_path / "store"), str(tmp_path / "state"), 1000)
    for _ in range(3):
        for path in ("/api/v1/status", "/api/v1/cards", "/docs"):
            answer = client.get(path)
            assert (answer.status, answer.code) == (500, "internal_error")
            assert "no build has been published" in answer.message
            assert int(answer.headers["Retry-After"]) > 0
    assert client.get("/api/v1/me").status == 200
    assert eventually(lambda: client.log.count('"path":"/docs"') == 3)
    assert client.log.count("no build is live") == 1
    assert "Traceback" not in client.log


def test_one_product_can_fail_while_others_answer(own, products):
    store = FolderStore(own.location)
    [pack] = [name for name in store.list("layers/history-open/") if name.endswith(".gz")]
    data = store.get(pack)
    store.put(pack, data[:-30] + b"\0" * 30)
    ids = sorted(product["id_product"] for product in products)
    assert own.get(f"/api/v1/cards/{ids[0]}").status == 200
    assert own.get(f"/api/v1/cards/{ids[-1]}").status == 500


def test_the_limit_of_a_key(own):
    answers = [own.get("/api/v1/me" if n % 2 else "/api/v1/me?bad") for n in range(60)]
    allowed = [answer for answer in answers if answer.status != 429]
    refused = [answer for answer in answers if answer.status == 429]
    # The minute may turn while the test runs; then there are two windows of 50.
    resets = {answer.headers["X-RateLimit-Reset"] for answer in answers}
    assert (len(allowed), len(refused)) == (50, 10) or len(resets) == 2
    for answer in refused:
        assert answer.code == "rate_limited"
        assert answer.headers["X-RateLimit-Remaining"] == "0"
        assert 1 <= int(answer.headers["Retry-After"]) <= 60


def test_client_address():
    from ipaddress import ip_network

    trusted = [ip_network("10.0.0.0/8"), ip_network("::1/128")]
    assert client_address("1.2.3.4", "5.6.7.8", trusted) == "1.2.3.4"
    assert client_address("10.1.1.1", "9.9.9.9, 5.6.7.8", trusted) == "5.6.7.8"
    assert client_address("10.1.1.1", "9.9.9.9, 10.2.2.2", trusted) == "9.9.9.9"
    assert client_address("::ffff:10.1.1.1", "5.6.7.8:1234", trusted) == "5.6.7.8"
    assert client_address("::1", "[2001:db8::1]:80", trusted) == "2001:db8::1"
    assert client_address("10.1.1.1", "rubbish", trusted) == "10.1.1.1"
    assert client_address("10.1.1.1", "", trusted) == "10.1.1.1"


def test_bodies_are_json_of_the_contract(client, products):
    body = client.get("/api/v1/cards?limit=2").body
    assert body.startswith(b'{"data":[\n')
    assert body.endswith(b"}\n")
    assert len(json.loads(body)["data"]) == 2


def test_a_new_key_is_valid_in_many_requests_at_once(own):
    """A request that arrives while another thread reads the new records must not be answered from the old ones."""
    for _ in range(5):
        key = issued(own.location)
        start = threading.Barrier(8)

        def ask(_: int, key: str = key, start: threading.Barrier = start) -> int:
            start.wait()
            return own.get("/api/v1/me", key=key).status

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, range(8))) == [200] * 8


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        *(("/api/v1/card", "cards"), ("/cards", "cards"), ("/v1/Cards/", "cards"), ("/api/v1/cards/", "cards")),
        *(("/api/v1/card/123", "cards/{idProduct}"), ("/api/v1/identifier/tcgdex", "identifiers/{scheme}")),
        *(("/api/v1/market/histroy", "market/history"), ("/api/v1/card/1/identifier", "cards/{idProduct}/identifiers")),
        *(("/api/v1/watchlists", "watchlist"), ("/api/v1/nothing", None), ("/api/v1/" + "z" * 300, None)),
        *(("/%FF/cards", None), ("/api/v1", None), ("/api/v2/cards", "cards"), ("/v2/card/1", "cards/{idProduct}")),
        *(("/explor", "/explore"), ("/doc", "/docs"), ("/api/v1/doc", None)),
    ],
)
def test_an_unknown_path_names_the_nearest(client, path, meant):
    answer = client.get(path)
    assert answer.status == 404 and answer.code == "not_found"
    hint = f"did you mean {meant if meant[0] == '/' else f'/api/v1/{meant}'}? " if meant else ""
    assert answer.message == f"there is no such path: {hint}/docs lists what there is"
