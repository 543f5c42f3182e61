"""`cardpress unlock`: release the locks that a killed run left."""

import click

from edge_auth.builds import layout
from edge_auth.store.open import open_store
from generator.clock import utc_now
from generator.commands.options import store_option
from generator.releases.locks import release_lock
from generator.terminal import say


@click.command()
@store_option
@click.option("--force", is_flag=True, help="Release a lock although its run may be alive; that run then stops.")
def unlock(store: str, force: bool) -> None:
    """Release the locks of `nightly` and `prune` that a killed run left.

    In a folder the lock of a killed run ends with its process, in a bucket after its lease. Only a run that was killed
    under a wrong clock blocks the others of a bucket for longer. A lock that is held may be that of a living run: check
    there first; then pass --force.

    \b
    Example: cardpress unlock --store site_out
    """
    opened = open_store(store)
    for name in (layout.NIGHTLY_LOCK, layout.PRUNE_LOCK):
        if holder := release_lock(opened, name, force=force, clock=utc_now):
            who = f"run {holder['run']} on {holder['host']} (process {holder['pid']})"
            say(f"{name}: released; {who} held it since {holder['since']}")
        else:
            say(f"{name}: no run holds it")
