"""`cardpress ingest …`: imports files into lake tables."""

import click

from generator.commands.ingest_cardmarket import cardmarket
from generator.commands.ingest_catalogue import attributes, expansions
from generator.commands.ingest_scraped import list_pages, offers, watch_checks
from generator.commands.ingest_withdraw import withdraw


@click.group()
def ingest() -> None:
    """Import files of the marketplace or of scrapers into lake tables.

    \b
    Example: cardpress ingest cardmarket --lake lake downloads/
    """


for command in (cardmarket, expansions, attributes, list_pages, offers, watch_checks, withdraw):
    ingest.add_command(command)
