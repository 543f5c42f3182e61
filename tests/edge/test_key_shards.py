"""Keys by the million: their records are in shards, of which a shim reads those that it is asked for."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from threading import Event

import pytest

from edge_auth.errors import KeyFormatError, StoreError
from edge_auth.live.key_file import MAX_BYTES, KeyFile, KeyList, open_key_file
from edge_auth.live.keyring import Keyring
from edge_auth.live.keys import KeyRecord, digest, issue
from edge_auth.live.log import Log
from edge_auth.live.metrics import Metrics
from edge_auth.live.poller import Poller
from edge_auth.store.folder import FolderStore
from edge_auth.store.interface import Store
from generator.commands.serve import take_over_keys
from generator.reading.doctor.modes import check_modes
from tests.support.commands import run
from tests.support.service import until
from tests.support.wsgi import WsgiClient

KEYS = "private/keys.json"
RECORDS = 1500
LIMIT = 30.0


def old_list(place: Path, number: int = RECORDS) -> list[tuple[str, KeyRecord]]:
    """Write the list of a store from before there were shards, with ids that do not tell the shard."""
    issued = [issue(f"user {n}", ("cards:read",), 100, None, 0) for n in range(number)]
    records = [asdict(record) | {"id": f"key_{n:012x}"} for n, (_, record) in enumerate(issued)]
    (place / "private").mkdir(mode=0o700, parents=True)
    (place / KEYS).write_text(json.dumps({"format": 1, "keys": records}, indent=1))
    return [(key, KeyRecord.from_fields(fields)) for (key, _), fields in zip(issued, records, strict=True)]


@pytest.fixture
def old(tmp_path: Path) -> list[tuple[str, KeyRecord]]:
    return old_list(tmp_path)


@pytest.fixture
def file(tmp_path: Path, old: list[tuple[str, KeyRecord]]) -> KeyFile:
    """Of a store whose list was taken over."""
    file = open_key_file(str(tmp_path))
    file.take_over()
    return file


@pytest.fixture
def keyring(file: KeyFile) -> Iterator[Keyring]:
    ring = Keyring(file, Log(), Metrics(), poll_seconds=0.05)
    ring.find("0" * 64)
    yield ring


def test_a_long_list_is_taken_over(tmp_path: Path, old: list[tuple[str, KeyRecord]]) -> None:
    records = [record for _, record in old]
    assert (tmp_path / KEYS).stat().st_size > MAX_BYTES
    file = open_key_file(str(tmp_path))
    assert file.is_long()
    assert file.records() == records
    _, new = issue("new", ("cards:read",), 5, None, 0)
    file.add(new)
    assert not file.is_long()
    assert json.loads((tmp_path / KEYS).read_text())["format"] == 2
    assert file.records() == [*records, new]
    assert file.find(new.sha256) == new
    assert list(check_modes(FolderStore(str(tmp_path)), file)) == []


def test_a_short_list_stays_one_file(tmp_path: Path) -> None:
    old_list(tmp_path, 10)
    file = open_key_file(str(tmp_path))
    file.add(issue("new", ("cards:read",), 5, None, 0)[1])
    assert len(json.loads((tmp_path / KEYS).read_text())["keys"]) == 11
    assert [path.name for path in (tmp_path / "private").iterdir()] == ["keys.json"]


@pytest.mark.thorough
def test_a_starting_shim_takes_a_long_list_over(tmp_path: Path, old: list[tuple[str, KeyRecord]], capsys) -> None:
    take_over_keys(str(tmp_path), None)
    assert "into shards" in capsys.readouterr().err
    assert open_key_file(str(tmp_path)).records() == [record for _, record in old]
    take_over_keys(str(tmp_path), None)
    assert capsys.readouterr().err == ""


def test_commands_change_keys_in_shards(tmp_path: Path, file: KeyFile, old: list[tuple[str, KeyRecord]]) -> None:
    key = run("keys", "issue", "--store", tmp_path, "--name", 'a "sha256":"x" name').stdout.strip()
    id_ = file.find(digest(key)).id
    run("keys", "update", id_, "--store", tmp_path, "--rate-limit", "7")
    run("keys", "revoke", old[700][1].id, "--store", tmp_path)
    listed = json.loads(run("keys", "list", "--json", "--store", tmp_path).stdout)
    assert [record["id"] for record in listed] == [record.id for _, record in old] + [id_]
    assert [record["id"] for record in listed if record["revoked"]] == [old[700][1].id]
    assert listed[-1]["rate_limit"] == 7
    assert "no key has the id" in run("keys", "revoke", "key_unknown", "--store", tmp_path, status=1).stderr


def test_a_change_is_in_force_and_another_shard_is_not_read(
    file: KeyFile, keyring: Keyring, old: list[tuple[str, KeyRecord]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _, record in old[:100]:
        assert keyring.find(record.sha256) == record
    read, get = [], file.store.get
    monkeypatch.setattr(file.store, "get", lambda name, *more: (read.append(name), get(name, *more))[1])
    one = old[3][1]
    open_key_file(file.store.location).update(one.id, revoked=True)
    until(lambda: keyring.find(one.sha256).revoked, LIMIT, "the key is off")
    _, new = issue("new", ("cards:read",), 5, None, 0)
    open_key_file(file.store.location).add(new)
    until(lambda: keyring.find(new.sha256) == new, LIMIT, "the new key is in force")
    assert all(keyring.find(record.sha256) == record for _, record in old[4:100])
    shards = {name.split("/")[2] for name in read if name != KEYS}
    assert shards <= {one.sha256[:3], new.sha256[:3]}


@pytest.mark.thorough
def test_records_stay_in_force_while_a_changed_shard_cannot_be_read(
    file: KeyFile, keyring: Keyring, old: list[tuple[str, KeyRecord]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = old[3][1]
    assert keyring.find(one.sha256) == one
    broken = True

    def get(name: str, *more: int) -> bytes:
        if broken and name != KEYS:
            raise StoreError("the store fails")
        return FolderStore.get(file.store, name, *more)

    monkeypatch.setattr(file.store, "get", get)
    open_key_file(file.store.location).update(one.id, rate_limit=9)
    until(lambda: keyring.last_error, LIMIT, "the poll fails")
    assert keyring.find(one.sha256) == one
    broken = False
    until(lambda: keyring.find(one.sha256).rate_limit == 9, LIMIT, "the new limit")


@pytest.mark.thorough
def test_files_that_are_named_no_more_are_kept_for_an_hour(tmp_path: Path, file: KeyFile) -> None:
    _, record = issue("new", ("cards:read",), 5, None, 0)
    folder = tmp_path / "private" / "keys" / record.sha256[:3]
    file.add(record)
    for rate_limit in (2, 3, 4):
        file.update(record.id, rate_limit=rate_limit)
    kept = set(folder.iterdir())
    assert len(kept) in (4, 5)  # with the one of the list, if the shard had keys
    for path in kept:
        os.utime(path, (0, 0))
    file.update(record.id, rate_limit=9)
    assert len(set(folder.iterdir())) == 1
    assert file.find(record.sha256).rate_limit == 9


def test_a_remembered_record_of_the_oldest_goes(
    file: KeyFile, keyring: Keyring, old: list[tuple[str, KeyRecord]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edge_auth.live.keyring._MAX_REMEMBERED", 50)
    for _ in range(2):
        assert all(keyring.find(record.sha256) == record for _, record in old[:200])
    assert len(keyring._remembered) <= 50


class Away:
    """A store across a network: without files."""

    def __init__(self, store: Store):
        self._store, self.read = store, []

    def local_path(self, name: str) -> None:
        return None

    def get(self, name: str) -> bytes:
        self.read.append(name)
        return self._store.get(name)

    def __getattr__(self, name: str):
        return getattr(self._store, name)


@pytest.mark.thorough
def test_a_shard_from_a_network_is_read_once(tmp_path: Path, file: KeyFile, old: list[tuple[str, KeyRecord]]) -> None:
    copies, one = FolderStore(str(tmp_path / "copies"), private=True), old[3][1]
    shard = one.sha256[:3]
    token = file.read_list().shards[shard]
    away = Away(file.store)
    for _ in range(3):
        assert Keyring(KeyFile(away, KEYS, copies), Log(), Metrics()).find(one.sha256) == one
    assert away.read == [f"private/keys/{shard}/{token}.jsonl"]
    copy = tmp_path / "copies" / "private" / "keys" / shard / f"{token}.jsonl"
    copy.write_bytes(copy.read_bytes()[:100])  # a power cut
    assert Keyring(KeyFile(away, KEYS, copies), Log(), Metrics()).find(one.sha256) == one
    file.update(one.id, rate_limit=9)
    assert Keyring(KeyFile(away, KEYS, copies), Log(), Metrics()).find(one.sha256).rate_limit == 9
    assert len(list(copy.parent.iterdir())) == 1


@pytest.mark.shim_only("changes how this process reads keys")
@pytest.mark.parametrize(("is_known", "read"), [(True, (KeyFile, "shard")), (False, (Poller, "refresh"))])
def test_a_key_that_is_being_read_delays_no_other(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_known: bool, read: tuple[type, str]
) -> None:
    """The keys are across a network, where the read of a shard or of the list takes as long as the test likes."""
    [(key, _), *_] = old_list(Path(store))
    if not is_known:
        key, _ = issue("unknown", (), 1, None, 0)
    open_key_file(store).take_over()
    client, reading, going_on = WsgiClient(store, str(tmp_path / "state"), 100), Event(), Event()
    assert client.get("/api/v1/me").status == 200
    monkeypatch.setattr(*read, lambda *_: (reading.set(), going_on.wait(60), b"")[-1])
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(client.get, "/api/v1/me", key=key)
        assert reading.wait(60)
        try:
            assert pool.submit(client.get, "/api/v1/me").result(10).status == 200
            assert not waiting.done()
        finally:
            going_on.set()


@pytest.mark.parametrize(
    "document",
    [
        {"format": 2},
        {"format": 3, "digits": 3, "issued": 1, "shards": {}},
        {"format": 2, "digits": "3", "issued": 1, "shards": {}},
        {"format": 2, "digits": 3, "issued": 1, "shards": []},
    ],
)
def test_broken_lists_are_errors(document: dict[str, object]) -> None:
    with pytest.raises(KeyFormatError):
        KeyList.parse(json.dumps(document).encode())


def test_a_damaged_shard_is_an_error(tmp_path: Path, file: KeyFile, old: list[tuple[str, KeyRecord]]) -> None:
    path = next((tmp_path / "private" / "keys" / old[0][1].sha256[:3]).iterdir())
    path.write_bytes(path.read_bytes().replace(b"user", b"usex"))
    with pytest.raises(KeyFormatError, match="does not match its hash"):
        file.records()
    with pytest.raises(KeyFormatError):
        file.update(old[0][1].id, revoked=True)
