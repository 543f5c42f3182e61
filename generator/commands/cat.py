"""`cardpress cat`: print one object of a build."""

import sys

import click

from edge_auth.store.open import open_store
from generator.commands.options import build_option, named_build, store_option
from generator.errors import BuildError
from generator.tree.documents import Documents


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
