"""`cardpress verify`: compare every object of a build with its recorded hash."""

import click

from edge_auth.store.open import open_store
from generator.commands.options import BuildName, json_option, named_build, store_option
from generator.lake.quarantine import read_quarantine
from generator.pack.verify import verify as read_again
from generator.releases.change_documents import verify_steps
from generator.terminal import Progress, say, say_json


@click.command()
@click.argument("build", required=False, type=BuildName())
@store_option
@json_option
def verify(build: str | None, store: str, as_json: bool) -> None:
    """Compare every object of a build with its recorded hash.

    BUILD is an id, `live` or `previous`; the default is the live build.

    \b
    Example: cardpress verify --store site_out
    """
    opened = named_build(open_store(store), build)
    totals = read_again(opened, Progress())
    verify_steps(opened.store)
    read_quarantine(opened.store)  # raises if it lacks what the live build left out
    if as_json:
        say_json({"build": opened.id, "objects": totals.objects, "bytes": totals.bytes})
    else:
        say(f"{opened.id}: {totals.objects:,} objects in {totals.bytes / 1e6:,.1f} MB, all match their hashes")
