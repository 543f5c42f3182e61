"""Counts what a reader of the code has to hold: `make counts` prints it.

A hop is a call of a product's function whose file is not that of the call before it. The calls are those that
`sys.setprofile` sees in files of the product, in their order, steps of generators included. A night is counted in a
process of its own, from its first import on.
"""

import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path.cwd()
PRODUCT = tuple(f"{ROOT}/{package}/" for package in ("generator", "edge_auth"))
SEARCH = "/api/v1/cards?q=ember%20fox"


def called_files(work: Callable[[], object]) -> list[str]:
    """Run something. Return the product's file of each call, in the order of the calls."""
    files: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PRODUCT):
            files.append(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return files


def described(name: str, files: list[str]) -> str:
    hops = sum(one != other for one, other in pairwise(files))
    return f"{name:16}{len(files):10,} calls {len(set(files)):5} files {hops:8,} hops"


def command(*arguments: str) -> None:
    """Run a command in this process, without its output."""
    from generator.cli import main

    sys.argv = ["cardpress", *arguments]
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        try:
            main()
        except SystemExit as end:
            assert not end.code, arguments


def night(folder: str) -> str:
    """Count the second night of a demo lake."""
    return described("a night", called_files(lambda: command(*nightly(folder))))


def nightly(folder: str) -> tuple[str, ...]:
    return ("nightly", "--lake", f"{folder}/lake", "--store", f"{folder}/store")


def demo(folder: str, days: int) -> None:
    command("demo", f"{folder}/lake", "--products", "200", "--days", str(days), "--end", f"2025-11-{days:02}")


def first_night(folder: str) -> None:
    demo(folder, 20)
    command(*nightly(folder))
    demo(folder, 21)


def requests(folder: str) -> str:
    """Count a search, the same search from memory, and a request without a key."""
    from tests.support.shim_clients import WsgiClient

    client = WsgiClient(f"{folder}/store", f"{folder}/state", rate_limit=100)
    client.get("/api/v1/cards?q=fox")  # opens the build
    asked: dict[str, dict[str, Any]] = {"a search": {}, "a cached answer": {}, "a 401": {"key": None}}
    counted = ((name, called_files(partial(client.get, SEARCH, **more))) for name, more in asked.items())
    return "\n".join(described(name, files) for name, files in counted)


def sizes() -> str:
    """Count the lines of Python, and the words of Markdown without the changelog."""
    from tests.layout.test_ceilings import lines, words

    counts = {top: lines(top) for top in ("edge_auth", "generator", "bench", "tests")}
    counts["the product"] = counts["edge_auth"] + counts["generator"]
    return "\n".join(
        [*(f"{name:16}{count:10,} lines" for name, count in counts.items()), f"{'documents':16}{words():10,} words"]
    )


def readers() -> str:
    """Count the modules that exactly one other module imports."""
    from tests.support.sources import MODULES, imports

    counts = Counter(target for name in MODULES for target in imports(name))
    return f"{sum(count == 1 for count in counts.values())} of {len(MODULES)} modules have one reader"


def main() -> None:
    print(sizes(), readers(), sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for count in (first_night, night, requests):
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                if line := process.submit(count, folder).result():
                    print(line)


if __name__ == "__main__":
    main()
