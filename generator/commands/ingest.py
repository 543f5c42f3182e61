"""`cardpress ingest …`: imports files into lake tables."""

import click

from generator.commands.ingest_cardmarket import cardmarket
from generator.commands.ingest_identifiers import cardmarket_identifiers, identifiers
from generator.commands.ingest_lines import lines_command
from generator.commands.ingest_withdraw import withdraw
from generator.ingest.formats import ATTRIBUTES, EXPANSIONS, SCRAPED_FORMATS, WATCHLIST
from generator.ingest.gaps import template_lines
from generator.ingest.line_sources import AttributeLines, ExpansionLines, ScrapedLines
from generator.ingest.watchlist import WatchlistLines


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
ingest.add_command(identifiers)
ingest.add_command(cardmarket_identifiers)
ingest.add_command(withdraw)
