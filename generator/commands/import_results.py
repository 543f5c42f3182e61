"""What the `ingest` commands share: progress while files are read, and a line for each file of the lake."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from generator.ingest.merge import DayCounts, MergeCounts


def told(name: str, counts: MergeCounts | DayCounts) -> str:
    """What an import did to a file of the lake, in one line."""
    line = f"{name}: {counts.rows} rows, {counts.new} new, {counts.changed} changed, {counts.unchanged} unchanged"
    if counts.elsewhere:
        line += f"; {counts.elsewhere} left to other files of the lake"
    if isinstance(counts, DayCounts) and counts.lesser:
        line += f"; {counts.lesser} left out for a greater one of the same product and time"
    return line


@contextmanager
def reading(files: int) -> Iterator[Callable[[Path], None]]:
    """A bar on a terminal, a line per file elsewhere; yields what is to be told of each file that was read."""
    if not sys.stderr.isatty():
        yield lambda path: click.echo(f"read {path}", err=True)
        return
    with click.progressbar(length=files, label="reading files", file=sys.stderr) as bar:
        yield lambda path: bar.update(1)
