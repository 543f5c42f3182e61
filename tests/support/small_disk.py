"""A disk of some megabytes, which a test can fill."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Fill a disk to the last byte. Return the file that fills it."""
    filler = disk / "filler"
    with filler.open("ab") as file:
        os.posix_fallocate(file.fileno(), file.tell(), shutil.disk_usage(disk).free)
    return filler
