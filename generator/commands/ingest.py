"""`cardpress ingest …`: imports files into lake tables."""

from datetime import datetime
from pathlib import Path

import click

from generator import settings
from generator.commands.import_results import accept_option, max_file_option, run_import
from generator.commands.ingest_cardmarket import cardmarket
from generator.commands.ingest_lines import lines_command
from generator.commands.options import DAY, json_option, lake_made_option, lake_option
from generator.ingest.bounded_file import FileLimits
from generator.ingest.card_formats import CARD_FORMATS
from generator.ingest.cardmarket_identifiers import CardmarketIdentifiers, is_cardmarket_identifiers
from generator.ingest.findings import OTHER_NAMES
from generator.ingest.formats import ATTRIBUTES, EXPANSIONS, SCRAPED_FORMATS, WATCHLIST
from generator.ingest.gaps import template_lines
from generator.ingest.identifiers import IdentifierFiles
from generator.ingest.line_sources import AttributeLines, ExpansionLines, ScrapedLines
from generator.ingest.watchlist import WatchlistLines
from generator.ingest.withdraw import TABLES
from generator.ingest.withdraw import withdraw as take_out
from generator.lake.writer import LakeWriter
from generator.terminal import say_json, say_lines


@click.group()
def ingest() -> None:
    """Import files of the marketplace or of scrapers into lake tables.

    \b
    Example: cardpress ingest cardmarket --lake lake downloads/
    """


ingest.add_command(cardmarket)
game_option = click.option("--game", help="The game of the lines that name none.")
ingest.add_command(lines_command(EXPANSIONS, ExpansionLines, game_option, template=template_lines))
ingest.add_command(lines_command(ATTRIBUTES, AttributeLines))
replace_option = click.option(
    "--replace", is_flag=True, help="The files are the whole truth: other rows that imports wrote go."
)
ingest.add_command(lines_command(WATCHLIST, WatchlistLines, replace_option))
for line_format in SCRAPED_FORMATS:
    ingest.add_command(lines_command(line_format, ScrapedLines))


@ingest.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True), metavar="FILE…")
@lake_made_option
@click.option("--from", "source", type=click.Choice(list(CARD_FORMATS)), help="Read files of cards of this catalogue.")
@click.option(
    "--replace",
    is_flag=True,
    help="The files are the whole truth: other ids of the catalogue go. Without --from: of each scheme in the files.",
)
@accept_option(OTHER_NAMES)
@max_file_option(settings.MAX_CARDS_BYTES)
@json_option
def identifiers(
    files: tuple[Path, ...],
    lake: str,
    source: str | None,
    replace: bool,
    accept: tuple[str, ...],
    max_file_mb: int,
    as_json: bool,
) -> None:
    """Import the ids that other catalogues have for the products.

    FILE: CSV with a header or JSON Lines with id_product, scheme and value; with --from the JSON of cards that the
    catalogue publishes. Plain, gzip, bzip2 or xz, - for standard input. Importing a file again changes nothing.

    \b
    Example: cardpress ingest identifiers --lake lake --from mtgjson AllPrintings.json.gz
    """
    limits = FileLimits(max_file_mb << 20)
    if source == "mtgjson" and any(path.is_file() and is_cardmarket_identifiers(path, limits) for path in files):
        if len(files) > 1 or replace:
            raise click.UsageError("Import CardmarketIdentifiers.json by itself, without --replace.")
        run_import(lake, CardmarketIdentifiers(files[0], limits), 1, as_json)
        return
    format_ = CARD_FORMATS[source] if source else None
    run_import(lake, IdentifierFiles(format_, files, limits, replace, accepted=frozenset(accept)), len(files), as_json)


@ingest.command("cardmarket-identifiers")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@lake_made_option
@max_file_option(settings.MAX_CARDS_BYTES)
@json_option
def cardmarket_identifiers(file: Path, lake: str, max_file_mb: int, as_json: bool) -> None:
    """Import names of expansions, numbers and ids from MTGJSON's CardmarketIdentifiers.json.

    FILE: the file as MTGJSON publishes it, plain, gzip, bzip2 or xz. It has what the marketplace's files of Magic lack.
    `ingest identifiers --from mtgjson` reads it as well. Importing it again changes nothing.

    \b
    Example: cardpress ingest cardmarket-identifiers --lake lake CardmarketIdentifiers.json.xz
    """
    run_import(lake, CardmarketIdentifiers(file, FileLimits(max_file_mb << 20)), 1, as_json)


@ingest.command()
@click.argument("days", nargs=-1, type=DAY, metavar="[DAY]…")
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
