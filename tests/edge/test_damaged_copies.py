"""A shim whose copies of a bucket's builds are damaged, slow, or cannot be made. A folder stands for the bucket."""

from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from edge_auth.live import build_registry
from edge_auth.live.open_build import OpenBuild
from edge_auth.serve import app as serving
from generator.storage.builds import Pointer, live_pointer
from generator.storage.changes import moves
from generator.storage.errors import StoreError
from generator.storage.layout import POINTER, changes_name
from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.service import until
from tests.support.shim_clients import WsgiClient

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


def refuse_layers(name: str) -> None:
    if name.startswith("layers/"):
        raise StoreError("the bucket is away")


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


def test_the_poller_outlives_what_damaged_copies_raise(
    bucket: FailingBucket, client: WsgiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store fails, and so does the last build. When the store is well, the shim answers."""

    def fail(*_: object, **__: object) -> None:
        raise SystemError("it fails")

    with monkeypatch.context() as patch:
        patch.setattr(build_registry, "live_pointer", fail)
        patch.setattr(OpenBuild, "prepare", fail)
        client.reopen()
        assert client.get(f"{API}cards").status == 500
    until(lambda: client.get(f"{API}cards").status == 200, SECONDS, "it answers")


@pytest.mark.parametrize("pattern", ["builds-*/layers/history-*/*/[!i]*", "copies/*"])
def test_a_damaged_copy_that_an_answer_finds_is_replaced(
    bucket: FailingBucket, client: WsgiClient, tmp_path: Path, pattern: str
) -> None:
    """Of the history, which is not read at the start; and of the Cards' lines, which are inflated and stay mapped."""
    path = f"{API}cards/{small_store.products(50)[0]['id_product']}"
    right = WsgiClient(bucket.location, str(tmp_path / "other"), 1_000_000).get(path)
    whole = {found: found.read_bytes() for found in Path(client.settings.state).glob(pattern)}
    assert right.status == 200 and whole
    for found, data in whole.items():
        with found.open("r+b") as file:  # in place: what is mapped changes
            file.write(bytes(byte ^ 1 for byte in data))
    assert client.get(path).status == 500
    until(lambda: client.get(path).body == right.body, SECONDS, "it is replaced")
    assert {found: found.read_bytes() for found in whole} == whole


@pytest.mark.parametrize("asks", [True, False])
def test_copies_that_a_cleaner_took_are_brought_again(
    bucket: FailingBucket, client: WsgiClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asks: bool
) -> None:
    """Those of the whole state folder, which an answer misses first, or the look that is due every minute."""
    path = f"{API}cards/{small_store.products(50)[0]['id_product']}"
    right = WsgiClient(bucket.location, str(tmp_path / "other"), 1_000_000).get(path)
    state = Path(client.settings.state)
    before = {found for found in state.glob("builds-*/layers/**/*") if found.is_file()}
    bucket.before_get = refuse_layers
    if not asks:
        monkeypatch.setattr(build_registry, "_LOOK_SECONDS", 0.0)
    state.rename(tmp_path / "taken")
    assert not asks or client.get(path).status == 500
    until(lambda: client.get("/healthz").json["store"] == "failing", SECONDS, "it says so")
    bucket.before_get = lambda name: None
    monkeypatch.setattr(build_registry, "_REPAIR_SECONDS", 0.0)
    until(lambda: client.get("/healthz").json["store"] == "ok", SECONDS, "they are here again")
    assert client.get(path).body == right.body
    assert before <= {found for found in state.glob("builds-*/layers/**/*") if found.is_file()}
    until(lambda: list(state.glob("live-*")), SECONDS, "nginx reads which build is live")


def test_a_build_that_is_being_copied_is_no_failure(bucket: FailingBucket, tmp_path: Path) -> None:
    client = WsgiClient(bucket.location, str(tmp_path / "state"), 1_000_000, store_seconds=0.2)
    until(lambda: client.get(f"{API}status").status == 200, SECONDS, "it answers")
    old = small_store.add_build(bucket, 20, live=False)
    going_on = Event()
    bucket.before_get = lambda name: going_on.wait(SECONDS) if "layers/" in name else None
    answer = client.get(f"{API}status", x_build=old)
    assert (answer.status, answer.code) == (429, "rate_limited") and int(answer["Retry-After"]) > 0
    going_on.set()
    until(lambda: client.get(f"{API}status", x_build=old).status == 200, SECONDS, "it is copied")


def test_a_build_that_cannot_be_copied_is_not_tried_at_each_poll(
    bucket: FailingBucket, client: WsgiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the registry stands still, and goes on by the pauses."""
    now = 1_000_000.0
    monkeypatch.setattr(build_registry, "monotonic", lambda: now)
    refresh = client.app.extensions["cardpress"].builds.refresh
    before = client.get(f"{API}status").headers["X-Build"]

    def fail(name: str) -> None:
        if "/rows-" in name or name.startswith("layers/sets/"):
            raise StoreError("no space")

    new = small_store.add_build(bucket, 20, live=False)
    bucket.before_get = fail
    bucket.put(POINTER, Pointer(new).to_bytes())
    tries = []
    for pause in (0, 4, 2, 4, 2):
        now += pause
        refresh()
        refresh()
        tries.append(sum(name == f"builds/{new}.json" for name in bucket.read))
        bucket.read.clear()  # here: a poll of the registry's own thread may be the one that tries
    assert [number > 0 for number in tries] == [True, False, True, False, True]
    assert client.get("/healthz").json["store"] == "failing"
    assert client.get(f"{API}status").headers["X-Build"] == before
    bucket.before_get = lambda name: None
    now += 300
    until(lambda: client.get(f"{API}status").headers["X-Build"] == new, SECONDS, "it follows")


def test_no_build_is_unknown_while_the_store_cannot_be_listed(client: WsgiClient, bucket: FailingBucket) -> None:
    whole = bucket.list

    def fail(prefix: str) -> None:
        raise StoreError("it cannot be listed")

    bucket.list = fail  # type: ignore[assignment]
    unknown = [f"{small_store.AS_OF}-{number:012x}" for number in range(30)]
    assert {client.get(f"{API}status", x_build=id_).status for id_ in unknown} == {500}
    bucket.list = whole  # type: ignore[method-assign]
    until(lambda: client.get(f"{API}status", x_build=unknown[0]).status == 400, SECONDS, "it is listed")


def test_a_lost_document_takes_no_other_step_away(bucket: FailingBucket, tmp_path: Path) -> None:
    for products in (20, 21):
        small_store.add_build(bucket, products)
    steps = moves(live_pointer(bucket))
    lost, whole = (Path(bucket.location, changes_name(step.from_, step.to)) for step in steps)
    aside = lost.rename(tmp_path / "aside")
    client = WsgiClient(bucket.location, str(tmp_path / "state"), 1_000_000)
    assert len(client.get(f"{API}changes").json["data"]) == 2
    assert client.get(f"{API}changes/{whole.stem}").status == 200
    assert client.get(f"{API}changes/{lost.stem}").status == 500
    until(lambda: lost.stem in client.log and "are not all copied" in client.log, SECONDS, "it says so")
    aside.rename(lost)
    assert client.get(f"{API}changes/{lost.stem}").body == lost.read_bytes()
