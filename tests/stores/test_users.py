"""Files of a store whose user is another than that of a command: they stay his, or nothing is written."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.imports import guide_row, write_list
from tests.support.nights import published

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as several users")
OWNER, OTHER = 12345, 12346


def files(folder: Path) -> dict[str, tuple[int, int, int, int]]:
    found = {str(path): path.lstat() for path in (folder, *folder.rglob("*"))}
    return {path: (stat.st_uid, stat.st_gid, stat.st_mode, stat.st_size) for path, stat in found.items()}


@contextmanager
def acting_as(user: int, *groups: int) -> Iterator[None]:
    kept = os.getgroups()
    os.setgroups(groups)
    os.setegid(user)
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(kept)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of OWNER with a lake, two builds and a downloaded guide, whose group may write as he may."""
    place = tmp_path / "place"
    place.mkdir()
    published(place, 7, 8)
    write_list(place / "guide.json", "priceGuides", [guide_row(1)], "2025-11-23T12:00:00+0100")
    run("keys", "issue", "--store", place / "store", "--name", "n")
    run("ingest", "--help")  # loads the command, which OTHER cannot if Python is in a folder of root
    for path in (place, *place.rglob("*")):
        os.chown(path, OWNER, OWNER)
        path.chmod(0o770 if path.is_dir() else 0o660)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    return place


def test_what_root_writes_belongs_to_the_user_of_the_folder(place: Path) -> None:
    store, lake = place / "store", place / "lake"
    issued = run("keys", "issue", "--store", store, "--name", "m", "--reuse", place / "kept")
    run("keys", "revoke", json.loads(issued.stderr)["id"], "--store", store)
    run("unlock", "--store", store)
    run("ingest", "cardmarket", "--lake", lake, "--price-guide", place / "guide.json")
    run("build", "--lake", lake, "--store", store, "--publish")
    run("nightly", "--lake", lake, "--store", store, "--textfile", place / "metrics.prom")
    run("rollback", "--store", store)
    run("export", place / "tree", "--store", store)
    assert {file[:2] for file in files(place).values()} == {(OWNER, OWNER)}
    assert (store / "private/keys.json").stat().st_mode & 0o777 == 0o660, "it is replaced"
    [new] = {path for path in (store / "builds").iterdir() if path.stat().st_mode & 0o777 != 0o660}
    assert new.stat().st_mode & 0o777 == 0o640, "others may not enter its folder"


@pytest.mark.parametrize(
    "command",
    [
        "keys issue --name m --store {0}/store",
        "keys issue --name m --store {0}/store --keys {0}/files",
        "rollback --store {0}/store",
        "nightly --lake {0}/lake --store {0}/store",
        "ingest cardmarket --lake {0}/lake --price-guide {0}/guide.json",
    ],
)
def test_another_user_is_refused_before_anything_is_written(place: Path, command: str) -> None:
    before = files(place)
    with acting_as(OTHER, OWNER):
        refused = run(*command.format(place).split(), status=1)
    assert refused.stderr.splitlines()[-1].count(f"run the command as user {OWNER} (`sudo -u '#{OWNER}' …`)")
    assert files(place) == before


def test_a_store_of_several_users_is_named(place: Path) -> None:
    store = place / "store"
    assert "several users" not in run("doctor", "--read-only", "--store", store, status=1).stdout
    os.chown(store / "current.json", OTHER, OTHER)
    assert f"1 to user {OTHER} ({store}/current.json)" in run("doctor", "--store", store, status=1).stdout
    with acting_as(OWNER):
        assert f"{store}/current.json belongs to user {OTHER}" in run("rollback", "--store", store, status=1).stderr
