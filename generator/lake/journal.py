"""Atomic imports into a lake in a folder: all files of an import appear, or none, even if the process is killed.

An import writes its files into `.import/`, which no reader of tables opens. Then it writes `.import/journal.json` with
their final paths. From that moment on the import counts as done. The files then move to their paths. If the process
is killed in between, the next import or build moves the rest. Without a journal, `.import/` is deleted. A lock on the
lake's folder protects all this. The system releases the lock when its process ends.

The same holds after a power cut: the files are on the disk before the journal names them, and at their paths there
before the journal is deleted.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from edge_auth.store.disk import UNSUPPORTED, Writable, sync_file_system, sync_path, written_beside
from generator.errors import LakeError

STAGE = ".import"
JOURNAL = "journal.json"


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Keep other imports and builds out of the lake, after an interrupted import is completed."""
    with _locked(folder, fcntl.LOCK_EX):
        _finish(folder)
        yield


@contextmanager
def read_lock(folder: Path) -> Iterator[None]:
    """Keep imports out of the lake, after an interrupted import is completed. Other readers may enter."""
    with _locked(folder, fcntl.LOCK_SH) as handle:
        if (folder / STAGE / JOURNAL).exists():
            fcntl.flock(handle, fcntl.LOCK_EX)
            try:
                _finish(folder)
            except OSError as error:
                raise LakeError(f"lake {folder}: an interrupted import cannot be finished: {error}") from error
        yield


def write_together(folder: Path, files: Mapping[str, Writable]) -> None:
    """Write files, named by their paths within the folder, so that all appear or none. Requires `write_lock`."""
    if not files:
        return
    try:
        _stage(folder, files)
    except BaseException:
        shutil.rmtree(folder / STAGE, ignore_errors=True)
        raise
    _finish(folder)


def _stage(folder: Path, files: Mapping[str, Writable]) -> None:
    stage = folder / STAGE
    stage.mkdir()
    for number, (name, data) in enumerate(files.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)  # if this is refused, it is before the journal
        (stage / str(number)).write_bytes(data)
    with written_beside(stage / JOURNAL, [json.dumps(list(files)).encode()]) as unfinished:
        sync_file_system(folder)
        os.replace(unfinished, stage / JOURNAL)
    sync_path(stage)


def _finish(folder: Path) -> None:
    """Move the files of the journal that are not at their paths yet, then delete `.import/`."""
    stage = folder / STAGE
    journal = stage / JOURNAL
    if journal.exists():
        for number, name in enumerate(json.loads(journal.read_bytes())):
            staged = stage / str(number)
            if staged.exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                staged.replace(folder / name)
        sync_file_system(folder)
        journal.unlink()
    if stage.exists():
        shutil.rmtree(stage)


@contextmanager
def _locked(folder: Path, operation: int) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, operation)
        except OSError as error:
            if operation == fcntl.LOCK_EX or error.errno not in UNSUPPORTED:
                raise OSError(error.errno, f"cannot be locked: {error.strerror}", os.fspath(folder)) from error
            # A reader on a disk without locks sees a file that is replaced meanwhile by its change.
        yield handle
    finally:
        os.close(handle)
