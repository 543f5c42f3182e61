"""Output and options that the `ingest` commands share: progress, a line for each file of the lake, limits of files."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from generator.ingest.merge import MergeCounts
from generator.terminal import say

_Function = TypeVar("_Function", bound=Callable[..., Any])


def max_file_option(default_bytes: int) -> Callable[[_Function], _Function]:
    """Return the option --max-file-mb."""
    return click.option(
        "--max-file-mb",
        type=click.IntRange(1),
        default=default_bytes >> 20,
        show_default=True,
        help="Refuse a file that is larger after inflating.",
    )


def summary_line(path: str, counts: MergeCounts) -> str:
    """Return what an import changed in a file of the lake, as one line."""
    line = f"{path}: {counts.rows} rows, {counts.new} new, {counts.changed} changed, {counts.unchanged} unchanged"
    if counts.in_other_files:
        line += f"; {counts.in_other_files} skipped, already in other files of the lake"
    if counts.outranked:
        line += f"; {counts.outranked} skipped, a greater row has the same product and time"
    if counts.in_two_games:
        line += (
            f"; {counts.in_two_games} products are in the files of two games, "
            f"such as id_product {counts.example_in_two_games}: the newest file wins"
        )
    return line


@contextmanager
def reading_progress(files: int) -> Iterator[Callable[[Path], None]]:
    """Show a bar on a terminal and a line per file elsewhere. Call the yielded function after each file."""
    if not sys.stderr.isatty():
        yield lambda path: say(f"read {path}", err=True)
        return
    with click.progressbar(length=files, label="reading files", file=sys.stderr) as bar:
        yield lambda path: bar.update(1)
