"""Damage in the store: a right answer from memory or 500, never another one, and recovery afterwards."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path

import pytest

from tests.support.oracle import Oracle, differences
from tests.support.selection import mostly_thorough
from tests.support.service import Client, HttpAnswer, Service, issue, until

API = "/api/v1"
PATHS = (
    *(
        "status",
        "watchlist",
        "watchlist/never",
        "watchlist/charizard-base/history?view=weekly",
        "watchlist/zero/offers",
    ),
    *("watchlist/charizard-ex", "watchlist/unknown", "cards", "cards?sort=name", "cards?kind=sealed&sort=low"),
    *("cards?q=charizard", "cards?set=151", "cards?number=4", "cards?rarity=common", "cards?q=e&sort=number&offset=3"),
    *("cards/100", "cards/122?days=3", "cards/113", "cards/77777", "sets", "sets?q=base", "fingerprints"),
)


@dataclass
class Patient:
    """A shim over a copy of the store, which tests damage and mend."""

    store: Path
    client: Client
    oracle: Oracle

    def ask(self) -> list[int]:
        """Request every path once and return the statuses. Fail on an answer that is neither right nor 500."""
        return [self.judge(path) for path in PATHS]

    def recovered(self) -> bool:
        return 500 not in self.ask()

    def judge(self, path: str) -> int:
        """The status of the answer to one path; fails as `ask` does."""
        answer = self.client.get(f"{API}/{path}")
        if answer.status == 500:
            assert answer.code == "internal_error"
            assert int(answer["Retry-After"]) > 0
            assert not any(word in answer.text for word in ("Traceback", 'File "', str(self.store)))
            return 500
        status, expected = self.oracle.ask(f"{API}/{path}")
        assert answer.status == status, (path, answer.text[:300])
        if status == 200:
            got = answer.json
            if path == "fingerprints":
                got["entries"].sort(key=lambda entry: entry["key"])
            assert differences(expected, got, path) == []
        return status


def store_files(store: Path) -> list[Path]:
    """Return the names of all objects of a store, without the key records."""
    found = [file for file in store.rglob("*") if file.is_file() and file.stat().st_size]
    return sorted(file for file in found if "key" not in str(file.relative_to(store)))


def kind_of(file: Path) -> str:
    """Return the name of a file without ids, numbers and hashes."""
    return re.sub("[0-9a-f-]{8,}|[0-9]+", "*", file.name)


@pytest.fixture
def store(fixed_store: Path, fixed_key: str, tmp_path: Path) -> Path:
    """A copy of the store, with its keys, to be damaged."""
    return shutil.copytree(fixed_store, tmp_path / "store")


@pytest.fixture
def patient(store: Path, fixed_key: str, fixed_oracle: Oracle, tmp_path: Path) -> Iterator[Patient]:
    with Service(store, tmp_path / "state", may_log_traces=True) as service:
        yield Patient(store, service.client(fixed_key), fixed_oracle)


@contextmanager
def damaged(files: list[Path], damage: Callable[[Path, bytes], None]) -> Iterator[None]:
    """Damage files in the `with` block, and restore them afterwards."""
    contents = {file: file.read_bytes() for file in files}
    for file, content in contents.items():
        damage(file, content)
    try:
        yield
    finally:
        for file, content in contents.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def delete(file: Path, content: bytes) -> None:
    file.unlink()


def empty(file: Path, content: bytes) -> None:
    file.write_bytes(b"")


def halve(file: Path, content: bytes) -> None:
    file.write_bytes(content[: len(content) // 2])


def zero(file: Path, content: bytes) -> None:
    file.write_bytes(bytes(len(content)))


def lengthen(file: Path, content: bytes) -> None:
    file.write_bytes(content[:7] + b"x" + content[7:])


def flip(file: Path, content: bytes) -> None:
    """One bit each in four bytes, spread over the file."""
    spoilt = bytearray(content)
    for tenth in (1, 4, 6, 9):
        spoilt[len(content) * tenth // 10] ^= 0x20
    file.write_bytes(spoilt)


DAMAGES = {function.__name__: function for function in (delete, empty, halve, zero, lengthen, flip)}


@pytest.mark.parametrize("damage", mostly_thorough(DAMAGES, "halve"))
def test_a_ruined_store(patient: Patient, damage: str) -> None:
    """Every file is damaged at once before the first request, so no answer can come from memory."""
    with damaged(store_files(patient.store), DAMAGES[damage]):
        statuses = patient.ask() + patient.ask()
    assert 500 in statuses or damage == "delete"  # an open file outlives its name
    until(patient.recovered, 60, "right answers again")


@pytest.mark.thorough
def test_each_file_by_itself(patient: Patient) -> None:
    """Every damage in a file of each kind, and one of them in each other file, with the shim running all along."""
    failures, days, met, one_by_one = 0, count(1), set(), cycle(DAMAGES.values())
    for file in store_files(patient.store):
        kind = (file.relative_to(patient.store).parts[:2], kind_of(file))
        damages = [next(one_by_one)] if kind in met else [*DAMAGES.values()]
        met.add(kind)
        for damage in damages:
            with damaged([file], damage):
                # What was asked before may come from memory; a new number of days cannot.
                failures += [*patient.ask(), patient.judge(f"cards/100?days={next(days)}")].count(500)
    until(patient.recovered, 60, "right answers again")
    assert failures


@pytest.mark.thorough
def test_a_ruined_key_record(patient: Patient) -> None:
    """A key that cannot be read is a failure of the store, not a wrong key."""
    records = [file for file in patient.store.rglob("*key*") if file.is_file()]
    records += [file for folder in patient.store.rglob("*key*") if folder.is_dir() for file in folder.rglob("*")]
    assert records
    with damaged(sorted({file for file in records if file.is_file()}), halve):
        answers = [patient.client.get(f"{API}/me") for _ in range(5)]
    assert {(answer.status, answer.code) for answer in answers} <= {(200, None), (500, "internal_error")}
    until(lambda: patient.client.get(f"{API}/me").status == 200, 60, "the key counts again")
    assert issue(patient.store)


def test_the_words_of_a_failure(patient: Patient, golden: Callable[[str, str, HttpAnswer], None]) -> None:
    with damaged(store_files(patient.store), zero):
        answers = [patient.client.get(f"{API}/{path}") for path in PATHS]
    failed = [answer for answer in answers if answer.status == 500]
    assert failed
    golden("error-500", "GET anything from a store that cannot be read", failed[0])
