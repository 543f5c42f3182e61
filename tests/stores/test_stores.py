"""What every store does: one suite over folders and S3 servers."""

import hashlib
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from generator.clock import utc_now
from generator.reading.doctor import check_writing
from generator.storage.errors import Conflict, MissingObject, StoreError
from generator.storage.keys import SCOPES, issue, open_key_file
from generator.storage.stores.interface import Store
from generator.storage.stores.open import open_store
from tests.support.programs import require
from tests.support.s3_fixtures import on_s3
from tests.support.s3_servers import READER, S3Server

pytestmark = on_s3

WRITERS = 8
ROUNDS = 12


@pytest.fixture
def store(location: str) -> Store:
    return open_store(location)


Race = Callable[[Callable[[int], object]], list]


@pytest.fixture
def race(request: pytest.FixtureRequest, location: str) -> Race:
    """Return a function that lets writers go at one moment. Moto, which writes in two steps, is not asked."""
    if request.node.callspec.params["location"] == "moto":
        require("Ceph")
        pytest.skip("moto compares and writes in two steps")
    return _at_once


def _at_once(work: Callable[[int], object]) -> list:
    """Return what `work` gave to each of the writers."""
    start = Barrier(WRITERS)

    def run(number: int) -> object:
        start.wait(30)
        return work(number)

    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(run, range(WRITERS)))


def test_what_is_written_is_read(store: Store) -> None:
    store.put("layers/a/one", b"hello")
    assert store.get("layers/a/one") == b"hello"
    assert [store.get("layers/a/one", *span) for span in ((1, 3), (2,), (4, 1), (0, 0))] == [b"ell", b"llo", b"o", b""]
    assert store.get_versioned("layers/a/one").data == b"hello"
    assert store.stat("layers/a/one") == 5
    store.put("layers/a/one", b"")
    assert (store.get("layers/a/one"), store.stat("layers/a/one")) == (b"", 0)


def test_what_is_not_there(store: Store) -> None:
    store.put("there", b"1")
    assert store.stat("not") is None
    assert store.digest("not") is None
    assert store.get_versioned("not") is None
    assert list(store.list("not/")) == []
    for span in ((), (3, 2), (0, 0)):
        with pytest.raises(MissingObject):
            store.get("not", *span)
    store.delete(["not"])


@pytest.mark.thorough
def test_a_range_past_the_end(store: Store) -> None:
    store.put("one", b"hello")
    for span in ((3, 3), (5, 1), (100, 2)):
        with pytest.raises(StoreError) as caught:
            store.get("one", *span)
        assert not isinstance(caught.value, MissingObject)


def test_names(store: Store) -> None:
    names = ["a b", "ü/é", "q%2Fr", "plus+and&", "x/y/z", "quote'd", "x" * 200]
    for name in names:
        store.put(f"odd/{name}", name.encode())
    store.put("oddly", b"")
    assert sorted(store.list("odd/")) == sorted(f"odd/{name}" for name in names)
    assert [store.get(f"odd/{name}") for name in names] == [name.encode() for name in names]
    store.delete(f"odd/{name}" for name in names)
    assert list(store.list("")) == ["oddly"]


def test_entries_say_how_large_and_how_old(store: Store) -> None:
    before = time.time()
    for name, data in (("a/one", b"1"), ("a/two", b"22"), ("a.json", b"333"), ("a.json.more", b"")):
        store.put(name, data)
    found = [*store.entries("a/"), *store.entries("a.json"), *store.entries("b/"), *store.entries("b")]
    assert [(entry.name, entry.size) for entry in found] == [("a/one", 1), ("a/two", 2), ("a.json", 3)]
    assert all(before - 2 < entry.modified < time.time() + 2 for entry in found)
    assert list(store.leftovers()) == []


def test_digests_are_those_of_the_content(store: Store) -> None:
    data = os.urandom(1000)
    store.put("one", data)
    found = store.digest("one")
    assert found is None or found[:2] == (1000, hashlib.sha256(data).hexdigest())


def test_compare_and_swap(store: Store) -> None:
    store.swap("one", b"first", None)
    first = store.get_versioned("one")
    store.swap("one", b"second", first.etag)
    for etag in (first.etag, None, "0" * 32):
        with pytest.raises(Conflict):
            store.swap("one", b"third", etag)
    with pytest.raises(Conflict):
        store.swap("gone", b"third", first.etag)
    assert (store.get("one"), store.stat("gone")) == (b"second", None)


