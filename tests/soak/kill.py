"""Kills commands at random moments and looks at what is left.

    python -m tests.soak.kill [ROUNDS [SEED]]

A round starts one command over a store with two published builds and a lake that has grown by a day, kills it with
SIGKILL, and then runs it to its end: the build's id and its exported tree must be those of an undisturbed run, and
after a prune the store must hold the same files. A reader reads the live build all the while.
"""

import hashlib
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import mkdtemp
from unittest.mock import patch

from generator import settings
from generator.releases.prune import RetentionRules, prune
from generator.releases.publish import publish
from generator.storage.builds import live_build_id, open_build
from generator.storage.stores.folder import FolderStore
from generator.tree.documents import Documents
from generator.tree.export import export
from tests.support.commands import run
from tests.support.nights import QUIET, assert_whole, demo_lake, in_hours, make, names, published
from tests.support.service import ROOT, Failed, environment, until

COMMANDS = ("build", "publish", "prune", "nightly")
LEASE = 3
_NOT_COMPARED = ("reports/", "private/", "gates/", "tree/", "current.json")


@dataclass(frozen=True)
class Pattern:
    """What each round starts from, and what it must come to."""

    folder: Path
    live: str
    new: str
    tree: dict[str, str]
    files: set[str]
    seconds: dict[str, float]


def pattern(folder: Path) -> Pattern:
    """A store with two published builds, and an undisturbed run of everything over a copy of it."""
    _, lake, ids = published(folder / "from", 7, 8)
    demo_lake(lake, 9)
    new = make(lake, _copy(folder, "from/store", "built"))
    about = Pattern(folder, ids[-1], new, {}, set(), {})
    seconds = {command: _undisturbed(about, command) for command in COMMANDS}
    calm = _copy(folder, "built", "calm")
    publish(calm, new, by_hand=True)
    _tidy(calm)
    return replace(about, tree=_tree(calm, folder / "calm-tree"), files=_files(calm), seconds=seconds)


def kill_once(about: Pattern, command: str, rng: random.Random) -> str:
    """Run one round, and return when it killed. Raise AssertionError if the store is not right afterwards."""
    store = _begin(about, command, "round")
    delay = rng.uniform(0.2, 1.1) * about.seconds[command]
    with _reader(store, {about.live, about.new}):
        process = _start(_arguments(about, command, store))
        try:
            process.communicate(timeout=delay)
            killed = "not killed"
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            killed = f"killed after {delay:.2f} s"
        assert_whole(store)
        _finish(_arguments(about, command, store))
    assert make(about.folder / "from" / "lake", store) == about.new
    run("publish", about.new, "--store", store.root)
    run("verify", "--store", store.root)  # the objects of tree/, too
    assert _tree(store, about.folder / "round-tree") == about.tree, f"{command} {killed}: another tree"
    _tidy(store)
    other = sorted(_files(store) ^ about.files)
    assert other == [], f"{command} {killed}: of these files there are more, or less"
    return killed


def _arguments(about: Pattern, command: str, store: FolderStore) -> list[str]:
    lake = ["--lake", str(about.folder / "from" / "lake")]
    more = {
        "build": lake,
        "publish": [about.new],
        "prune": ["--keep", "2", "--grace", "0", "--lease", str(LEASE)],
        "nightly": [*lake, "--keep", "2", "--grace", "0", "--lease", str(LEASE)],
    }
    return [command, *more[command], "--store", str(store.root)]


def _start(arguments: list[str]) -> subprocess.Popen:
    command = [sys.executable, "-m", "generator", *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _finish(arguments: list[str]) -> None:
    """Run a command to its end, waiting for the lock of the one that was killed; a prune need not wait for others."""

    def is_over() -> bool:
        try:
            run(*arguments)
        except Failed as failed:
            assert "is running" in str(failed), failed
            return False
        return True

    with patch.object(settings, "PRUNE_WAIT_SECONDS", 0):
        until(is_over, 60, f"{arguments[0]} ends")


def _undisturbed(about: Pattern, command: str) -> float:
    store = _begin(about, command, "timing")
    started = time.monotonic()
    process = _start(_arguments(about, command, store))
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return time.monotonic() - started


def _begin(about: Pattern, command: str, name: str) -> FolderStore:
    """The store as a command finds it: publish and prune with tonight's build."""
    return _copy(about.folder, "built" if command in ("publish", "prune") else "from/store", name)


def _copy(folder: Path, source: str, name: str) -> FolderStore:
    shutil.rmtree(folder / name, ignore_errors=True)
    shutil.copytree(folder / source, folder / name)
    return FolderStore(str(folder / name))


def _tidy(store: FolderStore) -> None:
    prune(store, RetentionRules(keep=1, grace=timedelta(hours=48)), clock=in_hours(49), wait=lambda seconds: None)


def _files(store: FolderStore) -> set[str]:
    return names(store, lambda name: not name.startswith(_NOT_COMPARED))


def _tree(store: FolderStore, folder: Path) -> dict[str, str]:
    """Every exported file of the live build with its hash."""
    shutil.rmtree(folder, ignore_errors=True)
    export(open_build(store, live_build_id(store)), str(folder), gzip=False, progress=QUIET)
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@contextmanager
def _reader(store: FolderStore, allowed: set[str]) -> Iterator[None]:
    """Reads the live build all the while; it must be one of these, and whole."""
    over, wrong = threading.Event(), []

    def read() -> None:
        while not over.wait(0.02):
            try:
                build = open_build(store, live_build_id(store))
                assert build.id in allowed, build.id
                for key in ("status.json", "cards/all/trend/0.json", "sets/0.json", "watchlist/pages/0.json"):
                    assert Documents(build).find(key) is not None, key
            except Exception as error:
                wrong.append(error)
                return

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert wrong == []


def main(rounds: int = 200, seed: int = 1, say: Callable[[str], object] = print) -> None:
    """So many rounds, the commands in turn."""
    rng, about = random.Random(seed), pattern(Path(mkdtemp(prefix="cardpress-soak-")))
    for number in range(rounds):
        command = COMMANDS[number % len(COMMANDS)]
        say(f"{number + 1} of {rounds}: {command} {kill_once(about, command, rng)}")
    shutil.rmtree(about.folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
