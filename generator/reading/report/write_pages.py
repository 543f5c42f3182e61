"""Writes the pages of a night: the report of its build and the diff to the live build, which link to each other."""

from collections.abc import Iterable
from contextlib import ExitStack

from edge_auth.builds import layout
from edge_auth.builds.builds import open_build
from edge_auth.store.interface import Store
from generator.clock import Clock
from generator.compare.comparison import Comparison, compare, named_faults
from generator.compare.diff import Diff
from generator.compare.run_reports import DIFF_PAGE, REPORT_PAGE, Figures, RunReport
from generator.reading.diff.html_page import as_html as diff_as_html
from generator.reading.diff.report import make_report
from generator.reading.report.html_page import as_html as report_as_html
from generator.reading.report.summary import summarize_build
from generator.terminal.progress import Progress
from generator.threads import Resources

# Rows of each list of the diff.
DIFF_ROWS = 50


def write_pages(
    store: Store,
    report: RunReport,
    clock: Clock,
    *,
    comparison: Comparison | None = None,
    resources: Resources,
    progress: Progress,
) -> str:
    """Write the pages of a run and return their folder in the store.

    Args:
        comparison: That of the run's gates, perhaps of other builds.

    Raises:
        BuildError, StoreError: A build cannot be read, or a page cannot be written.
    """
    new = open_build(store, report.build or "")
    if report.live_before:
        with ExitStack() as stack:
            if comparison is None or not comparison.is_of(report.live_before, new.id):
                old = open_build(store, report.live_before)
                comparison = stack.enter_context(compare(old, new, resources))
            judged = report.judgement if report.judgement and report.judgement.against == report.live_before else None
            figures = judged.differences if judged else None
            page = diff_page(comparison, DIFF_ROWS, REPORT_PAGE, progress=progress, figures=figures)
        store.put(layout.page_name(report.run, DIFF_PAGE), page)
    summary = summarize_build(store, new, clock, resources)
    page = _encode(report_as_html(summary, DIFF_PAGE if report.live_before else None))
    store.put(layout.page_name(report.run, REPORT_PAGE), page)
    return layout.page_name(report.run, "")


def diff_page(
    comparison: Comparison, top: int, build_report: str, *, progress: Progress, figures: Figures | None = None
) -> bytes:
    """Return the page of the differences between two builds, with a link to the report beside it."""
    with named_faults(comparison):
        return _encode(diff_as_html(make_report(Diff(comparison, progress), top, figures), build_report))


def _encode(pieces: Iterable[str]) -> bytes:
    return "".join(pieces).encode()
