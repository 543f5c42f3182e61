"""`cardpress export`: write a build as plain files."""

import click

from edge_auth.store.open import open_store
from generator.commands.options import build_option, named_build, store_option
from generator.terminal import Progress, say
from generator.tree.export import ReadAhead
from generator.tree.export import export as write_files


@click.command()
@click.argument("target")
@build_option
@store_option
@click.option("--gzip", is_flag=True, help="Also write a .gz beside each file of a folder.")
@click.option(
    "--plain/--compressed",
    default=None,
    help="Write the objects of a bucket without Content-Encoding, for clients that do not inflate; "
    "default: as the tree has them, compressed at first.",
)
def export(target: str, build_id: str | None, store: str, gzip: bool, plain: bool | None) -> None:
    """Write a build as plain files, one per object, into a folder or a bucket.

    TARGET is a new folder or s3://bucket/prefix, or one that export wrote. The API is written below TARGET/api/v1, the
    site to TARGET/docs and TARGET/explore. A second run writes only the files that changed and deletes those that are
    gone; TARGET/.cardpress-export.json is its record. Objects in a bucket are compressed unless you
    pass --plain.

    \b
    Example: cardpress export plain --store site_out && ls plain/api/v1/cards/all/trend
    """
    build = named_build(ReadAhead(open_store(store)), build_id)
    result = write_files(build, target, gzip=gzip, plain=plain, progress=Progress())
    say(f"{result.objects:,} objects in {target}: {result.written:,} written, {result.deleted:,} deleted")
