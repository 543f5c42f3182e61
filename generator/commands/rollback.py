"""`cardpress rollback`: make the build before the live one live again."""

import click

from edge_auth.store.open import open_store
from generator.commands.options import store_option
from generator.releases.change_documents import complete_steps
from generator.releases.publish import rollback as move_back
from generator.releases.reserve import with_reserve
from generator.terminal import say


@click.command()
@store_option
def rollback(store: str) -> None:
    """Make the build before the live one live again.

    Repeat it to go further back. A rollback sets a hold: `build --publish` and `nightly` publish nothing until
    `publish BUILD` lifts the hold.

    \b
    Example: cardpress rollback --store site_out
    """
    opened = open_store(store)
    say(with_reserve(opened, lambda: move_back(opened)))
    complete_steps(opened)  # after the move, which must not wait for it
