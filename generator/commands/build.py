"""`cardpress build`: from a lake to a build in the store."""

import json
from dataclasses import asdict
from datetime import datetime

import click

from edge_auth.contract.store.open import open_store
from generator.build.make import BuildResult, make_build, planned
from generator.build.plan import BuildPlan
from generator.commands.options import (
    json_option,
    lake_option,
    memory_option,
    scheduler_option,
    store_option,
    threads_option,
)
from generator.lake.lake import absolute, open_lake
from generator.progress import Progress
from generator.reading.explain import Explanation, explain_build
from generator.releases.publish import publish


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
@click.option("--explain", is_flag=True, help="Say which layers would be made, and why; make nothing.")
@click.option("--plan", "plan_only", is_flag=True, help="Print the tasks that would be done; make nothing.")
@click.option("--repair", is_flag=True, help="Read every layer before it is used again; make damaged ones anew.")
@threads_option
@memory_option
@scheduler_option
@json_option
def build(
    lake: str,
    store: str,
    as_of: datetime | None,
    publish_it: bool,
    explain: bool,
    plan_only: bool,
    repair: bool,
    threads: int | None,
    memory: str | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Make a build of LAKE in the store. The last line is its id.

    With --scheduler, --threads (1) and --memory (1GB) are those of each worker; see docs/scale.md.

    Layers whose inputs did not change are not made again, so a second run costs seconds and a killed one resumes.

    With --explain and --plan the id is the one that the build would have; rows and bytes of a plan are estimates.

    \b
    Example: cardpress build --lake lake --store site_out --publish
    """
    progress = Progress()
    lake = absolute(lake) if scheduler else lake
    opened, source = open_store(store), open_lake(lake, as_of and as_of.date(), progress)
    if explain or plan_only:
        if publish_it:
            raise click.UsageError("--explain and --plan make nothing, so there is nothing to publish")
        if plan_only:
            _plan(planned(source, opened, repair=repair), as_json)
        else:
            _explain(explain_build(source, opened, repair), as_json)
        return
    result = make_build(
        source, opened, threads=threads, memory=memory, progress=progress, repair=repair, scheduler=scheduler
    )
    _report(result, progress)
    if as_json:
        click.echo(json.dumps({"made": result.made, "damaged": result.damaged} | result.record))
    else:
        click.echo(result.id)
    if publish_it:
        publish(opened, result.id, by_hand=False)
        progress.say(f"published: {result.id} is live in {store}")


def _explain(said: Explanation, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(asdict(said)))
        return
    for layer in said.layers:
        click.echo(f"{'make' if layer.make else 'keep'}  {layer.layer:<14}{layer.why}")
    click.echo(said.build)


def _plan(plan: BuildPlan, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(plan.to_dict()))
        return
    for line in plan.lines():
        click.echo(line)
    click.echo(plan.build)


def _report(result: BuildResult, progress: Progress) -> None:
    for layer, why in result.damaged.items():
        progress.say(f"{layer} was damaged and made anew: {why}")
    for left_out in result.record["left_out"]:
        progress.say("{table}: {rows:,} {reason}, such as {example}".format(**left_out))
    objects, size = sum(result.record["objects"].values()), sum(result.record["bytes"].values())
    done = f"made {', '.join(result.made)}" if result.made else "nothing to make: every layer was there"
    progress.say(f"{done}; {objects:,} objects, {size / 1e6:,.1f} MB")
