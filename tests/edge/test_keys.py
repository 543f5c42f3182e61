"""Key records: one object each, which a shim reads when its key is first used, and again when it changed."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from threading import Event

import pytest

from edge_auth.live import background
from edge_auth.live.keyring import Keyring, UsedKeys
from edge_auth.live.log import Log
from generator.reading.ownership import check_modes
from generator.storage.errors import KeyFormatError, OtherVersion, StoreError
from generator.storage.keys import MAX_CHANGES, KeyFile, KeyRecord, digest, issue, open_key_file
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.rate_limits import in_one_window
from tests.support.service import until
from tests.support.shim_clients import WsgiClient

KEYS = "private/keys.json"
LIMIT = 30.0
SOON = 0.05


def added(file: KeyFile, number: int = 1) -> list[KeyRecord]:
    records = [issue(f"user {n}", ("cards:read",), 100, None, n)[1] for n in range(number)]
    for record in records:
        file.add(record)
    return records


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return open_key_file(str(tmp_path / "store"))


@pytest.fixture
def keyring(file: KeyFile) -> Keyring:
    return Keyring(file, Log(), poll_seconds=SOON)


def test_a_key_is_valid_up_to_its_last_second() -> None:
    _, record = issue("n", ("cards:read",), 1, "2030-01-01T12:00:00Z", 0)
    last = datetime(2030, 1, 1, 12, tzinfo=UTC).timestamp()
    assert [record.expired(last + seconds) for seconds in (-1, 0, 0.9, 1)] == [False, False, False, True]


def operator(file: KeyFile) -> KeyFile:
    """The same records in another process."""
    return open_key_file(file.store.location)


def test_commands_change_records(tmp_path: Path, file: KeyFile) -> None:
    records, place = added(file, 30), tmp_path / "store"
    key = run("keys", "issue", "--store", place, "--name", 'a "sha256":"x" name').stdout.strip()
    id_ = f"key_{digest(key)[:12]}"
    run("keys", "update", id_, "--store", place, "--rate-limit", "7")
    run("keys", "revoke", records[7].id, "--store", place)
    listed = json.loads(run("keys", "list", "--json", "--store", place).stdout)
    assert [record["id"] for record in listed] == [*(record.id for record in records), id_]
    assert [record["id"] for record in listed if record["revoked"]] == [records[7].id]
    assert listed[-1]["rate_limit"] == 7
    for wrong in ("key_unknown", "key_", "x", "key_" + "0" * 12, "../keys", records[0].id[:-1]):
        assert "no key has the id" in run("keys", "revoke", wrong, "--store", place, status=1).stderr
    assert (place / "private" / "keys" / digest(key)[:2] / f"{digest(key)}.json").exists()
    assert list(check_modes(FolderStore(str(place)), file)) == []


def test_a_command_that_is_repeated_after_it_ended_early_is_seen(file: KeyFile, keyring: Keyring) -> None:
    [one] = added(file)
    assert keyring.find(one.sha256) == one
    path = Path(file.store.location) / file.object_of(one.sha256)
    path.write_bytes(path.read_bytes().replace(b'"revoked": false', b'"revoked": true'))  # and keys.json is as before
    operator(file).update(one.id, revoked=True)
    until(lambda: keyring.find(one.sha256).revoked, LIMIT, "the key is off")


def test_a_change_is_in_force_and_no_other_record_is_read(
    file: KeyFile, keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = added(file, 40)
    until(lambda: len(keyring.check().latest) == 40, LIMIT, "all are known")
    for record in records:
        assert keyring.find(record.sha256) == record
    read, get = [], file.store.get
    monkeypatch.setattr(file.store, "get", lambda name, *more: (read.append(name), get(name, *more))[1])
    operator(file).update(records[3].id, revoked=True)
    until(lambda: keyring.find(records[3].sha256).revoked, LIMIT, "the key is off")
    [new] = added(operator(file))
    assert keyring.find(new.sha256) == new, "a new key is in force at once"
    assert all(keyring.find(record.sha256) == record for record in records[4:])
    assert set(read) - {KEYS} == {file.object_of(records[3].sha256), file.object_of(new.sha256)}


def test_a_process_that_was_stopped_looks_before_it_answers(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread polls so seldom as if the process stood still. The clock goes on."""
    [one] = added(file)
    keyring, passed = Keyring(file, Log(), poll_seconds=3600), 0.0
    assert keyring.find(one.sha256) == one
    now = background._now
    monkeypatch.setattr(background, "_now", lambda: now() + passed)
    operator(file).update(one.id, revoked=True)
    passed = 4.0
    assert not keyring.find(one.sha256).revoked
    passed = 12.0
    assert keyring.find(one.sha256).revoked, "the first answer"


