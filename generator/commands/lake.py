"""`cardpress lake …`: what a lake holds."""

from dataclasses import asdict

import click

from edge_auth.store.open import open_store
from generator.commands.options import json_option, lake_option, store_option
from generator.lake.lake import DAILY_TABLES
from generator.reading.lake_days import DayFile, day_files
from generator.terminal.output import say, say_json, say_lines
from generator.terminal.progress import Progress


@click.group()
def lake() -> None:
    """Look into a lake.

    \b
    Example: cardpress lake days --lake lake --store site_out
    """


@lake.command()
@lake_option
@store_option
@click.option(
    "--table",
    "tables",
    multiple=True,
    type=click.Choice(DAILY_TABLES),
    default=DAILY_TABLES,
    show_default=True,
    help="The table; may repeat.",
)
@json_option
def days(lake: str, store: str, tables: tuple[str, ...], as_json: bool) -> None:
    """List the files of each day: rows, source, when they were written, and what builds make of them.

    The source is the name of the file; imports write `cardmarket` and `monitor`. The verdict is held, accepted or
    dropped for files that were put in quarantine; else read, if the live build read the file, or new.

    \b
    Example: cardpress lake days --lake lake --table price_guide
    """
    files = list(day_files(lake, open_store(store), dict.fromkeys(tables), Progress()))
    if as_json:
        say_json(list(map(asdict, files)))
    else:
        say_lines(map(_line, files))
        say(f"{len(files):,} files", err=True)


def _line(file: DayFile) -> str:
    return f"{file.day}  {file.table:<15}  {file.rows:>9,} rows  {file.imported}  {file.verdict:<8}  {file.source}"
