"""Servers with habits: a store works on them, or the first write says which request fails and what to do."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from generator.storage.errors import Conflict, StoreError
from generator.storage.stores import s3
from generator.storage.stores.interface import Store
from generator.storage.stores.open import open_store
from tests.support.s3_fixtures import on_s3
from tests.support.s3_gate import HabitGate
from tests.support.s3_servers import SECRET, S3Server

# Not on Ceph, which checks what the gate changes.
pytestmark = [*on_s3, pytest.mark.parametrize("server", ["moto"], indirect=True), pytest.mark.thorough]

HABITS = ("quoted", "page=2")
BROKEN = {
    "nov2": "trial of list: ",
    "delimiter": "trial of list: ",
    "norange": "trial of read: ",
    "weak": "trial of write: ",
    "gzip": "trial of write: ",
    "nomd5": "trial of write: ",
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
    assert [child.name for child in store.entries("layers/", deep=False)] == ["layers/a/"]
    assert all(entry.size == len(entry.name) * 100 and entry.modified > 1e9 for entry in store.entries("layers/a/"))
    store.swap("one", b"1", None)
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


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_is_lived_with(server: S3Server, gate: Callable[..., HabitGate], habit: str) -> None:
    gate(habit)
    server.client().put_object(Bucket=(bucket := server.bucket()), Key="elsewhere", Body=b"not below the prefix")
    use_everything(open_store(f"s3://{bucket}/prefix"))
    assert [entry["Key"] for entry in server.client().list_objects_v2(Bucket=bucket)["Contents"]] == [
        "elsewhere",
        "prefix/layers/a/0",
    ]


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


def test_rotated_credentials_are_read_again_and_not_at_every_refused_request(
    server: S3Server, gate: Callable[..., HabitGate], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, made, session = tmp_path / "credentials", [], s3.boto3.session.Session
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setattr(s3, "_SECONDS_BETWEEN_SESSIONS", 3600.0)
    monkeypatch.setattr(s3.boto3.session, "Session", lambda: made.append(1) or session())
    file.write_text(f"[default]\naws_access_key_id = first\naws_secret_access_key = {SECRET}\n")
    started, store = gate("key=first"), open_store(f"s3://{server.bucket()}/prefix", timeout_seconds=5)
    store.put("one", b"1")
    started.habits["key"] = "second"
    for _ in range(20):
        with pytest.raises(StoreError, match="does not know this access key"):
            store.get("one")
    assert len(made) == 1
    file.write_text(f"[default]\naws_access_key_id = second\naws_secret_access_key = {SECRET}\n")
    monkeypatch.setattr(s3, "_SECONDS_BETWEEN_SESSIONS", 0.0)  # some seconds later
    for work in (store.get, store.stat, store.get_versioned, lambda name: store.put(name, b"")):
        work("one")
    assert list(store.list("")) == ["one"]
