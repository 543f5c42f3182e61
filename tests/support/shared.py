"""Folders that are filled once in a run of the tests, by the first of its processes that needs them."""

import atexit
import fcntl
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

VARIABLE = "SHARED_BY_TESTS"  # the folder of all processes of a run; without it each process has its own


def shared_folder(name: str, fill: Callable[[Path], object]) -> Path:
    """Return a folder that `fill` has filled, in this process or in another one. Tests read it and copy it."""
    folder, begun = root() / name, root() / f"{name}.begun"
    with (root() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(begun, ignore_errors=True)  # of a process that failed
            begun.mkdir()
            fill(begun)
            begun.rename(folder)
    return folder


def root() -> Path:
    return Path(os.environ.get(VARIABLE) or _own())


@cache
def _own() -> Path:
    folder = Path(mkdtemp(prefix="cardpress-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
