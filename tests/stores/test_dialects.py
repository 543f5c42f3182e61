"""Servers with habits: a store works on them, or the first write says which request fails and what to do."""

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from edge_auth.errors import Conflict, StoreError
from edge_auth.store import s3_client
from edge_auth.store.interface import Store
from edge_auth.store.open import open_store
from edge_auth.store.remedies import REMEDIES
from tests.support.ports import free_port
from tests.support.programs import needs
from tests.support.s3_fixtures import on_s3
from tests.support.s3_gate import HabitGate
from tests.support.s3_servers import OWNER, SECRET, S3Server
from tests.support.selection import mostly_thorough
from tests.support.service import until

pytestmark = [
    *on_s3,
    pytest.mark.parametrize("server", ["moto"], indirect=True),
    pytest.mark.thorough,
]  # Ceph checks what the gate changes

HABITS = ("md5", "nobatch", "quoted", "metacase", "page=2")
BROKEN = {
    "nov2": "trial of list: ",
    "delimiter": "trial of list: ",
    "norange": "trial of read: ",
    "weak": "trial of write: ",
    "gzip": "trial of write: ",
    "nomd5": "trial of write: ",
    "deafbatch": "trial of delete: ",
}


@pytest.fixture
def gate(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., HabitGate]]:
    """Start a server with habits, and point boto3 to it."""
    with ExitStack() as stack:

        def start(*habits: str) -> HabitGate:
            started = stack.enter_context(HabitGate(server.endpoint, *habits))
            monkeypatch.setenv("AWS_ENDPOINT_URL", started.endpoint)
            return started

        yield start


def use_everything(store: Store) -> None:
    """Use a store as a build, a publish and a prune do."""
    names = [f"layers/a/{number}" for number in range(5)]
    for name in names:
        store.put(name, name.encode() * 100)
    assert [store.get(name, 3, 5) for name in names] == [(name.encode() * 100)[3:8] for name in names]
    assert store.get(names[0]) == names[0].encode() * 100
    assert list(store.list("layers/a/")) == names
    assert [child.name for child in store.children("layers/")] == ["layers/a/"]
    assert all(entry.size == len(entry.name) * 100 and entry.modified > 1e9 for entry in store.entries("layers/a/"))
    assert store.put_new("one", b"1") and not store.put_new("one", b"2")
    tag = store.get_versioned("one").etag
    store.swap("one", b"3", tag)
    with pytest.raises(Conflict):
        store.swap("one", b"4", tag)
    with pytest.raises(Conflict):
        store.swap("one", b"4", None)
    assert (store.get("one"), store.stat("one"), store.stat("other")) == (b"3", 1, None)
    store.delete([*names[1:], "absent"])
    store.delete(["one"])
    store.delete(["one"])
    assert list(store.list("")) == names[:1]


@pytest.mark.parametrize("habit", mostly_thorough(HABITS, "nobatch", "page=2"))
def test_a_habit_is_lived_with(server: S3Server, gate: Callable[..., HabitGate], habit: str) -> None:
    gate(habit)
    server.client().put_object(Bucket=(bucket := server.bucket()), Key="elsewhere", Body=b"not below the prefix")
    use_everything(open_store(f"s3://{bucket}/prefix"))
    assert [entry["Key"] for entry in server.client().list_objects_v2(Bucket=bucket)["Contents"]] == [
        "elsewhere",
        "prefix/layers/a/0",
    ]


def test_what_a_server_refuses_is_not_asked_again(server: S3Server, gate: Callable[..., HabitGate]) -> None:
    started, store = gate("nobatch"), open_store(f"s3://{server.bucket()}/prefix")
    store.put("x", b"")
    seen = len(started.requests)
    for _ in range(3):
        store.delete(["a", "b"])
    assert [line.split()[0] for line in started.requests[seen:]] == ["DELETE"] * 6


@pytest.mark.parametrize("habit", BROKEN)
def test_a_server_that_breaks_a_rule_is_refused_at_the_first_write(
    server: S3Server, gate: Callable[..., HabitGate], habit: str
) -> None:
    gate(habit)
    store = open_store(f"s3://{server.bucket()}/prefix")
    with pytest.raises(StoreError, match=BROKEN[habit]) as caught:
        store.put("x", b"")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("habit", ["notoken", "sametoken"])
def test_a_listing_without_an_end_is_one_clear_line(
    server: S3Server, gate: Callable[..., HabitGate], habit: str
) -> None:
    started, store = gate(), open_store(f"s3://{server.bucket()}/prefix")
    for number in range(5):
        store.put(f"a/{number}", b"")
    started.habits |= {"page": "2", habit: ""}
    with pytest.raises(StoreError, match="cut the listing off"):
        list(store.list("a/"))


