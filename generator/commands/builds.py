"""`cardpress builds`: list the builds of a store, as scripts read them."""

from typing import Any

import click

from edge_auth.store.open import open_store
from generator.clock import utc_now
from generator.commands.options import json_option, no_builds_message, store_option
from generator.reading.overview import LIVE, PREVIOUS, BuildRow, overview
from generator.terminal import say, say_json


@click.command()
@store_option
@json_option
def builds(store: str, as_json: bool) -> None:
    """List the builds of the store. Newest day first; the live one is marked.

    \b
    Example: cardpress builds --store site_out
    """
    found = overview(open_store(store), utc_now)
    if as_json:
        rows = [_to_json(row) for row in found.builds]
        say_json({"live": found.live, "hold": found.hold, "builds": rows})
        return
    for row in found.builds:
        counts = f"{row.products:>9,} products  {row.objects:>11,} objects  {row.bytes / 1e6:>9,.1f} MB"
        say(f"{row.id}  {counts}  {row.state}  {row.held}".rstrip())
    if not found.builds:
        say(no_builds_message(store), err=True)
    if found.hold:
        say(
            f"a rollback holds publishing back: nothing is published until `cardpress publish BUILD --store {store}`",
            err=True,
        )


def _to_json(row: BuildRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "as_of": row.as_of,
        "live": row.state == LIVE,
        "previous": row.state == PREVIOUS,
        "products": row.products,
        "objects": row.objects,
        "bytes": row.bytes,
    }
