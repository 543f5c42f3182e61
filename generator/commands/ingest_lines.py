"""The commands `cardpress ingest …` that import lines: one for each format of `ingest.formats`."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click

from generator import settings
from generator.commands.import_results import accept_option, max_file_option, run_import
from generator.commands.options import json_option, lake_made_option
from generator.ingest.bounded_file import FileLimits
from generator.ingest.findings import CONTRADICTION, FAR_DAY, FUTURE, INCOMPLETE_OFFERS
from generator.ingest.formats import LineFormat, ScrapedFormat
from generator.ingest.line_sources import Lines
from generator.lake.writer import LakeWriter
from generator.terminal import say_lines

_Option = Callable[[click.Command], click.Command]
_Template = Callable[[LakeWriter], Iterable[str]]
_FILES = click.Path(path_type=Path, allow_dash=True)
_OPTIONS: tuple[_Option, ...] = (
    lake_made_option,
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
        help="Refuse a file with a longer line.",
    ),
    json_option,
)


def lines_command(
    line_format: LineFormat, source: type[Lines], *options: _Option, template: _Template | None = None
) -> click.Command:
    """Return the command that imports lines of a format. Values of `options` are attributes of the source.

    With `template`, which yields the lines of a table to fill, it has the option --template.
    """
    make = partial(source, line_format)
    run = partial(_print_or_import, template, make) if template else partial(_run_import, make)
    command = click.Command(line_format.name, help=_help(line_format), callback=run)
    files = click.argument("files", nargs=-1, required=not template, type=_FILES, metavar="FILE…")
    to_fill = click.option("--template", is_flag=True, help="Print the table to fill, with what the lake lacks.")
    is_check = isinstance(line_format, ScrapedFormat) and line_format.counts
    accept = accept_option(FUTURE, FAR_DAY, *([CONTRADICTION, INCOMPLETE_OFFERS] if is_check else []))
    more: list[_Option] = [files, *_OPTIONS, accept, *options, *([to_fill] if template else [])]
    for option in more:
        command = option(command)
    return command


def _help(line_format: LineFormat) -> str:
    if isinstance(line_format, ScrapedFormat):
        files, becomes = "JSON Lines", f". They become {line_format.table.name}. {line_format.further_help}"
    else:
        columns = ", ".join(name for name in line_format.columns if name != "updated_at")
        files, becomes = "CSV with a header or JSON Lines", f": {columns}."
    return f"""{line_format.help}

FILE: {files}, plain or gzip, - for standard input{becomes.rstrip()} Importing a file again changes nothing.

\b
Example: cardpress ingest {line_format.name} --lake lake {line_format.example}
"""


def _print_or_import(
    lines: _Template,
    make: Callable[..., Lines],
    files: tuple[Path, ...],
    lake: str,
    template: bool,
    **options: Any,
) -> None:
    if template:
        say_lines(lines(LakeWriter(lake)))
    elif files:
        _run_import(make, files, lake, **options)
    else:
        raise click.UsageError("Name a file to import, or give --template.")


def _run_import(
    make: Callable[..., Lines],
    files: tuple[Path, ...],
    lake: str,
    bad_lines: Path | None,
    max_file_mb: int,
    max_line_kb: int,
    accept: tuple[str, ...],
    as_json: bool,
    **further: Any,
) -> None:
    limits = FileLimits(max_file_mb << 20, max_line_kb << 10)
    source = make(files, bad_lines, limits, accepted=frozenset(accept), **further)
    run_import(lake, source, len(files), as_json)
