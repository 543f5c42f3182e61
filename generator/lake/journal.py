"""Several files of a lake put in place as one: all of them or none, whenever the process is killed.

The new files are written into `.import/`, which no reader of tables looks into. Then `.import/journal.json` appears,
which names their places: from that moment on the import is in the lake, and whoever opens the lake next, for an
import or for a build, moves what is not in its place yet. Without a journal the files were never in the lake and go.
All of this happens under a lock on the lake's folder, which the system drops when its holder dies.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from generator.errors import LakeError

STAGE = ".import"
JOURNAL = "journal.json"


class Bytes(Protocol):
    """What can be written to a file, such as bytes or an Arrow buffer."""

    def __buffer__(self, flags: int) -> memoryview: ...


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep everybody else's imports and openings out of the lake, and finish what a killed import left."""
    with _locked(folder, fcntl.LOCK_EX):
        _finish(folder)
        yield


@contextmanager
def settled(folder: Path) -> Iterator[None]:
    """Hold a lake still while its files are looked at: no import is half in place. Others may look as well.

    Raises:
        LakeError: a killed import is half in place, and it is not allowed to finish it.
    """
    with _locked(folder, fcntl.LOCK_SH) as handle:
        if (folder / STAGE / JOURNAL).exists():
            fcntl.flock(handle, fcntl.LOCK_EX)
            try:
                _finish(folder)
            except OSError as error:
                raise LakeError(f"lake {folder}: an interrupted import cannot be finished: {error}") from error
        yield


def put(folder: Path, files: dict[str, Bytes]) -> None:
    """Put files, named by their paths within the folder, in place together. Only within `alone`."""
    if not files:
        return
    try:
        _stage(folder, files)
    except BaseException:
        shutil.rmtree(folder / STAGE, ignore_errors=True)
        raise
    _finish(folder)


def _stage(folder: Path, files: dict[str, Bytes]) -> None:
    stage = folder / STAGE
    stage.mkdir()
    for number, (name, data) in enumerate(files.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)  # refused, if at all, while nothing is done
        (stage / str(number)).write_bytes(data)
    beside = stage / f"{JOURNAL}.writing"
    beside.write_text(json.dumps(list(files)), "utf-8")
    beside.replace(stage / JOURNAL)  # from here on the import is in the lake


def _finish(folder: Path) -> None:
    """Move what a journal names and is not in its place yet; then nothing of the import is left beside the lake."""
    stage = folder / STAGE
    journal = stage / JOURNAL
    if journal.exists():
        for number, name in enumerate(json.loads(journal.read_bytes())):
            staged = stage / str(number)
            if staged.exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                staged.replace(folder / name)
        journal.unlink()
    if stage.exists():
        shutil.rmtree(stage)


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, how)
        yield handle
    finally:
        os.close(handle)
