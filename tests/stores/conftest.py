"""The stores of every kind that the tests of this folder run on."""

import pytest

from tests.support.s3_servers import SERVERS
from tests.support.selection import mostly_thorough

# The kinds of stores by URL scheme, as in `BACKENDS` of `edge_auth.store.open`; a folder has no scheme.
KINDS = {"": ("folder",), "s3": tuple(SERVERS)}


@pytest.fixture(params=mostly_thorough([kind for kinds in KINDS.values() for kind in kinds], "folder", "moto"))
def location(request: pytest.FixtureRequest, servers, tmp_path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty store of each kind in turn."""
    if request.param == "folder":
        return str(tmp_path / "store")
    found = servers(request.param)
    for name, value in found.environment().items():
        monkeypatch.setenv(name, value)
    return f"s3://{found.bucket()}/some/prefix"
