"""`cardpress ingest identifiers` and `cardmarket-identifiers`: ids that other catalogues have for the products."""

from pathlib import Path

import click

from generator import settings
from generator.commands.import_results import accept_option, max_file_option, run_import
from generator.commands.options import json_option, lake_made_option
from generator.ingest.bounded_file import FileLimits
from generator.ingest.card_formats import CARD_FORMATS
from generator.ingest.cardmarket_identifiers import CardmarketIdentifiers, is_cardmarket_identifiers
from generator.ingest.findings import OTHER_NAMES
from generator.ingest.identifiers import IdentifierFiles

_MTGJSON = "mtgjson"


@click.command()
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
    if any(_is_of_the_marketplace(path, source, limits) for path in files):
        if len(files) > 1 or replace:
            raise click.UsageError("Import CardmarketIdentifiers.json by itself, without --replace.")
        run_import(lake, CardmarketIdentifiers(files[0], limits), 1, as_json)
        return
    format_ = CARD_FORMATS[source] if source else None
    run_import(lake, IdentifierFiles(format_, files, limits, replace, accepted=frozenset(accept)), len(files), as_json)


@click.command("cardmarket-identifiers")
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


def _is_of_the_marketplace(path: Path, source: str | None, limits: FileLimits) -> bool:
    return source == _MTGJSON and path.is_file() and is_cardmarket_identifiers(path, limits)
