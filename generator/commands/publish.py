"""`cardpress publish` and `cardpress rollback`: move the pointer to the live build."""

import click

from edge_auth.contract.store import open_store
from generator.commands.named import BuildName
from generator.commands.options import store_option
from generator.publish import publish as move_to
from generator.publish import rollback as move_back


@click.command()
@click.argument("build", type=BuildName(words=False))
@store_option
def publish(build: str, store: str) -> None:
    """Make BUILD the live build. Lifts the hold that a rollback set.

    \b
    Example: cardpress publish 2026-08-22-0123456789ab --store site_out
    """
    move_to(open_store(store), build, by_hand=True)
    click.echo(build)


@click.command()
@store_option
def rollback(store: str) -> None:
    """Make the build before the live one live again.

    Each time one further back. It sets a hold: `build --publish` and `nightly` then publish nothing until
    `publish BUILD` lifts it.

    \b
    Example: cardpress rollback --store site_out
    """
    click.echo(move_back(open_store(store)))
