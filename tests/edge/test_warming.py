"""Before another build goes live, the shim makes the answers that clients had lately."""

from math import inf
from pathlib import Path

import pytest

from edge_auth.live import build_registry
from edge_auth.live.open_build import OpenBuild
from generator.storage.errors import StoreError
from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.service import until
from tests.support.shim_clients import WsgiClient

pytestmark = pytest.mark.shim_only("looks into the memory of the shim")

API, FEW = "/api/v1/", 20
IDS = [product["id_product"] for product in small_store.products(FEW)]
ASKED = [f"{API}cards/{id_}" for id_ in IDS[:10]] + [f"{API}cards/{IDS[10]}?days=30", f"{API}watchlist/pikachu"]
GONE = f"{API}cards/{small_store.products()[60]['id_product']}"  # not in the small build


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(str(tmp_path / "store"))


@pytest.fixture
def before(store: FolderStore) -> str:
    """Return the live build. It has a step to another one, whose document is in the cache of the answers too."""
    small_store.add_build(store, FEW)
    return small_store.add_build(store)


@pytest.fixture
def client(store: FolderStore, before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WsgiClient:
    """Return a client that has asked for all these. The shim has all the time that it needs to make them again."""
    monkeypatch.setattr(build_registry, "_MAX_WARMING_SECONDS", inf)
    client = WsgiClient(store.location, str(tmp_path / "state"), 10_000)
    [step] = client.get(f"{API}changes").json["data"]
    for target in (*ASKED, GONE, "/docs", step["url"]):
        for coding in ("gzip", "identity"):
            assert client.get(target, accept_encoding=coding).status == 200
    assert client.get(GONE).headers["X-Build"] == before
    return client


def until_live(client: WsgiClient, build: str) -> None:
    until(lambda: client.get(f"{API}cards?limit=1").headers["X-Build"] == build, 60, "the new build is live")


def test_what_was_asked_for_is_ready_when_another_build_goes_live(
    client: WsgiClient, store: FolderStore, tmp_path: Path
) -> None:
    """Without the store, the shim answers only what is in its memory."""
    live = small_store.add_build(store, FEW)
    until_live(client, live)
    aside = Path(store.location).rename(tmp_path / "aside")
    answers = [client.get(target, accept_encoding=coding) for target in ASKED for coding in ("gzip", "identity")]
    assert {(answer.status, answer.headers["X-Build"]) for answer in answers} == {(200, live)}
    assert client.get(f"{API}cards/{IDS[15]}").status == 500
    aside.rename(store.location)
    fresh = WsgiClient(store.location, str(tmp_path / "fresh"), 10_000)
    again = [fresh.get(target, accept_encoding=coding) for target in ASKED for coding in ("gzip", "identity")]
    assert [answer.body for answer in again] == [answer.body for answer in answers]
    assert fresh.get(GONE).status == client.get(GONE).status == 404


@pytest.mark.parametrize("hinders", ["time", "store"])
@pytest.mark.thorough
def test_a_build_goes_live_without_them_too(
    client: WsgiClient, store: FolderStore, monkeypatch: pytest.MonkeyPatch, hinders: str
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("it failed")

    if hinders == "time":
        monkeypatch.setattr(build_registry, "_MAX_WARMING_SECONDS", 0)
    else:
        monkeypatch.setattr(OpenBuild, "warm", fail)
        client.reopen()
    until_live(client, small_store.add_build(store, FEW))
    assert client.get("/healthz").json["store"] == "ok"
