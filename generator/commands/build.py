"""`cardpress build`: from a lake to a build in the store."""

import json
from datetime import datetime

import click

from edge_auth.contract.store import open_store
from generator.build import BuildResult, make_build
from generator.commands.options import json_option, lake_option, memory_option, store_option, threads_option
from generator.lake import open_lake
from generator.progress import Progress
from generator.publish import publish


@click.command()
@lake_option
@store_option
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    help="The day the build speaks for.  [default: the newest partition]",
)
@click.option("--publish", "publish_it", is_flag=True, help="Make it the live build.")
@threads_option
@memory_option
@json_option
def build(
    lake: str,
    store: str,
    as_of: datetime | None,
    publish_it: bool,
    threads: int | None,
    memory: str,
    as_json: bool,
) -> None:
    """Make a build of LAKE in the store; print its id on the last line.

    Layers whose inputs did not change are not made again, so a second run costs seconds and a killed one resumes.

    \b
    Example: cardpress build --lake lake --store site_out --publish
    """
    progress = Progress()
    opened = open_store(store)
    result = make_build(
        open_lake(lake, as_of and as_of.date(), progress), opened, threads=threads, memory=memory, progress=progress
    )
    _report(result, progress)
    if as_json:
        click.echo(json.dumps({"made": result.made} | result.record))
    else:
        click.echo(result.id)
    if publish_it:
        publish(opened, result.id, by_hand=False)
        progress.say(f"published: {result.id} is live in {store}")


def _report(result: BuildResult, progress: Progress) -> None:
    for left_out in result.record["left_out"]:
        progress.say("{table}: {rows:,} {reason}, such as {example}".format(**left_out))
    objects, size = sum(result.record["objects"].values()), sum(result.record["bytes"].values())
    done = f"made {', '.join(result.made)}" if result.made else "nothing to make: every layer was there"
    progress.say(f"{done}; {objects:,} objects, {size / 1e6:,.1f} MB")
