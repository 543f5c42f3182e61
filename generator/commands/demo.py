"""`cardpress demo`: write a made-up lake to try everything on."""

import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from edge_auth.contract.store.open import is_folder
from generator.demo.draw import SEED_MAX
from generator.demo.lake import Written, write_demo

_LINE_EVERY = 10


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
    type=click.IntRange(0, SEED_MAX),
    default=1,
    show_default=True,
    help="Another seed, another lake.",
)
def demo(lake: Path, products: int, days: int, seed: int) -> None:
    """Write a realistic made-up lake into the folder LAKE.

    The same arguments give the same bytes. One day more adds the files of that day and changes no table's
    file that is there already, so `--days 91` after `--days 90` is a night passing by.

    \b
    Example: cardpress demo lake --products 500 --days 30
    """
    if not is_folder(str(lake)):
        raise click.BadParameter("demo writes into a folder; copy it to s3:// from there", param_hint="'LAKE'")
    written = write_demo(lake, products, days, seed, _with_progress)
    for name, table in written.items():
        click.echo(_line(name, table))
    click.echo(f"cardpress build --lake {shlex.quote(str(lake))} --publish")


def _line(name: str, table: Written) -> str:
    days = "" if table.days is None else f"  on {table.days:,} days"
    return f"{name:<16}{table.rows:>12,} rows{days}"


def _with_progress(days: Iterable[int]) -> Iterator[int]:
    """The days one by one: under a bar on a terminal, with a line now and then elsewhere."""
    numbers = list(days)
    if sys.stderr.isatty():
        with click.progressbar(numbers, label="days", file=sys.stderr) as bar:
            yield from bar
        return
    for number in numbers:
        yield number
        done = number + 1
        if done * _LINE_EVERY // len(numbers) > number * _LINE_EVERY // len(numbers):
            click.echo(f"demo: {done:,} of {len(numbers):,} days", err=True)
