"""Small demo lakes that grow by a day, stores with several builds, and clocks, for tests of builds and nights."""

import shutil
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path

from generator.clock import Clock, utc_now
from generator.compare import gates
from generator.compare.comparison import compare
from generator.compare.run_reports import Judgement
from generator.demo.lake import write_demo
from generator.lake.lake import open_lake
from generator.making.make import make_build
from generator.pack.verify import verify
from generator.releases.publish import publish
from generator.storage.builds import Build, live_build_id, open_build
from generator.storage.stores.folder import FolderStore
from generator.storage.stores.interface import Store
from generator.terminal import Progress
from generator.threads import ONE_THREAD, Resources
from tests.support.shared import shared_folder

QUIET = Progress(quiet=True)
PRODUCTS = 60
DAYS = 50
FIRST_DAY = date(2025, 11, 15)
IDS = "ids"  # the file of a pattern that holds its builds' ids


def in_hours(hours: float) -> Clock:
    return lambda: utc_now() + timedelta(hours=hours)


def at(moment: datetime) -> Clock:
    """Return a clock that always gives the same time."""
    return lambda: moment


def _years(products: int) -> Path:
    return shared_folder(f"demo-{products}", lambda folder: write_demo(folder, products, DAYS, 1))


def demo_lake(folder: Path, days: int, products: int = PRODUCTS) -> Path:
    """Write the first days of a demo lake. If the folder has a lake, add the missing days to it."""
    whole = _years(products)
    last = f"day={FIRST_DAY + timedelta(days=days - 1)}"
    for path in (path for path in whole.rglob("*") if path.is_file()):
        copy = folder / path.relative_to(whole)
        if not copy.exists() and (not path.parent.name.startswith("day=") or path.parent.name <= last):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
    return folder


def make(lake: Path, store: Store, **more) -> str:
    """Build a lake. Return the build's id."""
    return make_build(open_lake(str(lake)), store, resources=Resources(2, "1GB"), progress=QUIET, **more).id


def judge(old: Build | None, new: Build, **more) -> Judgement:
    with compare(old, new, ONE_THREAD) as comparison:
        return gates.judge(comparison, **more)


def _pattern(days: tuple[int, ...]) -> Path:
    """Return the folder that `published` copies. It starts as a copy for one build less."""

    def fill(folder: Path) -> None:
        store, lake, ids = published(folder, *days[:-1])
        ids.append(make(demo_lake(lake, days[-1]), store))
        publish(store, ids[-1], by_hand=True)
        (folder / IDS).write_text("\n".join(ids))

    return shared_folder("-".join(map(str, ("published", *days))), fill)


def published(folder: Path, *days: int) -> tuple[FolderStore, Path, list[str]]:
    """Publish one build for each number of days, in this order. Return the store, its lake and the builds' ids."""
    ids: list[str] = []
    if days:
        pattern = _pattern(days)
        shutil.copytree(pattern, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(IDS))
        ids = (pattern / IDS).read_text().split()
    return FolderStore(str(folder / "store")), folder / "lake", ids


def assert_whole(store: FolderStore, build: str | None = None) -> None:
    """Check that all objects of a build, by default of the live one, are as they were written."""
    verify(open_build(store, build or live_build_id(store)), QUIET)


def names(store: FolderStore, keep: Callable[[str], bool] = lambda name: True) -> set[str]:
    """Return the names of all files of a store, unfinished files included."""
    files = (path.relative_to(store.root).as_posix() for path in store.root.rglob("*") if path.is_file())
    return {name for name in files if name != ".lock" and keep(name)}
