"""A shim behind the worker of `cardpress deploy worker`. It replaces the service that the API's tests use elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.copies import copy_of_fixed
from tests.support.keys import issue_all
from tests.support.workerd import ServiceBehindWorker, needs_workerd

EMPTY_AUTHORIZATION = "test_keys_that_will_not_do[headers9-invalid_api_key]"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests of this folder in one process, and skip them where workerd is missing."""
    for item in items:
        if item.nodeid.startswith("tests/worker/"):
            item.add_marker(pytest.mark.xdist_group("worker"))
            item.add_marker(pytest.mark.shim_only("the worker stands before the shim"))
            item.add_marker(needs_workerd)
        if item.nodeid.startswith("tests/worker/") and item.name == EMPTY_AUTHORIZATION:
            item.add_marker(pytest.mark.skip("workerd takes an empty Authorization for none"))


@pytest.fixture(scope="package")
def fixed_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("worker") / "store"
    copy_of_fixed(store)
    return store


@pytest.fixture(scope="package")
def keys(fixed_store: Path) -> dict[str, str]:
    return issue_all(fixed_store)


@pytest.fixture(scope="package")
def fixed_service(fixed_store: Path, keys: dict[str, str]) -> Iterator[ServiceBehindWorker]:
    with ServiceBehindWorker(fixed_store, fixed_store.parent / "state", workers=2) as service:
        yield service
