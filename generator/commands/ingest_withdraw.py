"""`cardpress ingest withdraw`: takes imported days out of the lake again."""

from datetime import datetime

import click

from generator.commands.options import json_option, lake_option
from generator.ingest.withdraw import TABLES
from generator.ingest.withdraw import withdraw as withdraw_days
from generator.lake.writer import LakeWriter
from generator.terminal.output import say_json, say_lines


@click.command()
@click.argument("days", nargs=-1, required=True, type=click.DateTime(["%Y-%m-%d"]), metavar="DAY…")
@lake_option
@click.option(
    "--table",
    "tables",
    multiple=True,
    type=click.Choice(TABLES),
    default=("price_guide",),
    show_default=True,
    help="The table; may repeat.",
)
@click.option("--game", help="Only the rows of products of this game.")
@json_option
def withdraw(days: tuple[datetime, ...], lake: str, tables: tuple[str, ...], game: str | None, as_json: bool) -> None:
    """Take the imported rows of days out of the lake, for example a guide that proved wrong.

    Only rows that imports wrote are deleted. Import the right files afterwards, then build: the values of the day
    before stand again until you do.

    \b
    Example: cardpress ingest withdraw 2026-07-26 --lake lake
    """
    removed = withdraw_days(LakeWriter(lake), tables, (day.date() for day in days), game)
    if as_json:
        say_json(removed)
    else:
        say_lines(f"{path}: {rows:,} row{'s' * (rows != 1)} withdrawn" for path, rows in removed.items())
