"""`cardpress ingest expansions`, `attributes`: imports tables of what the marketplace's files lack (docs/ingest.md)."""

from functools import partial
from typing import Any

import click

from generator.commands.ingest_scraped import line_options, run_import
from generator.ingest.catalogue_import import import_attributes, import_expansions


@click.command()
@line_options
@click.option("--game", help="The game of the lines that name none.")
def expansions(game: str | None, **options: Any) -> None:
    """Import names, games and URLs of expansions.

    FILE: CSV with a header or JSON Lines, plain or gzip, - for standard input: id, name, game, url. Importing a file
    again changes nothing.

    \b
    Example: cardpress ingest expansions --lake lake expansions.csv --game Digimon
    """
    run_import(partial(import_expansions, game=game), **options)


@click.command()
@line_options
def attributes(**options: Any) -> None:
    """Import numbers, rarities, URLs and images of products.

    FILE: CSV with a header or JSON Lines, plain or gzip, - for standard input: id_product, number, rarity, url, image,
    image_large. Importing a file again changes nothing.

    \b
    Example: cardpress ingest attributes --lake lake attributes.csv
    """
    run_import(import_attributes, **options)
