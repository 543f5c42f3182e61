"""`cardpress ingest cardmarket`: imports the marketplace's own download files, named one by one or found in folders."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from generator import settings
from generator.commands.import_results import accept_option, max_file_option, reading_progress, say_findings
from generator.commands.options import json_option, lake_made_option
from generator.ingest.bounded_file import FileLimits
from generator.ingest.findings import REFUSED
from generator.ingest.gaps import Gap, find_gaps
from generator.ingest.marketplace import MarketplaceFiles
from generator.ingest.marketplace_files import KINDS
from generator.ingest.memory import DEFAULT_PATTERN, GameImport
from generator.ingest.pipeline import ImportResult, import_into
from generator.ingest.tables import expansions_file
from generator.lake.writer import LakeWriter
from generator.terminal import say, say_json, say_lines

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _file_option(name: str, help: str) -> Callable[[_Function], _Function]:
    return click.option(name, multiple=True, type=click.Path(path_type=Path), metavar="FILE", help=help)


@click.command()
@click.argument("places", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR]…")
@lake_made_option
@_file_option("--singles", "A list of singles, products_singles_G.json.")
@_file_option("--nonsingles", "A list of sealed products, products_nonsingles_G.json.")
@_file_option("--price-guide", "A price guide, price_guide_G.json.")
@_file_option("--expansions", "Names of expansions.")
@max_file_option(settings.MAX_DOWNLOAD_BYTES)
@click.option("--game", help="The game of the expansions in these files.")
@click.option(
    "--numbers-from-names/--no-numbers-from-names",
    default=None,
    help="Take collector numbers from names: Omnimon (BT5-086).  [default: as the lake remembers]",
)
@click.option(
    "--number-pattern",
    default=DEFAULT_PATTERN,
    metavar="REGEX",
    help="How a number stands in a name; its group is the number.",
)
@accept_option(*REFUSED)
@json_option
def cardmarket(
    lake: str,
    max_file_mb: int,
    game: str | None,
    numbers_from_names: bool | None,
    number_pattern: str,
    accept: tuple[str, ...],
    as_json: bool,
    **paths: tuple[Path, ...],
) -> None:
    """Import the marketplace's own download files, plain or gzip.

    DIR: folders in which the files are found by their content, or single files. The command then says how it read
    each file, what the lake lacks, and what that means for the API.

    Every file option may be given several times: several games, several days, in any order. Importing a file
    again changes nothing. The lake remembers, for each number of a game in the names of files, whether numbers come
    from names, which findings are accepted, and the game.

    \b
    Example: cardpress ingest cardmarket --lake lake downloads/ --numbers-from-names
    """
    named = tuple((kind, path) for kind in KINDS for path in paths[kind])
    left: list[tuple[Path, str]] = []
    source = MarketplaceFiles(
        named, paths["places"], FileLimits(max_file_mb << 20), lambda path, reason: _leave(left, path, reason),
        game=game, numbers_from_names=numbers_from_names, number_pattern=number_pattern, accepted=frozenset(accept),
    )  # fmt: skip
    with reading_progress(len(source.paths()), lines=bool(source.places)) as on_read:
        source.read(on_read)
    if not source.files:
        nothing = "the folders have none of the marketplace's files" if source.places else "give a folder"
        raise click.UsageError(f"Nothing to import: {nothing}, or --singles, --nonsingles, --price-guide, --expansions")
    if game and not any(file.target == expansions_file() for file in source.files):
        say("--game has no effect: it names the game of expansions, and there is no --expansions file", err=True)
    writer = LakeWriter(lake)
    result = import_into(writer, source)
    memory = source.kept()
    for number, one in memory.items():
        if one != GameImport():
            say(f"the lake remembers of game {number}: {one}; `cardpress lake show`", err=True)
    takes_numbers = bool(numbers_from_names) or any(one.number_pattern for one in memory.values())
    gaps = find_gaps(writer, numbers_from_names=takes_numbers) if source.places else None
    _say_result(result, left, gaps, as_json)


def _leave(left: list[tuple[Path, str]], path: Path, reason: str) -> None:
    left.append((path, reason))
    say(f"left {path}: {reason}", err=True)


def _say_result(result: ImportResult, left: list[tuple[Path, str]], gaps: list[Gap] | None, as_json: bool) -> None:
    say_findings(result.findings)
    tables = result.tables_as_json()
    if not as_json:
        say_lines(map(str, result.tables))
        say_lines(gaps or ())
    elif gaps is None:
        say_json(tables)
    else:
        not_read = [{"path": str(path), "reason": reason} for path, reason in left]
        missing = [gap._asdict() for gap in gaps]
        say_json({**result.counts, "left": not_read, "tables": tables, "missing": missing})
