"""`cardpress demo`: writes a made-up lake."""

import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from edge_auth.store.open import is_folder
from generator.demo.draw import MAX_SEED
from generator.demo.files import older_demo
from generator.demo.lake import TableSize, write_demo
from generator.terminal.output import say

_PROGRESS_LINES = 10


@click.command("demo")
@click.argument("lake", type=click.Path(path_type=Path))
@click.option("--products", type=click.IntRange(min=1), default=2000, show_default=True, help="How many products.")
@click.option(
    "--days",
    type=click.IntRange(1, 36_500),
    default=90,
    show_default=True,
    help="Days of history, from a fixed first day on.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, MAX_SEED),
    default=1,
    show_default=True,
    help="Another seed gives another lake.",
)
def demo(lake: Path, products: int, days: int, seed: int) -> None:
    """Write a realistic made-up lake into the folder LAKE.

    The same arguments give the same bytes. Each further day adds its files and changes no existing file of a table,
    so `--days 91` after `--days 90` acts like one more night.

    \b
    Example: cardpress demo lake --products 500 --days 30
    """
    if not is_folder(str(lake)):
        raise click.BadParameter("demo writes into a folder; copy it to s3:// from there", param_hint="'LAKE'")
    arguments = {"products": products, "days": days, "seed": seed}
    older = older_demo(lake)
    sizes = write_demo(lake, products, days, seed, _with_progress)
    for name, size in sizes.items():
        say(_line(name, size))
    if older:
        say(_replaced(lake, older, arguments), err=True)
    say(f"cardpress build --lake {shlex.quote(str(lake))} --publish")


def _replaced(lake: Path, older: dict[str, int], arguments: dict[str, int]) -> str:
    if older == arguments:
        return f"{lake} held this demo already"
    return f"replaced the older demo in {lake} ({_in_words(older)}) by {_in_words(arguments)}"


def _in_words(arguments: dict[str, int]) -> str:
    products, days = arguments["products"], arguments["days"]
    return f"{products:,} product{'s' * (products != 1)}, {days:,} day{'s' * (days != 1)}, seed {arguments['seed']}"


def _line(name: str, size: TableSize) -> str:
    days = "" if size.days is None else f"  on {size.days:,} days"
    return f"{name:<16}{size.rows:>12,} rows{days}"


def _with_progress(days: Iterable[int]) -> Iterator[int]:
    """Yield the days. Show a bar on a terminal, and at most ten lines elsewhere."""
    numbers = list(days)
    if sys.stderr.isatty():
        with click.progressbar(numbers, label="days", file=sys.stderr) as bar:
            yield from bar
        return
    for number in numbers:
        yield number
        written = number + 1
        if written * _PROGRESS_LINES // len(numbers) > number * _PROGRESS_LINES // len(numbers):
            say(f"demo: {written:,} of {len(numbers):,} days", err=True)
