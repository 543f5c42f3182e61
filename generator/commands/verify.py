"""`cardpress verify`: compare every object of a build with its recorded hash."""

import json

import click

from edge_auth.contract.store.open import open_store
from generator.commands.build_names import BuildName, named_build
from generator.commands.options import json_option, store_option
from generator.progress import Progress
from generator.releases.verify import verify as read_again


@click.command()
@click.argument("build", required=False, type=BuildName())
@store_option
@json_option
def verify(build: str | None, store: str, as_json: bool) -> None:
    """Re-read every object of a build against its recorded hash.

    BUILD is an id, `live` or `previous`; without it the live one is meant.

    \b
    Example: cardpress verify --store site_out
    """
    opened = named_build(open_store(store), build)
    good = read_again(opened, Progress())
    if as_json:
        click.echo(json.dumps({"build": opened.id, "objects": good.objects, "bytes": good.bytes}))
    else:
        click.echo(f"{opened.id}: {good.objects:,} objects in {good.bytes / 1e6:,.1f} MB, all as they were written")
