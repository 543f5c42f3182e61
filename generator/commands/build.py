"""`cardpress build`: from a lake to a build in the store."""

from datetime import datetime

import click

from generator.commands import options
from generator.lake.lake import absolute, open_lake
from generator.lake.quarantine import skipped_by_builds, waiting_files, waiting_in_short
from generator.making.make import BuildResult, make_build
from generator.reading.explain import explain_build
from generator.releases.live_tree import bring_up_tree
from generator.releases.locks import end_by_error, hold_back, keep_reserve
from generator.releases.publish import publish
from generator.storage import layout
from generator.storage.stores.open import open_store
from generator.terminal import Progress, aligned, say_result
from generator.threads import Resources


@click.command()
@options.lake_option
@options.store_option
@click.option(
    "--as-of", type=options.DAY, metavar="DAY", help="The as-of day of the build.  [default: the newest partition]"
)
@options.publish_option
@options.objects_option
@click.option("--explain", is_flag=True, help="Print which layers would be made, and why. Make nothing.")
@click.option("--repair", is_flag=True, help="Read every layer that the store has, and make damaged ones again.")
@options.resources_options
@options.scheduler_option
@options.json_option
def build(
    lake: str,
    store: str,
    as_of: datetime | None,
    publish_it: bool,
    objects: str | None,
    explain: bool,
    repair: bool,
    as_json: bool,
    resources: Resources,
    scheduler: str | None,
) -> None:
    """Make a build of LAKE in the store. The last line of the output is its id.

    Layers whose inputs did not change are not made again. So a second run takes seconds, and a killed run continues.

    With --scheduler, --threads (1) and --memory (1GB) apply to each worker; see docs/where-it-runs.md.

    With --json the build's record is printed, with the seconds of each layer.

    With --explain the id is the one that the build would have.

    \b
    Example: cardpress build --lake lake --store site_out --publish
    """
    if explain and publish_it:
        raise click.UsageError("--explain makes nothing: leave out --publish")
    progress = Progress()
    lake = absolute(lake) if scheduler else lake
    opened = open_store(store)
    source = open_lake(lake, as_of and as_of.date(), progress, skipped_by_builds(opened))
    if explain:
        plan = explain_build(source, opened, repair)
        rows = [("make" if one["make"] else "keep", one["layer"], one["why"]) for one in plan["layers"]]
        say_result(as_json, plan, [*aligned(rows), plan["build"]])
    else:
        with hold_back(), end_by_error("build"):
            result = make_build(
                source, opened, resources=resources, progress=progress, repair=repair, scheduler=scheduler
            )
        if waiting := waiting_files(opened, result.record):
            progress.say(waiting_in_short(waiting, store))
        _report(result, progress, as_json)
        if publish_it:
            publish(opened, result.id, by_hand=False, just_made=True)
            keep_reserve(opened)
            progress.say(f"published: {result.id} is live in {store}")
            bring_up_tree(opened, objects, progress)


def _report(result: BuildResult, progress: Progress, as_json: bool) -> None:
    for layer, why in result.damaged.items():
        progress.say(f"{layer} was damaged and is made again: {why}")
    for left_out in result.record["left_out"]:
        progress.say("{table}: {rows:,} {reason}, such as {example}".format(**left_out))
    objects, size = sum(result.record["objects"].values()), sum(result.record["bytes"].values())
    made = [name for name in result.made if not layout.holds_bulk_files(name)]
    if bulk := len(result.made) - len(made):  # they are many
        made.append(f"{bulk} layer{'s' * (bulk > 1)} of bulk files")
    summary = f"made {', '.join(made)}" if made else "nothing to make: the store has every layer"
    progress.say(f"{summary}; {objects:,} objects, {size / 1e6:,.1f} MB")
    described = {"made": result.made, "damaged": result.damaged, "seconds": result.seconds} | result.record
    say_result(as_json, described, [result.id])
