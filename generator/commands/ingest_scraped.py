"""`cardpress ingest list-pages`, `offers`, `watch-checks`: scrapers' lines become lake tables (docs/ingest.md)."""

import json
from collections.abc import Callable
from pathlib import Path

import click

from generator.commands.import_results import reading, told
from generator.ingest.scraped import Imported, LineFiles, import_list_pages, import_offers, import_watch_checks
from generator.ingest.tables import LakeWriter

Import = Callable[[LakeWriter, LineFiles, Callable[[Path], None]], Imported]
OPTIONS = (
    click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True), metavar="FILE…"),
    click.option("--lake", required=True, help="Folder (made if absent) or s3:// prefix."),
    click.option(
        "--bad-lines",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Import the good lines, and add the others to this file, each with the reason.",
    ),
    click.option("--json", "as_json", is_flag=True, help="The result as JSON."),
)


def _options(command: Callable) -> Callable:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command("list-pages")
@_options
def list_pages(files: tuple[Path, ...], lake: str, bad_lines: Path | None, as_json: bool) -> None:
    """Import rows of expansions' list pages.

    FILE: JSON Lines, plain or gzip, - for standard input. They become listings, and fill number, rarity, url and image
    of the lake's products, and names and urls of expansions. Importing a file again changes nothing.

    \b
    Example: cardpress ingest list-pages --lake lake pages.jsonl.gz --bad-lines refused.jsonl
    """
    _run(import_list_pages, LineFiles(files, bad_lines), lake, as_json)


@click.command()
@_options
def offers(files: tuple[Path, ...], lake: str, bad_lines: Path | None, as_json: bool) -> None:
    """Import checks of products under the seller filter.

    FILE: JSON Lines, plain or gzip, - for standard input. They become filtered_checks. Importing a file again changes
    nothing.

    \b
    Example: cardpress ingest offers --lake lake offers.jsonl
    """
    _run(import_offers, LineFiles(files, bad_lines), lake, as_json)


@click.command("watch-checks")
@_options
def watch_checks(files: tuple[Path, ...], lake: str, bad_lines: Path | None, as_json: bool) -> None:
    """Import the monitor's checks of tracked products.

    FILE: JSON Lines, plain or gzip, - for standard input. They become watch_checks. Importing a file again changes
    nothing.

    \b
    Example: cardpress ingest watch-checks --lake lake checks.jsonl
    """
    _run(import_watch_checks, LineFiles(files, bad_lines), lake, as_json)


def _run(import_lines: Import, files: LineFiles, lake: str, as_json: bool) -> None:
    with reading(len(files.paths)) as read:
        done = import_lines(LakeWriter(lake), files, read)
    if done.refused:
        click.echo(f"{done.refused:,} lines refused, kept in {files.bad_lines}", err=True)
    if done.incomplete_offers:
        click.echo(f"{done.incomplete_offers:,} offers lack a price, a seller or a condition: not shown", err=True)
    if as_json:
        tables = {name: counts._asdict() for name, counts in done.tables.items()}
        told_apart = {"lines": done.lines, "refused": done.refused, "incomplete_offers": done.incomplete_offers}
        click.echo(json.dumps(told_apart | {"tables": tables}))
        return
    click.echo(f"{done.lines} lines, {done.refused} refused")
    click.echo("".join(f"{told(name, counts)}\n" for name, counts in done.tables.items()), nl=False)
