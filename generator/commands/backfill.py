"""`cardpress backfill`: many days in one import, one build and one diff."""

from datetime import date, datetime, timedelta
from pathlib import Path

import click

from edge_auth.builds.builds import Build, open_build
from edge_auth.builds.pointer import live_build_id
from edge_auth.errors import NoLiveBuild
from edge_auth.store.interface import Store
from edge_auth.store.open import open_store
from generator import settings
from generator.commands.import_results import accept_option, max_file_option, say_findings
from generator.commands.options import lake_option, publish_option, resources_options, store_option
from generator.compare.comparison import compare
from generator.compare.diff import Diff
from generator.errors import IngestError
from generator.ingest.bounded_file import FileLimits
from generator.ingest.findings import FAR_DAY, REFUSED
from generator.ingest.marketplace import MarketplaceFiles
from generator.ingest.pipeline import import_into
from generator.lake.lake import open_lake
from generator.lake.quarantine import skipped_by_builds
from generator.lake.writer import LakeWriter
from generator.making.make import make_build
from generator.reading.diff.report import as_text, make_report
from generator.releases.publish import publish
from generator.terminal import Progress, say, say_lines
from generator.threads import Resources

_DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.argument("first", type=_DAY, metavar="FROM")
@click.argument("last", type=_DAY, metavar="TO")
@click.argument("places", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR…")
@lake_option
@store_option
@publish_option
@click.option("--game", help="The game of the expansions in these files.")
@accept_option(*REFUSED)
@max_file_option(settings.MAX_DOWNLOAD_BYTES)
@click.option("--top", type=click.IntRange(1), default=20, help="Rows of each list of the diff.")
@resources_options
def backfill(
    first: datetime,
    last: datetime,
    places: tuple[Path, ...],
    lake: str,
    store: str,
    publish_it: bool,
    game: str | None,
    accept: tuple[str, ...],
    max_file_mb: int,
    top: int,
    resources: Resources,
) -> None:
    """Import the price guides of many days, make one build, and show what it changes.

    DIR: folders with the marketplace's files, as for `ingest cardmarket`. Guides from FROM to TO are imported, and all
    lists and names of expansions. The build is compared with the live one. The last line of the output is its id.

    \b
    Example: cardpress backfill 2026-07-01 2026-07-14 downloads/ --lake lake --publish
    """
    if first > last:
        raise click.UsageError("FROM is after TO")
    limits, progress = FileLimits(max_file_mb << 20), Progress()
    accepted = frozenset(accept) | {FAR_DAY}  # FROM and TO name the days
    source = MarketplaceFiles(
        (), places, limits, lambda path, reason: progress.say(f"left {path}: {reason}"),
        lambda file: file.columns is None or first.date() <= file.day <= last.date(),
        game=game, is_remembered=False, accepted=accepted,
    )  # fmt: skip
    _read(source, first.date(), last.date(), progress)
    result = import_into(LakeWriter(lake), source)
    say_findings(result.findings)
    for change in result.tables:
        progress.say(str(change))
    opened = open_store(store)
    live = _live_build(opened)
    opened_lake = open_lake(lake, None, progress, skipped_by_builds(opened))
    built = make_build(opened_lake, opened, resources=resources, progress=progress)
    _say_differences(live, open_build(opened, built.id), top, resources, progress)
    if publish_it:
        publish(opened, built.id, by_hand=False)
        progress.say(f"published: {built.id} is live in {store}")
    say(built.id)


def _read(source: MarketplaceFiles, first: date, last: date, progress: Progress) -> None:
    """Read lists, names of expansions, and the guides of some days. Say which days have no guide.

    Raises:
        IngestError: No day has a guide, or a file is refused.
    """
    source.read(lambda file: progress.say(str(file)))
    guides = {file.day for file in source.files if file.columns}
    days = {first + timedelta(n) for n in range((last - first).days + 1)}
    if not guides:
        raise IngestError(f"no price guide from {first} to {last} in these folders: nothing was imported")
    if absent := sorted(days - guides):
        say(f"no guide for {len(absent):,} of {len(days):,} days: {', '.join(map(str, absent))}", err=True)


def _live_build(store: Store) -> Build | None:
    try:
        return open_build(store, live_build_id(store))
    except NoLiveBuild:
        return None


def _say_differences(live: Build | None, new: Build, top: int, resources: Resources, progress: Progress) -> None:
    if live is None:
        progress.say("no build is live: there is nothing to compare with")
        return
    with compare(live, new, resources) as comparison:
        say_lines(as_text(make_report(Diff(comparison, progress), top)))
