"""Builds the same lake again and again beside busy processes, and compares the stored bytes with the first build.

    python -m tests.soak.bytes [NIGHTS [BUSY]]

Every build is a process of its own with an empty store, so addresses, threads and times differ. The store's layers
must hold the same files with the same names; a file is named by the hash of its bytes.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from edge_auth.store.folder import FolderStore
from tests.support.nights import DAYS, demo_lake, names
from tests.support.service import run

_PRODUCTS = 400
_SPIN = "while True: sum(range(10_000))"


def main(nights: int = 200, busy: int = 3) -> None:
    """Compare so many builds with the first."""
    with TemporaryDirectory(prefix="cardpress-soak-") as folder, busy_processes(busy):
        lake = demo_lake(Path(folder) / "lake", DAYS, _PRODUCTS)
        first = stored_files(lake, Path(folder) / "first")
        for night in range(1, nights + 1):
            other = first ^ stored_files(lake, Path(folder) / f"store-{night}")
            assert other == set(), f"night {night}: other bytes in {sorted(other)}"
            print(f"{night} of {nights}: {len(first)} files, the same bytes", flush=True)


def stored_files(lake: Path, store: Path) -> set[str]:
    """Build the lake in a process of its own and return the names of the files of its layers."""
    run("nightly", "--lake", lake, "--store", store, "--no-pages")
    files = names(FolderStore(str(store)), lambda name: name.startswith("layers/"))
    shutil.rmtree(store)
    return files


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep so many processes computing meanwhile."""
    processes = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
