"""`cardpress export` and `cat`: the objects of a build as plain files, and one of them."""

import sys

import click

from generator.commands.options import build_option, named_build, store_option
from generator.errors import BuildError
from generator.storage.stores.open import open_store
from generator.terminal import Progress, say
from generator.tree.documents import Documents
from generator.tree.export import ReadAhead
from generator.tree.export import export as write_files


@click.command()
@click.argument("target")
@build_option
@store_option
@click.option("--gzip", is_flag=True, help="Also write a .gz beside each file of a folder.")
def export(target: str, build_id: str | None, store: str, gzip: bool) -> None:
    """Write a build as plain files, one per object, into a folder or a bucket.

    TARGET is a new folder or s3://bucket/prefix, or one that export wrote. The API is written below TARGET/api/v1, the
    site to TARGET/docs and TARGET/explore. A second run writes only the files that changed and deletes those that are
    gone; TARGET/.cardpress-export.json is its record. The objects of a bucket are
    compressed.

    \b
    Example: cardpress export plain --store site_out && ls plain/api/v1/cards/all/trend
    """
    build = named_build(ReadAhead(open_store(store)), build_id)
    result = write_files(build, target, gzip=gzip, progress=Progress())
    say(f"{result.objects:,} objects in {target}: {result.written:,} written, {result.deleted:,} deleted")


@click.command()
@click.argument("key")
@build_option
@store_option
def cat(key: str, build_id: str | None, store: str) -> None:
    """Print one object of a build. KEY is its path, such as cards/273532.json.

    \b
    Example: cardpress cat status.json --store site_out
    """
    build = named_build(open_store(store), build_id)
    document = Documents(build).find(key)
    if document is None:
        raise BuildError(f"build {build.id} has no object {key}; `cardpress export TARGET` writes all keys as files")
    sys.stdout.buffer.write(document)
    sys.stdout.buffer.flush()
