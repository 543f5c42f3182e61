"""Writes the pages of a night: the report of its build and the diff to the live build, which link to each other."""

from collections.abc import Iterable

from edge_auth.builds import layout
from edge_auth.builds.builds import Build, open_build
from edge_auth.store.interface import Store
from generator.clock import Clock
from generator.reading.diff.compare import compare
from generator.reading.diff.html_page import as_html as diff_as_html
from generator.reading.diff.report import make_report
from generator.reading.report.html_page import as_html as report_as_html
from generator.reading.report.summary import summarize_build
from generator.releases.run_reports import DIFF_PAGE, REPORT_PAGE, RunReport
from generator.terminal.progress import Progress

# Rows of each list of the diff.
DIFF_ROWS = 50


def write_pages(
    store: Store, report: RunReport, clock: Clock, *, threads: int | None, memory: str | None, progress: Progress
) -> str:
    """Write the pages of a run and return their folder in the store.

    Raises:
        BuildError, StoreError: A build cannot be read, or a page cannot be written.
    """
    new = open_build(store, report.build or "")
    old = open_build(store, report.live_before) if report.live_before else None
    if old:
        page = diff_page(old, new, DIFF_ROWS, REPORT_PAGE, threads=threads, memory=memory, progress=progress)
        store.put(layout.page_name(report.run, DIFF_PAGE), page)
    summary = summarize_build(store, new, clock, threads=threads, memory=memory)
    page = _encode(report_as_html(summary, DIFF_PAGE if old else None))
    store.put(layout.page_name(report.run, REPORT_PAGE), page)
    return layout.page_name(report.run, "")


def diff_page(
    old: Build,
    new: Build,
    top: int,
    build_report: str,
    *,
    threads: int | None,
    memory: str | None,
    progress: Progress,
) -> bytes:
    """Return the page of the differences between two builds, with a link to the report beside it."""
    with compare(old, new, threads=threads, memory=memory, progress=progress) as comparison:
        return _encode(diff_as_html(make_report(comparison, top), build_report))


def _encode(pieces: Iterable[str]) -> bytes:
    return "".join(pieces).encode()
