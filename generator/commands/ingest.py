"""`cardpress ingest …`: what others publish becomes lake tables (contract section 4)."""

import json
from collections.abc import Callable
from pathlib import Path

import click

from generator.commands.import_results import reading, told
from generator.commands.ingest_scraped import list_pages, offers, watch_checks
from generator.ingest.imports import CardmarketFiles, import_cardmarket
from generator.ingest.tables import LakeWriter


def _files(name: str, help: str) -> Callable:
    """An option that may be given several times; in its variable, paths are separated as in PATH."""
    return click.option(name, multiple=True, type=click.Path(path_type=Path), metavar="FILE", help=help)


@click.group()
def ingest() -> None:
    """Turn files of others, or of scrapers, into lake tables.

    \b
    Example: cardpress ingest cardmarket --lake lake --singles products_singles_6.json
    """


@ingest.command()
@click.option("--lake", required=True, help="Folder (made if absent) or s3:// prefix.")
@_files("--singles", "A list of singles, products_singles_G.json.")
@_files("--nonsingles", "A list of sealed products, products_nonsingles_G.json.")
@_files("--price-guide", "A price guide, price_guide_G.json.")
@_files("--expansions", "Names of expansions.")
@click.option("--game", help="The game of the expansions in these files.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
def cardmarket(
    lake: str,
    singles: tuple[Path, ...],
    nonsingles: tuple[Path, ...],
    price_guide: tuple[Path, ...],
    expansions: tuple[Path, ...],
    game: str | None,
    as_json: bool,
) -> None:
    """Import the marketplace's own download files, plain or gzip.

    Every file option may be given several times: several games, several days, in any order. Importing a file
    again changes nothing.

    \b
    Example: cardpress ingest cardmarket --lake lake --singles products_singles_6.json \\
             --nonsingles products_nonsingles_6.json --price-guide price_guide_6.json
    """
    files = CardmarketFiles(singles, nonsingles, expansions, price_guide)
    if not files:
        raise click.UsageError("Nothing to import: give --singles, --nonsingles, --price-guide or --expansions")
    if game and not expansions:
        click.echo(
            "--game names the game of expansions, and no --expansions file is given: it has no effect",
            err=True,
        )
    with reading(len(files)) as read:
        result = import_cardmarket(LakeWriter(lake), files, game, read)
    if as_json:
        click.echo(json.dumps({name: counts._asdict() for name, counts in result.items()}))
    else:
        click.echo("\n".join(told(name, counts) for name, counts in result.items()))


for command in (list_pages, offers, watch_checks):
    ingest.add_command(command)
