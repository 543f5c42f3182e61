"""What a run of a night leaves in the store: its report, and the pages of a new build."""

import json
from dataclasses import asdict
from typing import Any

from edge_auth.builds import layout
from edge_auth.builds.builds import open_build
from edge_auth.errors import EdgeError
from generator.clock import timestamp
from generator.compare.comparison import Comparison
from generator.compare.run_reports import UNCHANGED, RunReport
from generator.errors import GeneratorError
from generator.lake.quarantine import read_quarantine
from generator.making.game_coverage import cover_games
from generator.nightly.data_day import note_day
from generator.nightly.options import NightOptions
from generator.reading.report.write_pages import write_pages
from generator.releases.reserve import with_reserve
from generator.releases.termination import end_by_error


def write_report(options: NightOptions, report: RunReport) -> None:
    """Complete the report with the live build, its day and its games, and write it into the store."""
    store = options.store
    note_day(report, store)
    if report.live is not None:
        report.games = _games(report.live, options)
    report.quarantine = _quarantine(options)
    report.finished = timestamp(options.clock())
    data = json.dumps(report.to_json(), indent=1, ensure_ascii=False, default=str).encode()
    with_reserve(store, lambda: store.put(layout.report_name(report.run), data + b"\n"))


def _quarantine(options: NightOptions) -> list[dict[str, Any]]:
    """Return the files that wait in quarantine; nothing if it is damaged, which has failed the night."""
    try:
        return [asdict(file) for file in read_quarantine(options.store) if file.waits]
    except EdgeError:
        return []


def _games(live: str, options: NightOptions) -> list[dict[str, Any]]:
    """Return the coverage of each game in the live build."""
    try:
        covered = cover_games(open_build(options.store, live), threads=options.threads, memory=options.memory)
        return [asdict(game) for game in covered]
    except (GeneratorError, EdgeError, OSError) as error:  # missing figures are no reason to fail a night
        options.progress.say(f"the games of {live} were not counted: {error}")
        return []


def write_night_pages(options: NightOptions, report: RunReport, comparison: Comparison | None) -> None:
    """Write the pages of a build that is not live yet, published or not. SIGTERM ends only this.

    Args:
        comparison: That of the gates, if they came so far.
    """
    if report.build is None or report.outcome == UNCHANGED:
        return
    try:
        with end_by_error("night"):
            folder = write_pages(
                options.store,
                report,
                options.clock,
                comparison=comparison,
                threads=options.threads,
                memory=options.memory,
                progress=options.progress,
            )
        options.progress.say(f"pages: {folder}")
    except (GeneratorError, EdgeError, OSError) as error:  # missing pages are no reason to fail a night
        options.progress.say(f"the pages were not written: {error}")
