"""Folders that are deleted when the process ends."""

import atexit
import shutil
from pathlib import Path
from tempfile import mkdtemp


def temporary_folder() -> Path:
    """Return a new folder that is deleted when this process ends."""
    folder = Path(mkdtemp(prefix="cardpress-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
