"""`cardpress demo`: writes a made-up lake."""

import shlex
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click

from generator.commands.options import DAY
from generator.demo.draw import MAX_SEED
from generator.demo.lake import Demo, older_demo, write_demo
from generator.lake.lake import DAILY_TABLES
from generator.storage.stores.open import is_folder
from generator.terminal import Progress, say


@click.command("demo")
@click.argument("lake", type=click.Path(path_type=Path))
@click.option("--products", type=click.IntRange(min=1), default=2000, help="How many products.")
@click.option("--days", type=click.IntRange(1, 36_500), default=90, help="Days of history.")
@click.option("--seed", type=click.IntRange(0, MAX_SEED), default=1, help="Another seed gives another lake.")
@click.option(
    "--end",
    type=DAY,
    metavar="DAY",
    help="The last day.  [default: today (UTC); with more days than the demo in LAKE has, so many days after its last]",
)
def demo(lake: Path, products: int, days: int, seed: int, end: datetime | None) -> None:
    """Write a realistic made-up lake into the folder LAKE.

    The same arguments give the same bytes. Each further day adds its files and changes no existing file of a table,
    so `--days 91` after `--days 90` acts like one more night.

    \b
    Example: cardpress demo lake --products 500 --days 30
    """
    if not is_folder(str(lake)):
        raise click.BadParameter("demo writes into a folder; copy it to s3:// from there", param_hint="'LAKE'")
    older = older_demo(lake)
    wanted = Demo(products, days, seed, end.date() if end else _last_day(older, products, days, seed))
    sizes = write_demo(lake, products, days, seed, wanted.end, Progress())
    for name, rows in sizes.items():
        say(f"{name:<16}{sum(rows):>12,} rows" + (f"  on {len(rows):,} days" if name in DAILY_TABLES else ""))
    if older == wanted:
        say(f"{lake} held this demo already", err=True)
    elif older:
        say(f"replaced the older demo in {lake} ({_in_words(older)}) by {_in_words(wanted)}", err=True)
    say(f"cardpress build --lake {shlex.quote(str(lake))} --publish")


def _last_day(older: Demo | None, products: int, days: int, seed: int) -> date:
    """Return the last day of a demo that names none. More days than an older one has are later nights."""
    if older and older[:1] + older[2:3] == (products, seed) and days > older.days:
        return older.end + timedelta(days=days - older.days)
    return datetime.now(UTC).date()


def _in_words(demo: Demo) -> str:
    counts = [f"{n:,} {unit}{'s' * (n != 1)}" for n, unit in ((demo.products, "product"), (demo.days, "day"))]
    return f"{', '.join(counts)} to {demo.end}, seed {demo.seed}"