@pytest.fixture
def credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: S3Server) -> Callable[[str], None]:
    """Write the credentials of the default profile."""
    file = tmp_path / "credentials"
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))

    def write(key: str) -> None:
        file.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = {SECRET}\n")

    return write


def test_rotated_credentials_are_read_again(
    server: S3Server,
    gate: Callable[..., HabitGate],
    credentials: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    credentials("first")
    started, store = gate("key=first"), open_store(f"s3://{server.bucket()}/prefix", timeout_seconds=5)
    store.put("one", b"1")
    started.habits["key"] = "second"
    with pytest.raises(StoreError, match="does not know this access key"):
        store.get("one")
    credentials("second")
    monkeypatch.setattr(s3_client, "_SECONDS_BETWEEN_SESSIONS", 0.0)
    store._bucket._s3._next_session = 0.0  # some seconds later
    for work in (
        store.get,
        store.stat,
        store.get_versioned,
        lambda _: list(store.list("")),
        lambda n: store.put(n, b""),
    ):
        work("one")


def test_sessions_are_not_made_for_every_refused_request(
    server: S3Server,
    gate: Callable[..., HabitGate],
    credentials: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    credentials("first")
    gate("key=second")
    store, made = open_store(f"s3://{server.bucket()}/prefix", timeout_seconds=5), []
    session = s3_client.boto3.session.Session
    monkeypatch.setattr(s3_client.boto3.session, "Session", lambda: made.append(1) or session())
    monkeypatch.setattr(s3_client, "_SECONDS_BETWEEN_SESSIONS", 3600.0)
    for _ in range(20):
        with pytest.raises(StoreError):
            store.get("one")
    assert len(made) == 2  # the first one, and one look


def test_a_token_that_is_renewed_late_is_waited_for(
    server: S3Server, gate: Callable[..., HabitGate], monkeypatch: pytest.MonkeyPatch
) -> None:
    started, store = gate(), open_store(f"s3://{server.bucket()}/prefix")
    store.put("one", b"1")
    started.habits["expired"] = ""
    monkeypatch.setattr(s3_client.time, "sleep", lambda _: started.habits.pop("expired", None))
    assert store.get("one") == b"1"


@pytest.mark.parametrize(
    ("habit", "code"),
    [("key=other", "InvalidAccessKeyId"), ("skewed", "RequestTimeTooSkewed"), ("expired", "ExpiredToken")],
)
def test_the_remedy_is_that_of_the_code(
    server: S3Server, gate: Callable[..., HabitGate], habit: str, code: str
) -> None:
    gate(habit)
    store = open_store(f"s3://{server.bucket()}/prefix", timeout_seconds=1)
    for work in (
        lambda: store.put("x", b""),
        lambda: store.get("x"),
        lambda: list(store.list("")),
        lambda: store.stat("x"),
    ):
        with pytest.raises(StoreError) as caught:
            work()
        assert REMEDIES[code] in str(caught.value) and code in str(caught.value)
        assert "s3:GetObject" not in str(caught.value)


def test_a_code_without_a_remedy_is_told_with_its_text(server: S3Server, gate: Callable[..., HabitGate]) -> None:
    gate("odd")
    store = open_store(f"s3://{server.bucket()}/prefix", timeout_seconds=1)
    with pytest.raises(StoreError, match=r"OddWeather \(400\).*: said of OddWeather$") as caught:
        store.get("x")
    assert "grant" not in str(caught.value) and OWNER not in str(caught.value)


@needs("Squid")
def test_requests_go_through_the_proxy_of_the_environment(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)  # Squid has a user of its own
        (folder / "squid.conf").write_text(
            f"http_port 127.0.0.1:{port}\nhttp_access allow all\naccess_log stdio:{folder}/access\ncache deny all\n"
            f"pid_filename {folder}/pid\ncache_log {folder}/log\nshutdown_lifetime 0 seconds\n"
        )
        process = subprocess.Popen(["squid", "-N", "-n", f"proxy{port}", "-f", str(folder / "squid.conf")])
        try:
            until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, 30, "Squid listens")
            monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
            monkeypatch.setenv("NO_PROXY", "")
            store = open_store(f"s3://{server.bucket()}")
            use_everything(store)
            store.put("large", bytes(20 << 20))
        finally:
            process.terminate()
            process.wait(30)
        methods = {line.split()[5] for line in (folder / "access").read_text().splitlines()}
    assert methods >= {"GET", "PUT", "HEAD", "POST", "DELETE"}
