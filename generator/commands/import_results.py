"""Output and options that the `ingest` commands share: progress, a line for each file of the lake, limits of files."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from generator.ingest.findings import REFUSED, ImportFinding
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
    if counts.older:
        line += f"; {counts.older} skipped, the lake has newer rows with other values"
    if counts.outranked:
        line += f"; {counts.outranked} skipped, a greater row has the same product and time"
    if counts.in_two_games:
        line += (
            f"; {counts.in_two_games} products are in the files of two games, "
            f"such as id_product {counts.example_in_two_games}: the newest file wins"
        )
    return line


@contextmanager
def reading_progress(files: int, lines: bool = False) -> Iterator[Callable[[object], None]]:
    """Show a bar on a terminal and a line per file elsewhere. Call the yielded function after each file.

    Args:
        lines: Whether a terminal gets lines as well.
    """
    if lines or not sys.stderr.isatty():
        yield lambda file: say(f"read {file}", err=True)
        return
    with click.progressbar(length=files, label="reading files", file=sys.stderr) as bar:
        yield lambda _: bar.update(1)


def accept_option(*cases: str) -> Callable[[_Function], _Function]:
    """Return the option --accept for cases that otherwise stop an import."""
    meanings = "; ".join(f"{case}: {REFUSED[case]}" for case in cases)
    return click.option(
        "--accept",
        multiple=True,
        type=click.Choice(cases),
        help=f"Import all the same, in spite of a finding; may repeat. {meanings}.",
    )


def say_findings(findings: Iterable[ImportFinding]) -> None:
    """Print what an import found and did not refuse, on standard error."""
    for finding in findings:
        said = f"; accepted: {REFUSED[finding.case]}" if finding.is_refused else ""
        say(f"{finding}{said}", err=True)