def test_a_store_that_fails_delays_no_request_of_a_process_that_was_stopped(
    file: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    [one] = added(file)
    keyring = Keyring(file, Log(), poll_seconds=SOON)
    assert keyring.find(one.sha256) == one
    file.store.put(KEYS, b"{")
    keyring._poller.refresh(LIMIT)
    assert keyring.last_error
    now = background._now
    monkeypatch.setattr(background, "_now", lambda: now() + 3600)
    monkeypatch.setattr(background.Poller, "refresh", lambda *_: pytest.fail("a request waits"))
    assert keyring.find(one.sha256) == one


def test_changes_beyond_the_list_are_in_force(file: KeyFile, keyring: Keyring) -> None:
    one, *others = added(file, 3)
    assert keyring.find(one.sha256) == one
    operator(file).update(one.id, rate_limit=9)
    changes = operator(file).changes()
    for _ in range(MAX_CHANGES):
        changes = changes.and_(others[0].sha256)
    file.store.put(KEYS, changes.to_bytes())
    until(lambda: keyring.find(one.sha256).rate_limit == 9, LIMIT, "the new limit")


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b"{}", b"\xff", b'{"format":1,"keys":[]}', b'{"version":"1","changes":[]}',
        b'{"version":1,"changes":["../x"]}', b'{"version":1,"changes":[1]}', b"[" * 5_000_000,
    ],
)  # fmt: skip
def test_a_broken_list_leaves_what_was_used_in_force(file: KeyFile, keyring: Keyring, data: bytes) -> None:
    one, other = added(file, 2)
    assert keyring.find(one.sha256) == one
    file.store.put(KEYS, data)
    until(lambda: keyring.last_error, LIMIT, "the poll fails")
    assert (keyring.find(one.sha256), keyring.find(other.sha256)) == (one, other)
    with pytest.raises((KeyFormatError, OtherVersion), match=f"restore {KEYS}, or move it|cardpress keys import"):
        operator(file).update(one.id, revoked=True)
    file.store.delete([KEYS])
    operator(file).update(one.id, revoked=True)
    until(lambda: keyring.find(one.sha256).revoked, LIMIT, "the key is off")


def test_a_folder_that_is_gone_makes_no_key_unknown(file: KeyFile, keyring: Keyring, tmp_path: Path) -> None:
    used, unused = added(file, 2)
    until(lambda: keyring.check() == operator(file).changes(), LIMIT, "the changes are read")
    assert keyring.find(used.sha256) == used
    Path(file.store.location).rename(tmp_path / "aside")
    with pytest.raises(StoreError, match="restore the folder of the keys"):
        keyring.find(unused.sha256)
    assert keyring.find(used.sha256) == used


