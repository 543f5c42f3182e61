"""The output that the `ingest` commands share: progress while files are read, and a line for each file of the lake."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from generator.ingest.merge import MergeCounts
from generator.terminal import say


def summary_line(path: str, counts: MergeCounts) -> str:
    """Return what an import changed in a file of the lake, as one line."""
    line = f"{path}: {counts.rows} rows, {counts.new} new, {counts.changed} changed, {counts.unchanged} unchanged"
    if counts.in_other_files:
        line += f"; {counts.in_other_files} skipped, already in other files of the lake"
    if counts.outranked:
        line += f"; {counts.outranked} skipped, a greater row has the same product and time"
    return line


@contextmanager
def reading_progress(files: int) -> Iterator[Callable[[Path], None]]:
    """Show a bar on a terminal and a line per file elsewhere. Call the yielded function after each file."""
    if not sys.stderr.isatty():
        yield lambda path: say(f"read {path}", err=True)
        return
    with click.progressbar(length=files, label="reading files", file=sys.stderr) as bar:
        yield lambda path: bar.update(1)
