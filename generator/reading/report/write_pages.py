"""The pages of a night: the report of its build and what it changed, side by side, each with a link to the other."""

from collections.abc import Iterable

from edge_auth.contract import layout
from edge_auth.contract.builds import Build, open_build
from edge_auth.contract.store.interface import Store
from generator.progress import Progress
from generator.reading.diff.compare import compare
from generator.reading.diff.html_page import as_html as diff_page
from generator.reading.diff.report import make_report
from generator.reading.report.summary import gather
from generator.reading.report.html_page import as_html as report_page
from generator.releases.run_reports import DIFF_PAGE, REPORT_PAGE, RunReport

# Rows of each list of the changes.
TOP = 50


def write_pages(store: Store, report: RunReport, *, threads: int | None, memory: str, progress: Progress) -> str:
    """Write the pages of a run; where they lie in the store.

    Raises:
        BuildError, StoreError: a build cannot be read, or a page cannot be written.
    """
    new = open_build(store, report.build or "")
    old = open_build(store, report.live_before) if report.live_before else None
    if old:
        page = changes(old, new, TOP, REPORT_PAGE, threads=threads, memory=memory, progress=progress)
        store.put(layout.page_name(report.run, DIFF_PAGE), page)
    told = gather(store, new, threads=threads, memory=memory)
    store.put(layout.page_name(report.run, REPORT_PAGE), _bytes(report_page(told, DIFF_PAGE if old else None)))
    return layout.page_name(report.run, "")


def changes(
    old: Build, new: Build, top: int, beside: str, *, threads: int | None, memory: str, progress: Progress
) -> bytes:
    """The page of what differs between two builds, with a link to the report that lies beside it."""
    with compare(old, new, threads=threads, memory=memory, progress=progress) as comparison:
        return _bytes(diff_page(make_report(comparison, top), beside))


def _bytes(pieces: Iterable[str]) -> bytes:
    return "".join(pieces).encode()
