"""What the shim does around the data that tests/api does not ask a whole service: keys, addresses, pruned builds."""

import threading
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network

import pytest

from edge_auth.api.auth import client_address
from generator.storage.builds import open_build
from generator.storage.keys import SCOPES, issue, open_key_file
from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.service import until
from tests.support.shim_clients import WsgiClient


def issued(location: str, **fields) -> str:
    given = {"name": "n", "scopes": SCOPES, "rate_limit": 1000, "expires_at": None, "now": 0} | fields
    key, record = issue(**given)
    open_key_file(location).add(record)
    return key


def test_a_build_pruned_under_our_hands_is_answered_from_the_live_one(own, products):
    store = FolderStore(own.location)
    assert own.get("/api/v1/status").status == 200
    other = small_store.add_build(store, 20)
    kept = [f"layers/{name}/{layer['digest']}/" for name, layer in open_build(store, other).record["layers"].items()]
    store.delete([name for name in store.list("layers/") if not name.startswith(tuple(kept))])
    answer = own.get(f"/api/v1/cards/{products[0]['id_product']}")
    assert (answer.status, answer.headers["X-Build"]) == (200, other)


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
    until(lambda: client.log.count('"path":"/docs"') == 3, 60, "the log has them")
    assert client.log.count("no build is live") == 1
    assert "Traceback" not in client.log


def test_client_address():
    trusted = [ip_network("10.0.0.0/8"), ip_network("::1/128")]
    assert client_address("1.2.3.4", "5.6.7.8", trusted) == "1.2.3.4"
    assert client_address("10.1.1.1", "9.9.9.9, 5.6.7.8", trusted) == "5.6.7.8"
    assert client_address("10.1.1.1", "9.9.9.9, 10.2.2.2", trusted) == "9.9.9.9"
    assert client_address("::ffff:10.1.1.1", "5.6.7.8:1234", trusted) == "5.6.7.8"
    assert client_address("::1", "[2001:db8::1]:80", trusted) == "2001:db8::1"
    assert client_address("10.1.1.1", "rubbish", trusted) == "10.1.1.1"
    assert client_address("10.1.1.1", "", trusted) == "10.1.1.1"


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
        *(("/api/v1/sets/151", "cards?set=151"), ("/api/v1/cards/7/prices", "cards/7")),
        *(("/explor", "/explore"), ("/doc", "/docs"), ("/api/v1/doc", None)),
    ],
)
def test_an_unknown_path_names_the_nearest(client, path, meant):
    answer = client.get(path)
    assert answer.status == 404 and answer.code == "not_found"
    hint = f"did you mean {meant if meant[0] == '/' else f'/api/v1/{meant}'}? " if meant else ""
    assert answer.message == f"there is no such path: {hint}/docs lists what there is"
