"""A tiny store, a key in it, and a client of the application over it."""

import pytest

from edge_auth.contract.store.folder import FolderStore
from tests.support import tiny_store
from tests.support.wsgi import Client

SLUGS = {
    "pikachu": "https://www.cardmarket.com/en/Pokemon/Products/Singles/Base/Pikachu",
    "Éclair/x": "https://www.cardmarket.com/en/Pokemon/Products/Singles/Base/Eclair",
    "raichu": "https://www.cardmarket.com/en/Pokemon/Products/Singles/Jungle/Raichu-V1",
}


@pytest.fixture(scope="session")
def products():
    return tiny_store.products()


@pytest.fixture(scope="session")
def location(tmp_path_factory, products):
    folder = tmp_path_factory.mktemp("store")
    tiny_store.write_build(FolderStore(str(folder)), products, slugs=SLUGS)
    return str(folder)


@pytest.fixture(scope="session")
def client(location, tmp_path_factory):
    return Client(location, str(tmp_path_factory.mktemp("state")), 1_000_000)


@pytest.fixture
def own(tmp_path, products):
    """A store of the test's own with a client, for tests that change it."""
    build = tiny_store.write_build(FolderStore(str(tmp_path / "store")), products, slugs=SLUGS)
    return Client(str(tmp_path / "store"), str(tmp_path / "state"), 50, build)


@pytest.fixture
def store(tmp_path, products):
    """A store of the test's own, for shims as processes."""
    tiny_store.write_build(FolderStore(str(tmp_path / "store")), products, slugs=SLUGS)
    return str(tmp_path / "store")
