"""What is remembered of files: no more than a bound, the latest first; and nothing that killed writers left."""

from pathlib import Path

import pytest

from generator.lake import files as hashes
from generator.lake.files import FileHashes


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(hashes, "_MAX_ENTRIES", 3)


def remember(*names: str) -> None:
    known = FileHashes()
    for name in names:
        known.add(name, [1], f"hash of {name}")
    known.save()


def test_the_latest_are_kept() -> None:
    remember("a", "b")
    remember("c", "d")
    known = FileHashes()
    assert [known.find(name, [1]) for name in "abcd"] == [None, "hash of b", "hash of c", "hash of d"]
    assert known.find("d", [2]) is None


def test_a_whole_lake_is_kept_however_large() -> None:
    remember(*"abcde")
    assert FileHashes().find("a", [1]) == "hash of a"
