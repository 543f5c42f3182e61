"""`cardpress publish`: make a build the live one."""

import click

from edge_auth.store.open import open_store
from generator.commands.options import BuildName, store_option
from generator.releases.publish import publish as move_to
from generator.releases.reserve import with_reserve
from generator.terminal import say


@click.command()
@click.argument("build", type=BuildName(words=False))
@store_option
def publish(build: str, store: str) -> None:
    """Make BUILD the live build. This lifts the hold that a rollback sets.

    \b
    Example: cardpress publish 2026-08-22-0123456789ab --store site_out
    """
    opened = open_store(store)
    with_reserve(opened, lambda: move_to(opened, build, by_hand=True))
    say(build)
