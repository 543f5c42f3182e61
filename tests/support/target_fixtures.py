"""Fixtures that follow from `fixed_service` and `keys`. A folder that replaces these two imports them."""

import pytest

from tests.support.oracle import Oracle


@pytest.fixture(scope="package")
def fixed_key(keys: dict[str, str]) -> str:
    return keys["all"]


@pytest.fixture(scope="package")
def live_build(fixed_service, fixed_key: str) -> str:
    return fixed_service.client(fixed_key).get("/api/v1/status").json["build"]["id"]


@pytest.fixture(scope="package")
def fixed_oracle(fixed_lake, live_build: str) -> Oracle:
    return Oracle(fixed_lake, build_id=live_build)
