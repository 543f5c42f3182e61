"""`cardpress nightly`: the command that a scheduler runs every night."""

from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

import click

from generator import settings
from generator.clock import utc_now
from generator.commands import options
from generator.errors import BusyError
from generator.lake.lake import DAILY_TABLES, absolute
from generator.lake.quarantine import QuarantinedFile, decision
from generator.nightly.monitoring import Notices, write_textfile
from generator.nightly.night import new_run_id, run_night
from generator.nightly.steps import Night
from generator.releases.prune import RetentionRules
from generator.storage.stores.open import open_store
from generator.terminal import Progress, say, say_json
from generator.threads import Resources


def _gate_threshold(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    if name not in settings.GATES:
        raise ValueError(f"{name!r} is not a gate; the gates are {', '.join(settings.GATES)}")
    with suppress(ValueError):
        if float(number) >= 0:
            return name, float(number)
    raise ValueError(f"{text!r} has no valid threshold: write {name}={settings.GATES[name]:g}")


def _max_age(text: str) -> tuple[str, int]:
    table, _, days = text.partition("=")
    if table not in DAILY_TABLES or not days.isascii() or not days.isdecimal() or len(days) > 5:
        raise ValueError(f"{text!r} is not TABLE=DAYS; the tables are {', '.join(DAILY_TABLES)}")
    return table, int(days)


def _expected_day(text: str) -> str:
    """Return the day in UTC that `today`, `yesterday` or YYYY-MM-DD means."""
    today = utc_now().date()
    days = {"today": today, "yesterday": today - timedelta(days=1)}
    try:
        return (days.get(text) or date.fromisoformat(text)).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is not today, yesterday or a day such as 2026-08-22") from None


_notice_options = options.gathered(
    "notices",
    Notices,
    click.option(
        "--ping",
        type=options.HTTP_URL,
        help="Request URL/start when the run begins, then URL, or URL/fail after a failure.",
    ),
    click.option(
        "--notify", type=options.HTTP_URL, help="Post the result as JSON to this URL, of Slack, Discord or your own."
    ),
    click.option(
        "--pages-url", type=options.HTTP_URL, help="Where you serve private/nights/ of the store, for links in notices."
    ),
)


@click.command()
@options.lake_option
@options.store_option
@click.option(
    "--gate", "thresholds", multiple=True, type=options.Parsed("NAME=VALUE", _gate_threshold),
    help="Let values up to VALUE pass this gate, instead of its default.",
)  # fmt: skip
@click.option(
    "--force", "forced", multiple=True, type=click.Choice(list(settings.GATES)), metavar="NAME",
    help="Publish even if this gate is breached; the report records it.",
)  # fmt: skip
@click.option(
    "--max-age", multiple=True, type=options.Parsed("TABLE=DAYS", _max_age),
    help="Refuse the night if the newest row of this table is older, for any game. Else a late source is only said.",
)  # fmt: skip
@options.retention_options
@click.option("--textfile", type=options.FILE, help="Write Prometheus metrics to this file.")
@click.option("--pages/--no-pages", default=True, help="Write the report and the changes as pages into the store.")
@_notice_options
@click.option(
    "--expect-day", type=options.Parsed("DAY", _expected_day),
    help="Exit with 1 if the live build's prices are older after the run. DAY: today, yesterday or YYYY-MM-DD (UTC).",
)  # fmt: skip
@click.option(
    "--reread-days", type=click.IntRange(0), default=settings.REREAD_DAYS, metavar="DAYS",
    help="Read the layers of earlier nights again, all of them within DAYS, and repair damaged ones. 0: never.",
)  # fmt: skip
@options.objects_option
@click.option("--export", metavar="TARGET", help="Folder or s3://bucket/prefix to keep as a tree of plain files.")
@options.lease_option
@options.resources_options
@options.scheduler_option
@options.json_option
def nightly(
    lake: str,
    store: str,
    thresholds: tuple[tuple[str, float], ...],
    max_age: tuple[tuple[str, int], ...],
    forced: tuple[str, ...],
    rules: RetentionRules,
    textfile: Path | None,
    pages: bool,
    notices: Notices,
    expect_day: str | None,
    reread_days: int,
    objects: str | None,
    export: str | None,
    lease: float,
    resources: Resources,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Build, check, publish and prune: the command for a scheduler.

    The build is compared with the live one. After a breached gate, a hold or a failure the live build stays and the
    exit status is 1. Every run writes a report into the store, and pages of what it made and changed.

    \b
    Example: cardpress nightly --lake lake --store site_out --gate products-lost=0.1
    """
    if textfile and not textfile.parent.is_dir():
        raise click.BadParameter(f"{textfile.parent} is not a folder", param_hint="'--textfile'")
    run = new_run_id(utc_now)
    night = Night(
        run,
        absolute(lake) if scheduler else lake,
        open_store(store),
        utc_now,
        Progress(prefix=f"[{run}] "),
        thresholds=dict(thresholds),
        max_age=dict(max_age),
        forced=forced,
        rules=rules,
        resources=resources,
        scheduler=scheduler,
        lease=lease,
        pages=pages,
        objects=objects,
        export=export,
        expect_day=expect_day,
        reread_days=reread_days,
    )
    _run(night, notices, textfile, as_json)


def _run(night: Night, notices: Notices, textfile: Path | None, as_json: bool) -> None:
    busy = False
    try:
        run_night(night, notices)
    except BusyError:
        busy = night.report.finished is None
        raise
    finally:
        if not busy:
            _print_result(night, textfile, as_json)


def _print_result(night: Night, textfile: Path | None, as_json: bool) -> None:
    if textfile:  # before the lines, which a full disk may not take
        _write_metrics(night, textfile)
    if night.report.held:
        waiting = [QuarantinedFile(**file) for file in night.report.quarantine]
        way_out = f": `{decision('accept', waiting, night.store.location)}`, or `drop`" if waiting else ""
        say(f"{night.report.held}{way_out}", err=True)
    if night.tree_line:
        night.progress.say(night.tree_line)
    if as_json:
        say_json(night.report.to_json())
    elif night.report.succeeded:
        say(night.report.build)


def _write_metrics(night: Night, textfile: Path) -> None:
    try:
        write_textfile(textfile, night.report)
    except OSError as error:  # missing metrics are no reason to fail a night
        night.progress.say(f"{textfile} was not written: {error.strerror or error}")
