"""`cardpress lake …`: what a lake holds."""

import click

from generator.commands.ingest import accept_option, numbers_options, tables_option
from generator.commands.options import json_option, lake_option, store_option
from generator.ingest.marketplace import GameImport, memory_file, remembered
from generator.ingest.pipeline import OF_GAMES
from generator.ingest.products import GAMES
from generator.lake.files import LakeFiles
from generator.lake.lake import DAILY_TABLES, not_read
from generator.lake.table_writer import LakeWriter
from generator.reading.lake_days import day_files, outlying_days, outlying_line
from generator.storage.builds import live_build_id, open_build
from generator.storage.stores.open import open_store
from generator.terminal import Progress, say, say_result


@click.group()
def lake() -> None:
    """Look into a lake.

    \b
    Example: cardpress lake days --lake lake --store site_out
    """


@lake.command()
@lake_option
@store_option
@tables_option(*DAILY_TABLES)
@json_option
def days(lake: str, store: str, tables: tuple[str, ...], as_json: bool) -> None:
    """List the files of each day: rows, source, when they were written, and what builds make of them.

    The source is the name of the file; imports write `cardmarket` and `monitor`. The verdict is held, accepted or
    dropped for files that were put in quarantine; else read, if the live build read the file, or new.

    \b
    Example: cardpress lake days --lake lake --table price_guide
    """
    files = list(day_files(lake, open_store(store), dict.fromkeys(tables or DAILY_TABLES), Progress()))
    line = "{day}  {table:<15}  {rows:>9,} rows  {imported}  {verdict:<8}  {source}"
    say_result(as_json, files, (line.format(**file) for file in files))
    say(f"{len(files):,} files", err=True)
    for line in not_read(LakeFiles(lake).list_names(())):
        say(f"{lake}/{line}", err=True)


@lake.command()
@store_option
@json_option
def check(store: str, as_json: bool) -> None:
    """Find days of any age whose prices lie apart from the days around them, by game, set and column.

    It reads the history of the live build. Each line ends with the command that withdraws the day.

    \b
    Example: cardpress lake check --store site_out
    """
    opened = open_store(store)
    found = outlying_days(open_build(opened, live_build_id(opened)))
    say_result(as_json, found, (outlying_line(day, opened.location) for day in found))
    say(f"{len({day['day'] for day in found}):,} days lie apart from the days around them", err=True)


@lake.command()
@lake_option
@json_option
def show(lake: str, as_json: bool) -> None:
    """Print what the lake remembers of how the files of each game are imported.

    \b
    Example: cardpress lake show --lake lake
    """
    memory = remembered(LakeWriter(lake))
    games = {str(number): one.as_json() for number, one in sorted(memory.items())}
    lines = (f"{number}  {GAMES.get(number, '')}  {one}" for number, one in sorted(memory.items()))
    say_result(as_json, {"games": games}, lines)
    say(f"{len(memory):,} game{'s' * (len(memory) != 1)} remembered", err=True)


@lake.command()
@click.argument("number", type=click.IntRange(1, 999), metavar="GAME")
@lake_option
@numbers_options
@accept_option(OF_GAMES)
@click.option("--game", help="The name of the game.")
@click.option("--forget", is_flag=True, help="Forget what was remembered before.")
def remember(
    number: int,
    lake: str,
    number_pattern: str | None,
    accept: tuple[str, ...],
    game: str | None,
    forget: bool,
) -> None:
    """Change what the lake remembers of how the files of a game are imported.

    GAME: the marketplace's number, as in the names of its files.

    \b
    Example: cardpress lake remember 17 --lake lake --numbers-from-names
    """
    writer = LakeWriter(lake)
    with writer.locked():
        memory = remembered(writer)
        known = GameImport() if forget else memory.get(number, GameImport())
        pattern = known.number_pattern if number_pattern is None else number_pattern or None
        changed = GameImport(game or known.game, pattern, known.accepted | set(accept))
        for change in memory_file(writer, memory | {number: changed}):
            writer.write({change.path: change.data})
    say(f"{number}  {GAMES.get(number, '')}  {changed}")
