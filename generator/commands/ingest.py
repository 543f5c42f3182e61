"""`cardpress ingest …`: imports files into lake tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from generator import settings
from generator.commands.import_results import (
    accept_option,
    max_file_option,
    reading_progress,
    say_findings,
    summary_line,
)
from generator.commands.ingest_scraped import list_pages, offers, watch_checks
from generator.commands.ingest_withdraw import withdraw
from generator.ingest.bounded_file import FileLimits
from generator.ingest.cardmarket_import import CardmarketFiles, import_cardmarket
from generator.ingest.findings import REFUSED
from generator.lake.writer import LakeWriter
from generator.terminal import say, say_json, say_lines

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _file_option(name: str, help: str) -> Callable[[_Function], _Function]:
    """Return an option that may be repeated. Its environment variable separates paths as PATH does."""
    return click.option(name, multiple=True, type=click.Path(path_type=Path), metavar="FILE", help=help)


@click.group()
def ingest() -> None:
    """Import files of the marketplace or of scrapers into lake tables.

    \b
    Example: cardpress ingest cardmarket --lake lake --singles products_singles_6.json
    """


@ingest.command()
@click.option("--lake", required=True, help="Folder (made if absent) or s3:// prefix.")
@_file_option("--singles", "A list of singles, products_singles_G.json.")
@_file_option("--nonsingles", "A list of sealed products, products_nonsingles_G.json.")
@_file_option("--price-guide", "A price guide, price_guide_G.json.")
@_file_option("--expansions", "Names of expansions.")
@max_file_option(settings.MAX_DOWNLOAD_BYTES)
@click.option("--game", help="The game of the expansions in these files.")
@accept_option(*REFUSED)
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
def cardmarket(
    lake: str,
    singles: tuple[Path, ...],
    nonsingles: tuple[Path, ...],
    price_guide: tuple[Path, ...],
    expansions: tuple[Path, ...],
    max_file_mb: int,
    game: str | None,
    accept: tuple[str, ...],
    as_json: bool,
) -> None:
    """Import the marketplace's own download files, plain or gzip.

    Every file option may be given several times: several games, several days, in any order. Importing a file
    again changes nothing.

    \b
    Example: cardpress ingest cardmarket --lake lake --singles products_singles_6.json \\
             --nonsingles products_nonsingles_6.json --price-guide price_guide_6.json
    """
    limits = FileLimits(max_file_mb << 20)
    files = CardmarketFiles(singles, nonsingles, expansions, price_guide, limits, frozenset(accept))
    if not files:
        raise click.UsageError("Nothing to import: give --singles, --nonsingles, --price-guide or --expansions")
    if game and not expansions:
        say(
            "--game has no effect: it names the game of expansions, and there is no --expansions file",
            err=True,
        )
    with reading_progress(len(files)) as on_read:
        result = import_cardmarket(LakeWriter(lake), files, game, lambda file: on_read(f"{file.path}: {file.what}"))
    say_findings(result.findings)
    if as_json:
        say_json(result.as_json())
    else:
        say_lines(summary_line(path, counts) for path, counts in result.tables.items())


for command in (list_pages, offers, watch_checks, withdraw):
    ingest.add_command(command)
