"""`cardpress builds`: list the builds of a store."""

import json

import click

from edge_auth.contract import layout
from edge_auth.contract.builds import open_build, read_pointer
from edge_auth.contract.store.open import open_store
from generator.commands.build_names import none_yet
from generator.commands.options import json_option, store_option


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
    ids = sorted(layout.build_ids(opened.list(layout.BUILDS)), reverse=True)
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
