"""`cardpress unlock`: release the locks that a killed run left."""

import click

from edge_auth.builds import layout
from edge_auth.store.open import open_store
from generator.clock import utc_now
from generator.commands.options import store_option
from generator.releases.locks import Holder, release_lock
from generator.terminal import say


@click.command()
@store_option
@click.option("--force", is_flag=True, help="Release a lock also if its run may be alive; that run then stops.")
def unlock(store: str, force: bool) -> None:
    """Release the locks of `nightly` and `prune` that a killed run left.

    A run that ends releases its lock by itself, and the lock of a killed run ends after its lease. Only a run that was
    killed under a wrong clock blocks the others for longer. A lock is not released while its run may be alive: if its
    process exists, or if it ran on another machine. Check there first; then pass --force.

    \b
    Example: cardpress unlock --store site_out
    """
    opened = open_store(store)
    for name in (layout.NIGHTLY_LOCK, layout.PRUNE_LOCK):
        holder = release_lock(opened, name, force=force, clock=utc_now)
        say(f"{name}: {_released(holder) if holder else 'no run holds it'}")


def _released(holder: Holder) -> str:
    return (
        f"released; run {holder['run']} on {holder['host']} (process {holder['pid']}) held it until {holder['expires']}"
    )
