"""One shim behind the nginx of `edge_auth/nginx`. Its fixtures replace the service that the API's tests use elsewhere.

`pytest --through-nginx` runs any other test of the API through this nginx.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import issue
from tests.support.copies import copy_of_fixed
from tests.support.keys import issue_all
from tests.support.programs import needs
from tests.support.service import Service


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests of this folder in one process, and skip them where nginx cannot run."""
    skipped = needs("nginx with Lua")
    for item in items:
        if item.nodeid.startswith("tests/nginx/"):
            item.add_marker(pytest.mark.xdist_group("nginx"))
            item.add_marker(skipped)


@pytest.fixture(scope="package")
def keys(fixed_store: Path) -> dict[str, str]:
    return issue_all(fixed_store)


@pytest.fixture(scope="package")
def fixed_service(
    fixed_store: Path, keys: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    state = tmp_path_factory.mktemp("nginx") / "state"
    with Service(fixed_store, state, workers=2, through_nginx=True) as service:
        yield service


@pytest.fixture
def store(tmp_path: Path) -> Path:
    copy_of_fixed(tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def key(store: Path) -> str:
    return issue(store)


@pytest.fixture
def service(store: Path, key: str, tmp_path: Path) -> Iterator[Service]:
    with Service(store, tmp_path / "state", workers=2, through_nginx=True) as service:
        yield service
