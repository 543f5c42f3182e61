"""Lakes, builds and keys to measure with, made once and kept under BENCH_DIR (default: bench/.cache)."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLENTY = 1_000_000_000  # requests a minute: enough never to be in the way


@dataclass(frozen=True)
class Site:
    """A lake, a live build of it in a store, and a key to it."""

    lake: Path
    store: Path
    key: str


def cache() -> Path:
    """The folder of everything that is kept from run to run."""
    folder = Path(os.environ.get("BENCH_DIR") or ROOT / "bench" / ".cache").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def scratch(name: str) -> Path:
    """An empty folder that the next run empties again."""
    folder = cache() / "scratch" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def environment() -> dict[str, str]:
    """Ours, without any setting of the product's options, and with this checkout first."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARDPRESS_")}
    return kept | {"PYTHONPATH": str(ROOT)}


def cardpress(*arguments: object) -> list[str]:
    """A command line of the product."""
    return [sys.executable, "-m", "generator", *map(str, arguments)]


def run(*arguments: object) -> str:
    """Run a command of the product; what it prints."""
    command = cardpress(*arguments)
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[2:])}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def lake(products: int, days: int) -> Path:
    """A demo lake, made unless it is there."""
    folder = cache() / f"lake-{products}x{days}"
    done = folder.with_suffix(".done")
    if not done.exists():
        say(f"lake of {products:,} products, {days} days")
        run("demo", folder, "--products", products, "--days", days)
        done.touch()
    return folder


def site(products: int, days: int) -> Site:
    """A live build of a demo lake; layers that are in the store already are not made again."""
    source, store = lake(products, days), cache() / f"store-{products}x{days}"
    say(f"build of {products:,} products, {days} days")
    run("build", "--lake", source, "--store", store, "--publish")
    key = store.with_suffix(".key")
    if not key.exists():
        key.write_text(run("keys", "issue", "--store", store, "--name", "bench", "--rate-limit", PLENTY))
    return Site(source, store, key.read_text().strip())