@pytest.mark.shim_only("breaks a file under a shim of its own")
def test_a_broken_record_refuses_its_key_alone(store: str, tmp_path: Path) -> None:
    client, file = WsgiClient(store, str(tmp_path / "state"), 100), open_key_file(store)
    key, record = issue("one", ("cards:read",), 100, None, 0)
    file.add(record)
    path = Path(store) / file.object_of(record.sha256)
    path.write_bytes(path.read_bytes()[:-9])
    answer = client.get("/api/v1/me", key=key)
    assert (answer.status, answer.code) == (500, "internal_error")
    assert client.get("/api/v1/me").status == 200
    assert client.get("/api/v1/me", key=issue("unknown", (), 1, None, 0)[0]).status == 401
    assert client.get("/healthz").status == 200
    until(lambda: "cannot be read" in client.log, LIMIT, "the log says so")
    assert "Traceback" not in client.log

    def attempt() -> tuple[set[int], list[int]]:
        begun = int(time.time() // 60)
        statuses = [client.get("/api/v1/me", key=key).status for _ in range(121)]
        return {begun, int(time.time() // 60)}, statuses

    statuses = in_one_window(attempt)
    assert statuses.count(500) in (119, 120) and statuses[-1] == 429, "its requests count by address"


@pytest.mark.shim_only("breaks a file under a shim of its own")
def test_a_pipe_in_the_place_of_a_record_holds_no_thread(store: str, tmp_path: Path) -> None:
    client, file = WsgiClient(store, str(tmp_path / "state"), 100), open_key_file(store)
    key, record = issue("one", ("cards:read",), 100, None, 0)
    path = Path(store) / file.object_of(record.sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        try:
            assert pool.submit(client.get, "/api/v1/me", key=key).result(LIMIT).status == 500
        finally:  # a reader that waits goes on
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
    assert "is no plain file" in run("keys", "list", "--store", store, status=1).stderr


class Away(FolderStore):
    """A store across a network: without files, with a record of what is asked, and sometimes out of reach."""

    def __init__(self, location: str):
        super().__init__(location)
        self.asked: list[str] = []
        self.is_down = False
        self.going_on = Event()
        self.going_on.set()
        self.reading = Event()

    def _ask(self, name: str) -> None:
        if name != KEYS:
            self.asked.append(name)
            self.reading.set()
            self.going_on.wait(60)
        if self.is_down:
            raise StoreError("the network is down")

    def local_path(self, name: str) -> None:
        return None

    def get(self, name: str, *more: int) -> bytes:
        self._ask(name)
        return super().get(name, *more)

    def list(self, prefix: str) -> Iterator[str]:
        self._ask(prefix)
        return super().list(prefix)


class Machine:
    """A machine whose shims read keys across a network."""

    def __init__(self, file: KeyFile, folder: Path):
        self.away, self.folder = Away(file.store.location), FolderStore(str(folder), private=True)

    def shim(self, poll_seconds: float = SOON) -> Keyring:
        ring = Keyring(KeyFile(self.away, KEYS), Log(), UsedKeys(self.folder), poll_seconds)
        ring.check()
        return ring


@pytest.fixture
def machine(file: KeyFile, tmp_path: Path) -> Machine:
    return Machine(file, tmp_path / "copies")


def test_a_record_across_a_network_is_read_once_by_a_machine(file: KeyFile, machine: Machine) -> None:
    one, other = added(file, 2)
    for _ in range(3):
        assert machine.shim().find(one.sha256) == one
    assert machine.away.asked == [file.object_of(one.sha256)]
    copy = machine.folder.root / file.object_of(one.sha256)
    assert copy.stat().st_mode & 0o777 == 0o600
    copy.write_bytes(copy.read_bytes()[:50])  # a power cut
    assert machine.shim().find(one.sha256) == one
    operator(file).update(one.id, rate_limit=9)
    assert machine.shim().find(one.sha256).rate_limit == 9
    assert machine.shim().find(other.sha256) == other
    assert len(machine.away.asked) == 4


def test_all_shims_of_a_machine_follow_a_change(file: KeyFile, machine: Machine) -> None:
    one, other = added(file, 2)
    shims = [machine.shim() for _ in range(3)]
    assert {shim.find(record.sha256) for shim in shims for record in (one, other)} == {one, other}
    operator(file).update(one.id, revoked=True)
    for shim in shims:
        until(lambda shim=shim: shim.find(one.sha256).revoked, LIMIT, "the key is off")
    assert all(shim.find(other.sha256) == other for shim in shims)
    assert len(machine.away.asked) <= 5, "a copy of the one that did not change is kept"


def test_a_record_that_changes_while_it_is_read_is_not_kept(file: KeyFile, machine: Machine) -> None:
    [one] = added(file)
    shim = machine.shim()
    machine.away.going_on.clear()
    data = machine.away.root / file.object_of(one.sha256)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(shim.find, one.sha256)
        assert machine.away.reading.wait(60)
        old = data.read_bytes()
        operator(file).update(one.id, revoked=True)
        until(lambda: len(shim.check().latest) == 2, LIMIT, "the change is known")
        new = data.read_bytes()
        data.write_bytes(old)  # what the reader gets was sent before the change
        machine.away.going_on.set()
        assert reading.result(60) == one
        data.write_bytes(new)
    assert shim.find(one.sha256).revoked
    assert machine.shim().find(one.sha256).revoked


def test_an_outage_changes_nothing_for_keys_that_were_used(file: KeyFile, machine: Machine) -> None:
    one, other = added(file, 2)
    shim = machine.shim()
    assert shim.find(one.sha256) == one
    machine.away.is_down = True
    until(lambda: shim.last_error, LIMIT, "the poll fails")
    assert shim.find(one.sha256) == one
    asked = len(machine.away.asked)
    for unknown in (other.sha256, "0" * 64):
        with pytest.raises(StoreError):
            shim.find(unknown)
    assert len(machine.away.asked) == asked, "nothing waits for it"
    machine.away.is_down = False
    until(lambda: not shim.last_error, LIMIT, "the poll succeeds")
    assert shim.find(other.sha256) == other


def test_a_flood_of_wrong_keys_costs_little_and_refuses_no_right_one(file: KeyFile, machine: Machine) -> None:
    old = added(file, 20)
    shim = machine.shim(1.0)
    begun = time.monotonic()
    for number in range(3000):
        assert shim.find(digest(str(number))) is None
    allowed = 20 + 11 * (time.monotonic() - begun) + 256
    assert len(machine.away.asked) <= allowed
    assert all(shim.find(record.sha256) == record for record in old)
    [new] = added(operator(file))
    until(lambda: shim.find(new.sha256) == new, 2, "a new key, which the flood cannot hide")


def test_a_full_disk_hides_no_change(file: KeyFile, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = added(file, 2)
    shim = machine.shim()
    assert shim.find(one.sha256) == one

    def full(*_: object) -> None:
        raise StoreError("no space left")

    monkeypatch.setattr(machine.folder, "put", full)
    operator(file).update(one.id, revoked=True)
    until(lambda: shim.find(one.sha256).revoked, LIMIT, "the key is off")
    assert shim.find(other.sha256) == other
    assert not (machine.folder.root / KEYS).exists(), "nginx uses no record that it has read"
    assert machine.shim().find(one.sha256).revoked


@pytest.mark.parametrize("stuck", ["list", "record"])
def test_copies_that_cannot_be_deleted_are_not_used(
    file: KeyFile, machine: Machine, monkeypatch: pytest.MonkeyPatch, stuck: str
) -> None:
    one, other = added(file, 2)
    shim, delete = machine.shim(), machine.folder.delete
    assert (shim.find(one.sha256), shim.find(other.sha256)) == (one, other)
    names = {"list": KEYS, "record": file.object_of(one.sha256)}

    def delete_until_stuck(found: Iterable[str]) -> None:
        delete(takewhile(lambda name: name != names[stuck], found))
        raise StoreError("read-only file system")

    monkeypatch.setattr(machine.folder, "delete", delete_until_stuck)
    operator(file).update(one.id, revoked=True)
    for each in (shim, machine.shim()):
        until(lambda each=each: each.find(one.sha256).revoked, LIMIT, "the key is off")
        assert each.last_error.endswith("read-only file system")
        assert each.find(other.sha256) == other
    assert (machine.folder.root / KEYS).exists() == (stuck == "list"), "nginx uses no copy without the list"
    monkeypatch.undo()
    until(lambda: not shim.last_error, LIMIT, "the copies follow again")
    asked = len(machine.away.asked)
    assert machine.shim().find(one.sha256).revoked
    assert machine.shim().find(one.sha256).revoked
    assert len(machine.away.asked) <= asked + 1, "a copy is used again"


@pytest.mark.shim_only("changes how this process reads keys")
def test_a_key_that_is_being_read_delays_no_other(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, record = issue("one", ("cards:read",), 100, None, 0)
    open_key_file(store).add(record)
    away = Away(store)
    copies = UsedKeys(FolderStore(str(tmp_path / "copies"), private=True))
    monkeypatch.setattr("edge_auth.serve.app._keyring", lambda *_: Keyring(KeyFile(away, KEYS), Log(), copies))
    client = WsgiClient(store, str(tmp_path / "state"), 100)
    assert client.get("/api/v1/me").status == 200
    away.reading.clear()
    away.going_on.clear()
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(client.get, "/api/v1/me", key=key)
        assert away.reading.wait(60)
        try:
            assert pool.submit(client.get, "/api/v1/me").result(10).status == 200
            assert not waiting.done()
        finally:
            away.going_on.set()
        assert waiting.result(60).status == 200
