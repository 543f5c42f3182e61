"""Lakes, builds and keys for the measurements, made once and cached in BENCH_DIR (default: bench/.cache)."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION_1_0 = "149ad61"  # the commit of version 1.0, with which builds are compared
RATE_LIMIT = 1_000_000_000  # requests a minute: so many that the limit is never reached
_PRICES = ("price_guide", "listings", "filtered_checks")


@dataclass(frozen=True)
class Site:
    """A lake, a store with a live build of it, and an API key."""

    lake: Path
    store: Path
    key: str


def cache() -> Path:
    """Return the folder of all data that is reused from run to run."""
    folder = Path(os.environ.get("BENCH_DIR") or ROOT / "bench" / ".cache").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def scratch(name: str) -> Path:
    """Return an empty folder, which the next run empties again."""
    folder = cache() / "scratch" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def linked_copy(folder: Path, name: str) -> Path:
    """Return a copy of a folder, made of hard links, which the next run makes anew."""
    copy = scratch(name)
    shutil.rmtree(copy)
    shutil.copytree(folder, copy, copy_function=os.link)
    return copy


def environment(code: Path = ROOT) -> dict[str, str]:
    """Return the environment without variables that set options of the product, and with this code first."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("CARDPRESS_")}
    return others | {"PYTHONPATH": str(code)}


@contextmanager
def first_version() -> Iterator[Path | None]:
    """Yield a folder with the code of version 1.0; None where this is no clone with the whole history."""
    archive = subprocess.run(["git", "archive", VERSION_1_0], cwd=ROOT, capture_output=True)
    if archive.returncode:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="cardpress-1.0-") as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder)


def cardpress(*arguments: object) -> list[str]:
    """Return a command line of the product."""
    return [sys.executable, "-m", "generator", *map(str, arguments)]


def run(*arguments: object) -> str:
    """Run a command of the product and return its output.

    Raises:
        SystemExit: The command failed.
    """
    command = cardpress(*arguments)
    process = subprocess.run(command, env=environment(), capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[2:])}: exit {process.returncode}\n{process.stderr[-2000:]}")
    return process.stdout


def print_progress(text: str) -> None:
    """Print a line of progress to standard error."""
    print(text, file=sys.stderr, flush=True)


def lake(products: int, days: int) -> Path:
    """Return the folder of a demo lake; write it if it is not cached."""
    folder = cache() / f"lake-{products}x{days}"
    complete = folder.with_suffix(".done")
    if not complete.exists():
        print_progress(f"lake of {products:,} products, {days} days")
        run("demo", folder, "--products", products, "--days", days, "--end", date(2025, 11, 14) + timedelta(days))
        complete.touch()
    return folder


def site(products: int, days: int) -> Site:
    """Return a demo lake with a live build; layers that are in the cached store are not made again."""
    source, store = lake(products, days), cache() / f"store-{products}x{days}"
    print_progress(f"build of {products:,} products, {days} days")
    run("build", "--lake", source, "--store", store, "--publish")
    key = store.with_suffix(".key")
    if not key.exists():
        key.write_text(run("keys", "issue", "--store", store, "--name", "bench", "--rate-limit", RATE_LIMIT))
    return Site(source, store, key.read_text().strip())


def days(lake: Path) -> list[str]:
    """Return the days of a lake that have a partition, oldest first."""
    return sorted({folder.name.removeprefix("day=") for folder in lake.glob("*/day=*")})


def with_earlier_years(lake: Path, years: int) -> Path:
    """Return a lake in which each day of the price tables also stands for the same day of earlier years.

    The files are linked, not copied. Their times are outside their days; a build only counts and reports that.
    """
    longer = cache() / f"{lake.name}-and-{years}-years"
    if not longer.exists():
        part = longer.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(lake, part, copy_function=os.link)
        for folder in (folder for table in _PRICES for folder in (lake / table).glob("day=*")):
            for earlier in range(1, years + 1):
                target = part / folder.parent.name / f"day={_earlier(folder.name[4:], earlier)}"
                if not target.exists():
                    shutil.copytree(folder, target, copy_function=os.link)
        part.rename(longer)
    return longer


def _earlier(day: str, years: int) -> str:
    then = date.fromisoformat(day)
    return then.replace(year=then.year - years, day=28 if (then.month, then.day) == (2, 29) else then.day).isoformat()
