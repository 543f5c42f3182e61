"""What a run of a night leaves in the store: its report, and the pages of a new build."""

import json
from dataclasses import asdict
from typing import Any

from edge_auth.builds import layout
from edge_auth.builds.builds import open_build
from edge_auth.builds.pointer import read_pointer
from edge_auth.errors import EdgeError
from edge_auth.store.interface import Store
from generator.clock import Clock, timestamp
from generator.errors import GeneratorError
from generator.lake.quarantine import read_quarantine
from generator.making.game_coverage import cover_games
from generator.nightly.data_day import day_facts
from generator.nightly.options import NightOptions
from generator.reading.report.write_pages import write_pages
from generator.releases.reserve import with_reserve
from generator.releases.run_reports import UNCHANGED, RunReport
from generator.releases.termination import end_by_error
from generator.terminal.progress import Progress


def write_report(report: RunReport, store: Store, options: NightOptions, *, clock: Clock, progress: Progress) -> None:
    """Complete the report with the live build, its day and its games, and write it into the store."""
    pointer, _ = read_pointer(store)
    report.live = pointer.build if pointer else None
    report.add(day_facts(store, report.data_day_before))
    if report.live is not None:
        report.games = _games(report.live, store, options, progress)
    report.quarantine = _quarantine(store)
    report.finished = timestamp(clock())
    data = json.dumps(asdict(report), indent=1, ensure_ascii=False, default=str).encode()
    with_reserve(store, lambda: store.put(layout.report_name(report.run), data + b"\n"))


def _quarantine(store: Store) -> list[dict[str, Any]]:
    """Return the files that wait in quarantine; nothing if it is damaged, which has failed the night."""
    try:
        return [asdict(file) for file in read_quarantine(store) if file.waits]
    except EdgeError:
        return []


def _games(live: str, store: Store, options: NightOptions, progress: Progress) -> list[dict[str, Any]]:
    """Return the coverage of each game in the live build."""
    try:
        return [
            asdict(game)
            for game in cover_games(open_build(store, live), threads=options.threads, memory=options.memory)
        ]
    except (GeneratorError, EdgeError, OSError) as error:  # missing figures are no reason to fail a night
        progress.say(f"the games of {live} were not counted: {error}")
        return []


def write_night_pages(
    report: RunReport, store: Store, options: NightOptions, *, clock: Clock, progress: Progress
) -> None:
    """Write the pages of a build that is not live yet, published or not. SIGTERM ends only this."""
    if report.build is None or report.outcome == UNCHANGED:
        return
    try:
        with end_by_error("night"):
            folder = write_pages(
                store, report, clock, threads=options.threads, memory=options.memory, progress=progress
            )
        progress.say(f"pages: {folder}")
    except (GeneratorError, EdgeError, OSError) as error:  # missing pages are no reason to fail a night
        progress.say(f"the pages were not written: {error}")