@pytest.mark.thorough
def test_one_of_many_swaps(store: Store, race: Race) -> None:
    """The first round creates the object."""
    for number in range(ROUNDS):
        before = store.get_versioned("pointer")
        etag = before.etag if before else None

        def swap(writer: int, number: int = number, etag: str | None = etag) -> bool:
            try:
                store.swap("pointer", b"%d by %d" % (number, writer), etag)
            except Conflict:
                return False
            return True

        won = race(swap)
        assert won.count(True) == 1
        assert store.get("pointer") == b"%d by %d" % (number, won.index(True))


def test_no_key_is_lost_between_operators(location: str, race: Race) -> None:
    """Several operators issue and revoke keys at once. No change is lost."""
    issued = [issue(f"operator {number}", SCOPES, 120, None, 0)[1] for number in range(WRITERS)]
    file = open_key_file(location)
    race(lambda writer: file.add(issued[writer]))
    race(lambda writer: file.update(issued[writer].id, revoked=True))
    records = file.records()
    assert sorted(record.id for record in records) == sorted(record.id for record in issued)
    assert all(record.revoked for record in records)


def test_a_key_is_added_once_though_the_answer_was_lost(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another operator changes the records before the writer can see whose write won."""
    one, other = (issue(name, SCOPES, 120, None, 0)[1] for name in ("one", "other"))
    file = open_key_file(location)
    swap = file.store.swap

    def loses_its_answer(*written: object) -> None:
        monkeypatch.setattr(file.store, "swap", swap)
        swap(*written)
        open_key_file(location).add(other)
        raise Conflict("another writer changed it")

    monkeypatch.setattr(file.store, "swap", loses_its_answer)
    file.add(one)
    assert sorted(record.name for record in file.records()) == ["one", "other"]
    assert {one.sha256, other.sha256} == set(file.changes().latest)


def test_readers_never_see_half_a_write(store: Store, race: Race) -> None:
    contents = [bytes([letter]) * (200_000 + letter) for letter in b"abcdef"]
    store.put("one", contents[0])

    def work(number: int) -> bool:
        if number < 2:
            for content in contents:
                store.put("one", content)
            return True
        return all(store.get("one") in contents for _ in range(6))

    assert all(race(work))


@pytest.mark.parametrize("said", ["no such bucket", r"127\.0\.0\.1:9"])
def test_a_bucket_or_endpoint_that_is_not_there(server: S3Server, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    if said != "no such bucket":
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    store = open_store("s3://no-such-bucket-at-all/prefix", timeout_seconds=5)
    for work in (store.stat, store.get, store.get_versioned, lambda _: list(store.list(""))):
        with pytest.raises(StoreError, match=said) as caught:
            work("anything")
        assert not isinstance(caught.value, MissingObject)
    with pytest.raises(StoreError, match=said):
        store.swap("anything", b"", None)


def test_wrong_credentials(servers, monkeypatch: pytest.MonkeyPatch) -> None:
    ceph = servers("ceph")
    for name, value in (ceph.environment() | {"AWS_SECRET_ACCESS_KEY": "wrong"}).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StoreError, match=r"access denied.*check the credentials"):
        open_store(f"s3://{ceph.bucket()}").get("anything")


def test_who_may_not_list_is_told_so(servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without s3:ListBucket a missing object is a 403, which is not an answer."""
    ceph = servers("ceph")
    bucket = ceph.bucket()
    ceph.client().put_object(Bucket=bucket, Key="there", Body=b"1")
    allowed = f'"Action": "s3:GetObject", "Resource": "arn:aws:s3:::{bucket}/*"'
    who = f'"Effect": "Allow", "Principal": {{"AWS": ["arn:aws:iam:::user/{READER}"]}}'
    policy = f'{{"Version": "2012-10-17", "Statement": [{{{who}, {allowed}}}]}}'
    ceph.client().put_bucket_policy(Bucket=bucket, Policy=policy)
    ceph.enter(monkeypatch, READER)
    store = open_store(f"s3://{bucket}")
    assert store.get("there") == b"1"
    for work in (store.get, store.stat, store.get_versioned):
        with pytest.raises(StoreError, match="s3:ListBucket") as caught:
            work("missing")
        assert not isinstance(caught.value, MissingObject)


def test_locations() -> None:
    assert open_store("s3://bucket/some/prefix/").location == "s3://bucket/some/prefix"
    assert open_store("s3://bucket").location == "s3://bucket"
    for wrong in ("s3://", "s3:///prefix", "s3:/", "gs://bucket", "http://127.0.0.1/"):
        with pytest.raises(StoreError, match=wrong):
            open_store(wrong)


@pytest.mark.thorough
def test_the_doctor_probes_and_leaves_nothing(location: str) -> None:
    store = open_store(location)
    store.put("private/other", b"stays")
    levels = {finding.check: finding.level for finding in check_writing(location, utc_now)}
    assert levels == {"writing": "ok", "clock": "ok"}
    assert list(store.list("")) == ["private/other"]
