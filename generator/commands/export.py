"""`cardpress export`: write a build as plain files."""

import click

from edge_auth.contract.store.open import open_store
from generator.commands.build_names import named_build
from generator.commands.options import build_option, store_option
from generator.pack.read_ahead import ReadAhead
from generator.progress import Progress
from generator.releases.export import export as write_files
from generator.terminal import say


@click.command()
@click.argument("dir")
@build_option
@store_option
@click.option("--gzip", is_flag=True, help="Also write a .gz beside each file.")
def export(dir: str, build_id: str | None, store: str, gzip: bool) -> None:
    """Write a build as plain files, one per object.

    The API is written below DIR/api/v1, the site to DIR/docs and DIR/explore.

    \b
    Example: cardpress export plain --store site_out && ls plain/api/v1/cards/all/trend
    """
    build = named_build(ReadAhead(open_store(store)), build_id)
    objects = write_files(build, dir, gzip=gzip, progress=Progress())
    say(f"{objects:,} objects in {dir}")
