"""A file system in a file, and copies of that file in mid-write, which hold what a power cut leaves."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from unittest.mock import patch

import pytest

from edge_auth.store.disk import sync_path
from tests.support.programs import path_of, require

# Nothing is written out before it must be: the writers' own syncs alone count.
_OPTIONS = "loop,commit=3600"


@contextmanager
def new_disk(image: Path, size: int, folder: Path) -> Iterator[Path]:
    """Make a file system in a file, and mount it at a folder."""
    with image.open("wb") as file:
        file.truncate(size)
    require("mkfs.ext4")
    made = [path_of("mkfs.ext4"), "-q", "-E", "lazy_itable_init=0", str(image)]
    subprocess.run(made, capture_output=True, check=True)
    with mounted(image, folder):
        yield folder


@contextmanager
def mounted(image: Path, folder: Path) -> Iterator[Path]:
    """Mount the file system of a file at a folder."""
    folder.mkdir()
    if subprocess.run(["mount", "-o", _OPTIONS, str(image), str(folder)], capture_output=True).returncode:
        pytest.skip("only root can mount a disk image")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def power_cuts(image: Path, disk: Path, is_moment: Callable[[int, str], bool]) -> Iterator[list[Path]]:
    """Copy an image before some of the renames and links on its disk in the `with` block. Yield the list of copies.

    Args:
        is_moment: Whether to copy it, by the number of the renames before, and the new path of the last one.
    """
    made: list[Path] = []
    done: list[str] = []
    lock = Lock()  # several threads write

    def with_copy(function: Callable[..., None]) -> Callable[..., None]:
        def call(old: str, new: str) -> None:
            if str(new).startswith(str(disk)):
                with lock:
                    if done and is_moment(len(done), done[-1]):
                        if (
                            len(made) % 2
                        ):  # as by a sync of another program: new names are on the disk, their content not
                            sync_path(disk)
                        made.append(image.with_suffix(f".{len(done)}"))
                        subprocess.run(["cp", "--sparse=always", str(image), str(made[-1])], check=True)
                    done.append(str(new))
            function(old, new)

        return call

    with patch.object(os, "replace", with_copy(os.replace)), patch.object(os, "link", with_copy(os.link)):
        yield made
