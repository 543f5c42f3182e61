"""A shim whose copies of a bucket's builds are damaged, or cannot be made. A folder stands for the bucket."""

from collections.abc import Callable
from pathlib import Path

import pytest

from edge_auth.live import build_registry
from edge_auth.live.open_build import OpenBuild
from edge_auth.serve import app as serving
from edge_auth.store.folder import FolderStore
from tests.support import small_store
from tests.support.service import until
from tests.support.wsgi import WsgiClient

pytestmark = pytest.mark.shim_only("damages the files of a shim in this process")

API = "/api/v1/"
SECONDS = 60  # until a test fails


class FailingBucket(FolderStore):
    """Notes which objects were read, and fails where a test says so."""

    def __init__(self, root: Path):
        super().__init__(str(root))
        self.read: list[str] = []
        self.before_get: Callable[[str], object] = lambda name: None

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        self.read.append(name)
        self.before_get(name)
        return super().get(name, offset, length)

    def local_path(self, name: str) -> None:  # type: ignore[override]  # a bucket has no files
        return None


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FailingBucket:
    """A bucket with a live build, from which the applications of this process answer."""
    found = FailingBucket(tmp_path / "bucket")
    small_store.add_build(found, 50)
    monkeypatch.setattr(serving, "is_folder", lambda location: False)
    monkeypatch.setattr(serving, "open_store", lambda *_: found)
    return found


@pytest.fixture
def client(bucket: FailingBucket, tmp_path: Path) -> WsgiClient:
    return WsgiClient(bucket.location, str(tmp_path / "state"), 1_000_000)


def copies_of(client: WsgiClient) -> Path:
    [folder] = Path(client.settings.state).glob("builds-*")
    return folder


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def test_a_flipped_bit_changes_no_answer_after_a_restart(client: WsgiClient) -> None:
    """Each file that is mapped at the start, in turn, with a bit flipped in its middle."""
    paths = ["cards?sort=name&limit=100", "cards?sort=trend&order=desc&limit=100", "identifiers", "watchlist"]
    right = [client.get(API + path).body for path in paths]
    mapped = [path for path in copies_of(client).rglob("*-*.arrow") if not path.name.startswith("extremes-")]
    assert any(path.name.startswith("columns-") for path in mapped)
    for path in mapped:
        whole = path.read_bytes()
        flip(path, len(whole) // 2)
        client.reopen()
        assert [client.get(API + path).body for path in paths] == right
        assert path.read_bytes() == whole, path


def test_a_damaged_copy_that_raises_anything_is_made_again(
    bucket: FailingBucket, client: WsgiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare, fails = OpenBuild.prepare, [SystemError("a damaged file")]

    def fail_once(build: OpenBuild) -> None:
        if fails:
            raise fails.pop()
        prepare(build)

    monkeypatch.setattr(OpenBuild, "prepare", fail_once)
    client.reopen()
    assert client.get(f"{API}cards").status == 200
    assert client.app.extensions["cardpress"].builds.last_error == ""


def test_the_poller_outlives_what_damaged_copies_raise(
    bucket: FailingBucket, client: WsgiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store fails, and so does the last build. When the store is well, the shim answers."""

    def fail(*_: object) -> None:
        raise SystemError("it fails")

    with monkeypatch.context() as patch:
        patch.setattr(build_registry, "live_pointer", fail)
        patch.setattr(OpenBuild, "prepare", fail)
        client.reopen()
        assert client.get(f"{API}cards").status == 500
    until(lambda: client.get(f"{API}cards").status == 200, SECONDS, "it answers")
