"""A small store, a key in it, and a client of the application over it: behind nginx with --through-nginx."""

import pytest

from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.shim_clients import open_client


@pytest.fixture(scope="session")
def products():
    return small_store.products()


@pytest.fixture(scope="session")
def location(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    small_store.add_build(FolderStore(str(folder)))
    return str(folder)


@pytest.fixture(scope="session")
def client(location, tmp_path_factory):
    with open_client(location, str(tmp_path_factory.mktemp("state")), 1_000_000, times=3) as client:
        yield client


@pytest.fixture
def own(tmp_path):
    build = small_store.add_build(FolderStore(str(tmp_path / "store")))
    with open_client(str(tmp_path / "store"), str(tmp_path / "state"), 50, build) as client:
        yield client


@pytest.fixture
def store(tmp_path):
    small_store.add_build(FolderStore(str(tmp_path / "store")))
    return str(tmp_path / "store")
