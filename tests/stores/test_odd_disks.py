"""Disks that are not ext4: a night works on them, or is refused before its work begins, with the place and a remedy."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from generator.errors import ExportError, IngestError
from generator.lake.lake import open_lake
from generator.lake.table_writer import LakeWriter
from generator.storage.errors import StoreError
from generator.storage.stores.file_cache import user_cache
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.remedies import REMEDIES
from generator.tree.export import Target
from tests.support.nights import demo_lake
from tests.support.programs import needs
from tests.support.selection import mostly_thorough
from tests.support.service import ROOT, environment

# What a disk lacks: the system calls, their error, and whether a night works without them.
LACKS = {
    "hard links": ("link,linkat", "EOPNOTSUPP", True),
    "modes": ("chmod,fchmod,fchmodat", "EPERM", True),
    "locks": ("flock", "ENOLCK", False),
    "syncs of folders": ("fsync", "EINVAL", True),
}


@pytest.mark.parametrize("lack", mostly_thorough(list(LACKS), "locks"))
@needs("strace")
def test_a_night_on_a_disk_that_lacks(tmp_path: Path, lack: str) -> None:
    calls, error, works = LACKS[lack]
    lake, store = demo_lake(tmp_path / "lake", 7, 40), tmp_path / "store"
    trace = ["strace", "-f", "-q", "--seccomp-bpf", "-o", "/dev/null", "-e", f"inject={calls}:error={error}"]
    night = [sys.executable, "-m", "generator", "nightly", "--lake", lake, "--store", store, "--no-pages"]
    done = subprocess.run(
        [*trace, "-e", f"trace={calls}", *night], cwd=ROOT, env=environment(), capture_output=True, text=True
    )
    assert (done.returncode == 0) is works, done.stderr
    if not works:
        said = done.stderr.splitlines()[-1]
        assert str(store) in said and os.strerror(getattr(errno, error)) in said and REMEDIES[error] in said
        assert not any(FolderStore(str(store)).list("layers/")), "refused before the work"


def test_a_lock_that_excludes_nobody_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcntl.flock", lambda *_: None)
    with pytest.raises(StoreError, match=r"cannot hold a store: one file was locked twice: choose a folder"):
        FolderStore(str(tmp_path)).put("one", b"1")


def test_a_tree_and_a_lake_on_a_disk_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    lake = demo_lake(tmp_path / "lake", 7, 40)
    monkeypatch.setattr("fcntl.flock", refuse)
    with (
        pytest.raises(ExportError, match=r"tree cannot be locked: No locks available: choose a folder"),
        Target(str(tmp_path / "tree")),
    ):
        pass
    with (
        pytest.raises(IngestError, match=r"lake: cannot be locked: No locks available"),
        LakeWriter(str(lake)).locked(),
    ):
        pass
    assert open_lake(str(lake)).files, "a lake is read without locks"


def test_the_cache_of_a_user_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with an arbitrary user id, and with a home that is read-only."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    folder = user_cache()
    assert folder.parent == tmp_path and folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(Path, "home", lambda: Path("/proc/1"))
    monkeypatch.setattr("os.access", lambda *_: False)
    assert user_cache() == folder
    folder.chmod(0o777)  # another user may have put files there
    with pytest.raises(StoreError, match=r"belongs to another user.*XDG_CACHE_HOME"):
        user_cache()


@pytest.mark.thorough
def test_no_folder_of_temporary_files(tmp_path: Path) -> None:
    store = tmp_path / "store"
    lake = demo_lake(tmp_path / "lake", 7, 40)
    script = (
        "import sys, tempfile; tempfile._candidate_tempdir_list = lambda: ['/nowhere'];"
        "from generator.cli import main; main()"
    )
    command = [sys.executable, "-c", script, "build", "--lake", lake, "--store", store]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 1 and "TMPDIR" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not any(FolderStore(str(store)).list("layers/"))
