"""`cardpress ingest identifiers`: imports the ids that other catalogues have for the products."""

from pathlib import Path

import click

from generator import settings
from generator.commands.import_results import max_file_option, reading_progress
from generator.ingest.bounded_file import FileLimits
from generator.ingest.identifier_formats import CARD_FORMATS
from generator.ingest.identifiers_import import import_identifiers
from generator.lake.writer import LakeWriter
from generator.terminal.output import say, say_json, say_lines


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True), metavar="FILE…")
@click.option("--lake", required=True, help="Folder (made if absent) or s3:// prefix.")
@click.option("--from", "source", type=click.Choice(list(CARD_FORMATS)), help="Read files of cards of this catalogue.")
@click.option(
    "--replace",
    is_flag=True,
    help="The files are the whole truth: other ids of the catalogue go. Without --from: of each scheme in the files.",
)
@max_file_option(settings.MAX_CARDS_BYTES)
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
def identifiers(
    files: tuple[Path, ...], lake: str, source: str | None, replace: bool, max_file_mb: int, as_json: bool
) -> None:
    """Import the ids that other catalogues have for the products.

    FILE: CSV with a header or JSON Lines with id_product, scheme and value; with --from the JSON of cards that the
    catalogue publishes. Plain, gzip, bzip2 or xz, - for standard input. Importing a file again changes nothing.

    \b
    Example: cardpress ingest identifiers --lake lake --from mtgjson AllPrintings.json.gz
    """
    limits = FileLimits(max_file_mb << 20)
    with reading_progress(len(files)) as on_read:
        result = import_identifiers(
            LakeWriter(lake),
            files,
            CARD_FORMATS[source] if source else None,
            replace=replace,
            limits=limits,
            on_read=on_read,
        )
    if as_json:
        say_json(result.as_json())
        return
    say(result)
    say_lines(
        f"{path}: {counts.rows} rows, {counts.new} new, {counts.removed} removed"
        for path, counts in result.tables.items()
    )
