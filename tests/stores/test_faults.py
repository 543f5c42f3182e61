"""Between product and S3 server goes wrong what can go wrong: never a wrong or partial read, never "not found"."""

import ssl
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.storage.errors import Conflict, MissingObject, StoreError
from generator.storage.stores.interface import Store
from generator.storage.stores.open import open_store
from tests.support.nginx import certified
from tests.support.programs import needs, require
from tests.support.s3_fixtures import on_s3
from tests.support.s3_proxy import ALWAYS, Proxy
from tests.support.s3_servers import S3Server

pytestmark = [*on_s3, pytest.mark.thorough]

CONTENT = b"what was written " * 1000
PASSING = ("refuse", "slowdown", "reset", "truncate", "lose", "fail")
READS: dict[str, tuple[Callable[[Store], object], object]] = {
    "get": (lambda store: store.get("one"), CONTENT),
    "range": (lambda store: store.get("one", 7, 1000), CONTENT[7:1007]),
    "get_versioned": (lambda store: store.get_versioned("one").data, CONTENT),
    "stat": (lambda store: store.stat("one"), len(CONTENT)),
    "digest": (lambda store: store.digest("one").size, len(CONTENT)),
    "list": (lambda store: list(store.list("")), ["one"]),
}


@pytest.fixture
def store(server: S3Server, proxy: Proxy) -> Store:
    """A store behind the proxy, with one object in it."""
    opened = open_store(f"s3://{server.bucket()}/prefix", timeout_seconds=5)
    opened.put("one", CONTENT)
    return opened


@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_passes_is_not_noticed(store: Store, proxy: Proxy, fault: str) -> None:
    for name, (read, expected) in READS.items():
        proxy.break_next(fault)
        assert read(store) == expected, name
    _write_everything(store, lambda: proxy.break_next(fault))


@pytest.mark.parametrize("fault", ["refuse", "slowdown", "deny", "lose", "reset", "truncate"])
def test_a_fault_that_stays_is_a_failure_of_the_store(store: Store, proxy: Proxy, fault: str) -> None:
    proxy.break_next(fault, ALWAYS)
    for name, (read, _) in READS.items():
        with pytest.raises(StoreError) as caught:
            read(store)
        assert not isinstance(caught.value, MissingObject | Conflict), (name, caught.value)
        assert "\n" not in str(caught.value)
    if fault != "truncate":  # a server that got as far as "200 OK" has written
        _fails_to_write(store)
    proxy.break_next("", 0)
    assert store.get("one") == CONTENT


def _fails_to_write(store: Store) -> None:
    for write in (lambda: store.put("two", b"2"), lambda: store.swap("three", b"3", None), lambda: store.delete(["x"])):
        with pytest.raises(StoreError) as caught:
            write()
        assert not isinstance(caught.value, MissingObject | Conflict), caught.value


def test_wrong_bytes_are_read_again(store: Store, proxy: Proxy) -> None:
    for name in ("get", "get_versioned"):
        read, expected = READS[name]
        proxy.break_next("flip")
        assert read(store) == expected
        proxy.break_next("flip", ALWAYS)
        with pytest.raises(StoreError, match="does not match its hash"):
            read(store)
        proxy.break_next("", 0)


def test_wrong_bytes_on_the_way_in_are_refused(server: S3Server, proxy: Proxy, store: Store) -> None:
    """A body that does not have the MD5 that was sent with it."""
    require("Ceph")  # moto does not look
    client = store._s3.client
    client.meta.events.register("before-sign.s3.PutObject", _spoil)
    with pytest.raises(StoreError, match="BadDigest"):
        store.put("one", b"other")
    assert store.get("one") == CONTENT


def test_a_swap_whose_answer_was_lost_has_won(store: Store, proxy: Proxy) -> None:
    for fault in ("lose", "fail"):
        proxy.break_next(fault, 2)  # every attempt of the client's own, so that only the object can tell
        store.swap(f"new {fault}", b"1", None)
        etag = store.get_versioned(f"new {fault}").etag
        proxy.break_next(fault, 2)
        store.swap(f"new {fault}", b"2", etag)
        proxy.break_next(fault, 2)
        with pytest.raises(Conflict):
            store.swap(f"new {fault}", b"3", etag)
        assert store.get(f"new {fault}") == b"2"


def test_a_slow_answer_is_waited_for_and_a_hung_one_is_not(store: Store, proxy: Proxy) -> None:
    proxy.break_next("delay", 3)
    assert [store.get("one") for _ in range(3)] == [CONTENT] * 3
    hasty = open_store(store.location, timeout_seconds=1.25)
    assert hasty.stat("one") == len(CONTENT)
    begun = time.monotonic()
    proxy.break_next("hang", ALWAYS)
    with pytest.raises(StoreError, match="timeout"):
        hasty.get("one")
    assert time.monotonic() - begun < 20  # boto3 would wait for minutes


@needs("openssl")
def test_over_https(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There boto3 by itself sends checksums behind chunked bodies, which Ceph refuses and others store."""
    certificate, key = certified(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    large = b"in parts " * (8 << 20)
    with Proxy(server.endpoint, context) as between:
        monkeypatch.setenv("AWS_ENDPOINT_URL", between.endpoint)
        monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate))
        store = open_store(f"s3://{server.bucket()}/prefix")
        store.put("one", CONTENT)
        store.put("large", large)
        store.swap("two", b"2", None)
        store.delete(["two"])
        assert list(store.list("")) == ["large", "one"]
        assert (store.get("one"), store.get("large", 9, 9)) == (CONTENT, b"in parts ")
        monkeypatch.delenv("AWS_CA_BUNDLE")
        with pytest.raises(StoreError, match="CERTIFICATE_VERIFY_FAILED"):
            open_store(store.location, timeout_seconds=5).get("one")


@pytest.mark.parametrize("fault", ["deafen", "unknown"])
@pytest.mark.parametrize("server", ["moto"], indirect=True)  # Ceph would find the signature wrong
def test_a_server_without_conditions_is_refused_at_the_first_write(server: S3Server, proxy: Proxy, fault: str) -> None:
    store = open_store(f"s3://{server.bucket()}/prefix")
    proxy.break_next(fault, ALWAYS)
    for write in (lambda: store.put("one", b"1"), lambda: store.swap("a", b"", None)):
        with pytest.raises(StoreError, match="does not honour conditional writes"):
            write()
    proxy.break_next("", 0)
    assert list(store.list("")) == []
    store.put("one", b"1")
    assert list(store.list("")) == ["one"]


def _write_everything(store: Store, breaks: Callable[[], None]) -> None:
    breaks()
    store.put("two", b"2")
    breaks()
    store.swap("three", b"3", None)
    breaks()
    with pytest.raises(Conflict):
        store.swap("three", b"4", None)
    etag = store.get_versioned("three").etag
    breaks()
    store.swap("three", b"5", etag)
    breaks()
    with pytest.raises(Conflict):
        store.swap("three", b"6", etag)
    breaks()
    store.delete(["two"])
    assert (list(store.list("")), store.get("three")) == (["one", "three"], b"5")


def _spoil(request, **_: object) -> None:
    request.data = b"0ther"
