"""Output and options that the `ingest` commands share: progress, the result, limits of files."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from generator.ingest.findings import MEANINGS, REFUSED, ImportFinding
from generator.ingest.pipeline import ImportSource, import_into
from generator.lake.writer import LakeWriter
from generator.terminal import say, say_json, say_lines

_Function = TypeVar("_Function", bound=Callable[..., Any])


def max_file_option(default_bytes: int) -> Callable[[_Function], _Function]:
    return click.option(
        "--max-file-mb",
        type=click.IntRange(1),
        default=default_bytes >> 20,
        help="Refuse a file that is larger after inflating.",
    )


@contextmanager
def reading_progress(files: int, lines: bool = False) -> Iterator[Callable[[object], None]]:
    """Show a bar on a terminal, or with `lines` and elsewhere a line per file. Call the yielded function for each."""
    if lines or not sys.stderr.isatty():
        yield lambda file: say(f"read {file}", err=True)
        return
    with click.progressbar(length=files, label="reading files", file=sys.stderr) as bar:
        yield lambda _: bar.update(1)


def accept_option(*cases: str) -> Callable[[_Function], _Function]:
    """Return the option --accept for cases that otherwise stop an import."""
    meanings = "; ".join(f"{case}: {MEANINGS[case]}" for case in cases)
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


def run_import(lake: str, source: ImportSource, files: int, as_json: bool) -> None:
    with reading_progress(files) as on_read:
        source.read(on_read)
    result = import_into(LakeWriter(lake), source)
    say_findings(result.findings)
    for remark in result.remarks:
        say(remark, err=True)
    if as_json:
        say_json(result.as_json())
        return
    say(result.summary)
    say_lines(map(str, result.tables))
