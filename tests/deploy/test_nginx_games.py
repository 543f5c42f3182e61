"""nginx-games.conf before two shims with a store each: the prefix decides, answers arrive as they are."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from edge_auth.store.folder import FolderStore
from tests.support import nginx, small_store
from tests.support.commands import issue
from tests.support.nginx import Nginx
from tests.support.service import Client, Service

pytestmark = [
    pytest.mark.skipif(nginx.BINARY is None, reason=nginx.ABSENT),
    pytest.mark.xdist_group("nginx"),
]
PATHS = ("cards?limit=3", "watchlist/sealed%2Fbooster-box", "watchlist/a//b", "sets?q=151", "nowhere", "me")


@pytest.fixture(scope="module")
def games(fixed_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Client]]:
    """Clients of two shims by game, and of the nginx before them as ''."""
    folder = tmp_path_factory.mktemp("games")
    small_store.add_build(FolderStore(str(folder / "magic")))
    stores = {"pokemon": fixed_store, "magic": folder / "magic"}
    with ExitStack() as stack:
        shims = {}
        for name, store in stores.items():
            service = stack.enter_context(Service(store, folder / f"state-{name}", "--trusted-proxy", "127.0.0.1/32"))
            shims[name] = service.client(issue(store, name="games"))
        ports = {f"server 127.0.0.1:{8001 + 10 * n};": shims[name].port for n, name in enumerate(stores)}
        changes = {listed: f"server 127.0.0.1:{port};" for listed, port in ports.items()}
        front = stack.enter_context(Nginx(folder / "nginx", "nginx-games.conf", changes))
        yield shims | {"": Client(front.port)}


@pytest.mark.parametrize("path", PATHS)
def test_the_prefix_chooses_the_store(games: dict[str, Client], path: str) -> None:
    for name in ("pokemon", "magic"):
        shim, front = games[name], games[""]
        there = front.get(f"/{name}/api/v1/{path}", Authorization=f"Bearer {shim.key}")
        here = shim.get(f"/api/v1/{path}")
        assert (there.status, there.body, there["ETag"]) == (here.status, here.body, here["ETag"]), name
    assert games["pokemon"].get("/api/v1/cards").body != games["magic"].get("/api/v1/cards").body


def test_a_key_of_one_game_is_none_of_the_other(games: dict[str, Client]) -> None:
    answer = games[""].get("/magic/api/v1/me", Authorization=f"Bearer {games['pokemon'].key}")
    assert (answer.status, answer.code) == (401, "invalid_api_key")


@pytest.mark.parametrize("path", ["/api/v1/cards", "/yugioh/api/v1/cards", "/pokemon/explore", "/"])
def test_other_paths_are_not_found(games: dict[str, Client], path: str) -> None:
    assert games[""].get(path).code == "not_found"
