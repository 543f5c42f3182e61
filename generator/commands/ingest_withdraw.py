"""`cardpress ingest withdraw`: takes imported days, or a whole game, out of the lake again."""

from datetime import datetime

import click

from generator.commands.options import json_option, lake_option
from generator.ingest.withdraw import TABLES
from generator.ingest.withdraw import withdraw as take_out
from generator.lake.writer import LakeWriter
from generator.terminal import say_json, say_lines


@click.command()
@click.argument("days", nargs=-1, type=click.DateTime(["%Y-%m-%d"]), metavar="[DAY]…")
@lake_option
@click.option(
    "--table", "tables", multiple=True, type=click.Choice(TABLES), help="The table; may repeat.  [default: price_guide]"
)
@click.option("--game", help="Only the rows of products of this game. Without DAY: all of them, and the products.")
@json_option
def withdraw(days: tuple[datetime, ...], lake: str, tables: tuple[str, ...], game: str | None, as_json: bool) -> None:
    """Take the imported rows of days out of the lake, for example a guide that proved wrong.

    With --game and without DAY: a whole game, with all its days, products and expansions.

    Only rows that imports wrote are deleted. Import the right files afterwards, then build: the values of the day
    before stand again until you do.

    \b
    Example: cardpress ingest withdraw 2026-07-26 --lake lake
    """
    if not days and (game is None or tables):
        raise click.UsageError("name the days; --game alone takes out a whole game")
    removed = take_out(LakeWriter(lake), tables or ("price_guide",), [day.date() for day in days], game)
    if as_json:
        say_json(removed)
    else:
        say_lines(f"{path}: {rows:,} row{'s' * (rows != 1)} withdrawn" for path, rows in removed.items())
