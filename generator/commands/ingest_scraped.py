"""`cardpress ingest list-pages`, `offers`, `watch-checks`: imports scrapers' lines (docs/ingest.md)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from generator import settings
from generator.commands.import_results import (
    accept_option,
    max_file_option,
    reading_progress,
    say_findings,
    summary_line,
)
from generator.ingest.bounded_file import FileLimits
from generator.ingest.findings import FUTURE
from generator.ingest.scraped_import import (
    ImportResult,
    LineFiles,
    OnRead,
    import_list_pages,
    import_offers,
    import_watch_checks,
)
from generator.lake.writer import LakeWriter
from generator.terminal.output import say, say_json, say_lines

_Function = TypeVar("_Function", bound=Callable[..., Any])
_OPTIONS = (
    click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True), metavar="FILE…"),
    click.option("--lake", required=True, help="Folder (made if absent) or s3:// prefix."),
    click.option(
        "--bad-lines",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Import the good lines, and add the refused ones to this file with the reason.",
    ),
    max_file_option(settings.MAX_LINES_BYTES),
    click.option(
        "--max-line-kb",
        type=click.IntRange(1),
        default=settings.MAX_LINE_BYTES >> 10,
        show_default=True,
        help="Refuse a file with a longer line.",
    ),
    accept_option(FUTURE),
    click.option("--json", "as_json", is_flag=True, help="The result as JSON."),
)


def line_options(command: _Function) -> _Function:
    """Add the options of every import of lines."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("list-pages")
@line_options
def list_pages(**options: Any) -> None:
    """Import rows of expansions' list pages.

    FILE: JSON Lines, plain or gzip, - for standard input. They become listings. They also set number,
    rarity, url and image of products, and names and urls of expansions. Importing a file again changes nothing.

    \b
    Example: cardpress ingest list-pages --lake lake pages.jsonl.gz --bad-lines refused.jsonl
    """
    run_import(import_list_pages, **options)


@click.command()
@line_options
def offers(**options: Any) -> None:
    """Import checks of products under the seller filter.

    FILE: JSON Lines, plain or gzip, - for standard input. They become filtered_checks. Importing a file again changes
    nothing.

    \b
    Example: cardpress ingest offers --lake lake offers.jsonl
    """
    run_import(import_offers, **options)


@click.command("watch-checks")
@line_options
def watch_checks(**options: Any) -> None:
    """Import the monitor's checks of tracked products.

    FILE: JSON Lines, plain or gzip, - for standard input. They become watch_checks. Importing a file again changes
    nothing.

    \b
    Example: cardpress ingest watch-checks --lake lake checks.jsonl
    """
    run_import(import_watch_checks, **options)


def run_import(
    import_lines: Callable[[LakeWriter, LineFiles, OnRead], ImportResult],
    files: tuple[Path, ...],
    lake: str,
    bad_lines: Path | None,
    max_file_mb: int,
    max_line_kb: int,
    accept: tuple[str, ...],
    as_json: bool,
) -> None:
    """Import lines and print the result. The arguments are those of `line_options`."""
    limits = FileLimits(max_file_mb << 20, max_line_kb << 10)
    with reading_progress(len(files)) as on_read:
        result = import_lines(LakeWriter(lake), LineFiles(files, bad_lines, limits, frozenset(accept)), on_read)
    say_findings(result.findings)
    if result.refused:
        say(f"{result.refused:,} lines refused, stored in {bad_lines}", err=True)
    if result.incomplete_offers:
        say(f"{result.incomplete_offers:,} offers lack a price, a seller or a condition: not shown", err=True)
    if as_json:
        say_json(_as_json(result))
        return
    say(f"{result.lines} lines, {result.refused} refused")
    say_lines(summary_line(path, counts) for path, counts in result.tables.items())


def _as_json(result: ImportResult) -> dict[str, Any]:
    fields = {
        "lines": result.lines,
        "refused": result.refused,
        "incomplete_offers": result.incomplete_offers,
        "tables": {path: counts.as_json() for path, counts in result.tables.items()},
    }
    return fields | {finding.case: finding.occurrences for finding in result.findings}
