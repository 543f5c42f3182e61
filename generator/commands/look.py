"""`cardpress builds`, `verify`, `cat` and `export`: look at what is in the store."""

import json
import sys

import click

from edge_auth.contract.builds import open_build, read_pointer
from edge_auth.contract.store import open_store
from generator.commands.named import BuildName, named_build, none_yet
from generator.commands.options import build_option, json_option, store_option
from generator.errors import BuildError
from generator.export import ROOT
from generator.export import export as write_files
from generator.progress import Progress
from generator.read_ahead import ReadAhead
from generator.verify import verify as read_again


@click.command()
@store_option
@json_option
def builds(store: str, as_json: bool) -> None:
    """List the builds of the store. Newest day first; the live one is marked.

    \b
    Example: cardpress builds --store site_out
    """
    opened = open_store(store)
    pointer, _ = read_pointer(opened)
    live = pointer.build if pointer else None
    ids = sorted((name.removeprefix("builds/").removesuffix(".json") for name in opened.list("builds/")), reverse=True)
    found = [open_build(opened, build_id).record for build_id in ids]
    rows = [_summary(record, live, pointer.previous if pointer else []) for record in found]
    if as_json:
        click.echo(json.dumps({"live": live, "hold": bool(pointer and pointer.hold), "builds": rows}))
        return
    for row in rows:
        click.echo(_line(row))
    if not rows:
        click.echo(none_yet(store), err=True)
    if pointer and pointer.hold:
        click.echo(
            f"a rollback holds: nothing is published until `cardpress publish BUILD --store {store}`",
            err=True,
        )


def _line(row: dict) -> str:
    mark = "live" if row["live"] else "previous" if row["previous"] else ""
    counts = f"{row['products']:>9,} products  {row['objects']:>11,} objects  {row['bytes'] / 1e6:>9,.1f} MB"
    return f"{row['id']}  {counts}  {mark}".rstrip()


def _summary(record: dict, live: str | None, previous: list[str]) -> dict:
    return {
        "id": record["id"],
        "as_of": record["as_of"],
        "live": record["id"] == live,
        "previous": record["id"] in previous,
        "products": record["freshness"]["catalogue"]["products"],
        "objects": sum(record["objects"].values()),
        "bytes": sum(record["bytes"].values()),
    }


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


@click.command()
@click.argument("key")
@build_option
@store_option
def cat(key: str, build_id: str | None, store: str) -> None:
    """Print one object of a build. KEY is such as cards/273532.json.

    \b
    Example: cardpress cat status.json --store site_out
    """
    build = named_build(open_store(store), build_id)
    document = build.document(key.removeprefix(f"{ROOT}/"))
    if document is None:
        raise BuildError(f"build {build.id} has no object {key}; `cardpress export DIR` shows all keys")
    sys.stdout.buffer.write(document)
    sys.stdout.buffer.flush()


@click.command()
@click.argument("dir")
@build_option
@store_option
@click.option("--gzip", is_flag=True, help="Write a .json.gz beside each file.")
def export(dir: str, build_id: str | None, store: str, gzip: bool) -> None:
    """Write a build as plain files, one per object.

    The API lies below DIR/api/v1, the site in DIR/docs and DIR/explore.

    \b
    Example: cardpress export plain --store site_out && ls plain/api/v1/cards/all/trend
    """
    written = write_files(named_build(ReadAhead(open_store(store)), build_id), dir, gzip=gzip, progress=Progress())
    click.echo(f"{written:,} objects in {dir}")
