"""The stores of every kind that the tests of this folder run on."""

import pytest

from tests.support.s3_servers import SERVERS
from tests.support.selection import mostly_thorough


@pytest.fixture(params=mostly_thorough(["folder", *SERVERS], "folder", "moto"))
def location(request: pytest.FixtureRequest, servers, tmp_path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty store of each kind in turn."""
    if request.param == "folder":
        return str(tmp_path / "store")
    found = servers(request.param)
    found.enter(monkeypatch)
    return f"s3://{found.bucket()}/some/prefix"
