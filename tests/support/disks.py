"""Disks to fill, and to cut off: copies of a file system in a file in mid-write hold what a power cut leaves."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from unittest.mock import patch

import pytest

from generator.storage.stores.disk import sync_path
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
    with _mounted(folder, "-o", _OPTIONS, str(image)):
        yield folder


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount a disk of some bytes at a folder, which a test can fill."""
    with _mounted(folder, "-t", "tmpfs", "-o", f"size={size}", "none"):
        yield folder


@contextmanager
def _mounted(folder: Path, *options: str) -> Iterator[None]:
    folder.mkdir()
    if subprocess.run(["mount", *options, str(folder)], capture_output=True).returncode:
        pytest.skip("only root can mount a disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Fill a disk to the last byte. Return the file that fills it."""
    filler = disk / "filler"
    with filler.open("ab") as file:
        os.posix_fallocate(file.fileno(), file.tell(), shutil.disk_usage(disk).free)
    return filler


@contextmanager
def power_cuts(image: Path, disk: Path, is_moment: Callable[[int, str], bool]) -> Iterator[list[Path]]:
    """Copy an image before some of the renames and links on its disk in the `with` block. Yield the list of copies.

    `is_moment` is asked with the number of the renames before, and the new path of the last one.
    """
    made: list[Path] = []
    done: list[str] = []
    lock = Lock()  # several threads write

    def with_copy(function: Callable[..., None]) -> Callable[..., None]:
        def call(old: str, new: str) -> None:
            if str(new).startswith(str(disk)):
                with lock:
                    if done and is_moment(len(done), done[-1]):
                        if len(made) % 2:
                            sync_path(disk)  # as another program: new names are on the disk, their content not
                        made.append(image.with_suffix(f".{len(done)}"))
                        subprocess.run(["cp", "--sparse=always", str(image), str(made[-1])], check=True)
                    done.append(str(new))
            function(old, new)

        return call

    with patch.object(os, "replace", with_copy(os.replace)), patch.object(os, "link", with_copy(os.link)):
        yield made
