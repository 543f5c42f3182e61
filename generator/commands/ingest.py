"""`cardpress ingest …` and `fetch …`: imports files into lake tables, and downloads those of a marketplace."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from generator import settings
from generator.clock import utc_now
from generator.commands.options import (
    DAY,
    FILE,
    FOLDER,
    HTTP_URL,
    Parsed,
    gathered,
    json_option,
    lake_made_option,
    lake_option,
)
from generator.ingest.card_formats import CARD_FORMATS
from generator.ingest.downloads import BASE_URL, fetch_files
from generator.ingest.formats import ATTRIBUTES, EXPANSIONS, SCRAPED_FORMATS, WATCHLIST, LineFormat, ScrapedFormat
from generator.ingest.gaps import find_gaps, template_lines
from generator.ingest.identifiers import CardmarketIdentifiers, IdentifierFiles, is_cardmarket_identifiers
from generator.ingest.line_sources import AttributeLines, ExpansionLines, ScrapedLines, WatchlistLines
from generator.ingest.marketplace import DEFAULT_PATTERN, GameImport, MarketplaceFiles, checked_pattern
from generator.ingest.marketplace_files import KINDS
from generator.ingest.pipeline import (
    MEANINGS,
    OF_CHECKS,
    OF_GAMES,
    OF_LINKS,
    OF_LISTS,
    OF_ONE_FILE,
    ImportFiles,
    ImportFinding,
    import_into,
)
from generator.ingest.products import GAMES
from generator.ingest.products import withdraw as take_out
from generator.ingest.set_lists import SET_FORMATS, SetLists
from generator.ingest.streams import FileLimits
from generator.ingest.table_files import EXPANSIONS_FILE
from generator.lake.lake import DAILY_TABLES
from generator.lake.table_writer import LakeWriter
from generator.storage.text import fold
from generator.terminal import say, say_lines, say_result

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _max_file_option(default_bytes: int) -> Callable[[_Function], _Function]:
    return click.option(
        "--max-file-mb",
        type=click.IntRange(1),
        default=default_bytes >> 20,
        help="Refuse a file that is larger after inflating.",
    )


@contextmanager
def _reading_progress(files: int, lines: bool = False) -> Iterator[Callable[[object], None]]:
    """Show a bar on a terminal, or with `lines` and elsewhere a line per file. Call the yielded function for each."""
    if lines or not sys.stderr.isatty():
        yield lambda file: say(f"read {file}", err=True)
        return
    with click.progressbar(length=files, label="reading files", file=sys.stderr) as bar:
        yield lambda _: bar.update(1)


def accept_option(cases: Iterable[str]) -> Callable[[_Function], _Function]:
    """Return the option --accept for cases that otherwise stop an import."""
    meanings = "; ".join(f"{case}: {MEANINGS[case]}" for case in cases)
    said = f"Import all the same, in spite of a finding; may repeat. {meanings}."
    return click.option("--accept", multiple=True, type=click.Choice(list(cases)), help=said)


def _chosen_pattern(numbers_from_names: bool | None, number_pattern: str | None) -> str | None:
    """Return the pattern of numbers: '' for none, None if nothing was chosen."""
    if numbers_from_names is None:
        return number_pattern
    return (number_pattern or DEFAULT_PATTERN) if numbers_from_names else ""


numbers_options = gathered(
    "number_pattern",
    _chosen_pattern,
    click.option(
        "--numbers-from-names/--no-numbers-from-names",
        default=None,
        help="Take collector numbers from names: Omnimon (BT5-086).  [default: as the lake remembers]",
    ),
    click.option(
        "--number-pattern",
        type=Parsed("regex", checked_pattern),
        metavar="REGEX",
        help=f"Take numbers from names by this pattern; its group is the number.  [usually {DEFAULT_PATTERN}]",
    ),
)


def _say_findings(findings: Iterable[ImportFinding]) -> None:
    """Print what an import found and did not refuse, on standard error."""
    for finding in findings:
        said = f"; accepted: {MEANINGS[finding.case]}" if finding.is_refused else ""
        say(f"{finding}{said}", err=True)


def _import(lake: str, source: ImportFiles, files: int, as_json: bool) -> None:
    with _reading_progress(files) as on_read:
        source.read(on_read)
    tables = import_into(LakeWriter(lake), source)
    _say_findings(source.findings)
    for remark in source.remarks:
        say(remark, err=True)
    say_result(as_json, source.as_json(tables), [source.summary, *tables])


_Option = Callable[[click.Command], click.Command]
_FILES = click.Path(path_type=Path, allow_dash=True)
_LINE_OPTIONS: tuple[_Option, ...] = (
    lake_made_option,
    click.option(
        "--bad-lines",
        type=FILE,
        metavar="FILE",
        help="Import the good lines, and add the refused ones to this file with the reason.",
    ),
    _max_file_option(settings.MAX_LINES_BYTES),
    click.option(
        "--max-line-kb",
        type=click.IntRange(1),
        default=settings.MAX_LINE_BYTES >> 10,
        help="Refuse a file with a longer line.",
    ),
    json_option,
)


def _lines_command(
    line_format: LineFormat,
    source: Callable[..., ImportFiles],
    *options: _Option,
    to_fill: Callable[[LakeWriter], Iterable[str]] | None = None,
) -> click.Command:
    """Return the command that imports lines of a format. Values of `options` are attributes of the source.

    With `to_fill`, which yields the lines of a table to fill, it has the option --template.
    """

    def run(
        files: tuple[Path, ...],
        lake: str,
        bad_lines: Path | None,
        max_file_mb: int,
        max_line_kb: int,
        accept: tuple[str, ...],
        as_json: bool,
        template: bool = False,
        **further: Any,
    ) -> None:
        if template and to_fill:
            say_lines(to_fill(LakeWriter(lake)))
            return
        if not files:
            raise click.UsageError("Name a file to import, or give --template.")
        limits, accepted = FileLimits(max_file_mb << 20, max_line_kb << 10), frozenset(accept)
        lines = source(line_format, files, bad_lines, limits, accepted=accepted, **further)
        _import(lake, lines, len(files), as_json)

    is_check = isinstance(line_format, ScrapedFormat) and line_format.counts
    more: list[_Option] = [
        click.argument("files", nargs=-1, required=not to_fill, type=_FILES, metavar="FILE…"),
        *_LINE_OPTIONS,
        accept_option(OF_ONE_FILE | (OF_CHECKS if is_check else {})),
        *options,
    ]
    if to_fill:
        more.append(click.option("--template", is_flag=True, help="Print the table to fill, with what the lake lacks."))
    command = click.Command(line_format.name, help=_lines_help(line_format), callback=run)
    for option in more:
        command = option(command)
    return command


def _expansions(
    line_format: LineFormat,
    files: tuple[Path, ...],
    bad_lines: Path | None,
    limits: FileLimits,
    *,
    catalogue: str | None,
    **options: Any,
) -> ImportFiles:
    if not catalogue:
        return ExpansionLines(line_format, files, bad_lines, limits, **options)
    if bad_lines or options["game"]:
        raise click.UsageError("--bad-lines and --game are of lines, and files of --from have none.")
    return SetLists(catalogue, files, limits)


def _lines_help(line_format: LineFormat) -> str:
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


def _replace_option(what: str) -> Callable[[_Function], _Function]:
    return click.option("--replace", is_flag=True, help=f"The files are the whole truth: {what}.")


def tables_option(*usual: str) -> Callable[[_Function], _Function]:
    """Return the option --table. Without it there are no `tables`, which means the usual ones."""
    said = f"The table; may repeat.  [default: {', '.join(usual)}]"
    return click.option("--table", "tables", multiple=True, type=click.Choice(DAILY_TABLES), help=said)


def _download_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command what all imports of the marketplace's own files take."""
    limit = _max_file_option(settings.MAX_DOWNLOAD_BYTES)
    return limit(numbers_options(accept_option(OF_GAMES | OF_ONE_FILE | OF_LISTS)(command)))


def _file_option(name: str, help: str) -> Callable[[_Function], _Function]:
    return click.option(name, multiple=True, type=click.Path(path_type=Path), metavar="FILE", help=help)


@click.command()
@click.argument("places", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR]…")
@lake_made_option
@_file_option("--singles", "A list of singles, products_singles_G.json.")
@_file_option("--nonsingles", "A list of sealed products, products_nonsingles_G.json.")
@_file_option("--price-guide", "A price guide, price_guide_G.json.")
@_file_option("--expansions", "Names of expansions.")
@click.option("--game", help="The game of the expansions in these files.")
@_download_options
@json_option
def cardmarket(
    lake: str,
    max_file_mb: int,
    game: str | None,
    number_pattern: str | None,
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
    source = MarketplaceFiles(
        named, paths["places"], FileLimits(max_file_mb << 20), partial(say, err=True),
        game=game, number_pattern=number_pattern, accepted=frozenset(accept),
    )  # fmt: skip
    with _reading_progress(len(source.paths()), lines=bool(source.places)) as on_read:
        source.read(on_read)
    if not source.files:
        nothing = "the folders have none of the marketplace's files" if source.places else "give a folder"
        raise click.UsageError(f"Nothing to import: {nothing}, or --singles, --nonsingles, --price-guide, --expansions")
    if game and not any(file.target == EXPANSIONS_FILE for file in source.files):
        say("--game has no effect: it names the game of expansions, and there is no --expansions file", err=True)
    writer = LakeWriter(lake)
    tables = import_into(writer, source)
    memory = source.kept()
    for number, one in memory.items():
        if one != GameImport():
            say(f"the lake remembers of game {number}: {one}; `cardpress lake show`", err=True)
    takes_numbers = bool(number_pattern) or any(one.number_pattern for one in memory.values())
    gaps = find_gaps(writer, numbers_from_names=takes_numbers) if source.places else []
    _say_findings(source.findings)
    missing = {"missing": [gap._asdict() for gap in gaps]} if source.places else {}
    say_result(as_json, {**source.as_json(tables), **missing}, [*tables, *gaps])


@click.group()
def ingest() -> None:
    """Import files of the marketplace or of scrapers into lake tables.

    \b
    Example: cardpress ingest cardmarket --lake lake downloads/
    """


ingest.add_command(cardmarket)
game_option = click.option("--game", help="The game of the lines that name none.")
from_option = click.option(
    "--from",
    "catalogue",
    type=click.Choice(list(SET_FORMATS)),
    help="The files are public lists of sets or cards of this catalogue.",
)
ingest.add_command(_lines_command(EXPANSIONS, _expansions, game_option, from_option, to_fill=template_lines))
ingest.add_command(_lines_command(ATTRIBUTES, AttributeLines))
ingest.add_command(_lines_command(WATCHLIST, WatchlistLines, _replace_option("other rows that imports wrote go")))
for line_format in SCRAPED_FORMATS:
    ingest.add_command(_lines_command(line_format, ScrapedLines))


@ingest.command()
@click.argument("files", nargs=-1, required=True, type=_FILES, metavar="FILE…")
@lake_made_option
@click.option("--from", "source", type=click.Choice(list(CARD_FORMATS)), help="Read files of cards of this catalogue.")
@_replace_option("other ids of the catalogue go. Without --from: of each scheme in the files")
@accept_option(OF_LINKS)
@_max_file_option(settings.MAX_CARDS_BYTES)
@json_option
def identifiers(
    files: tuple[Path, ...],
    lake: str,
    source: str | None,
    replace: bool,
    accept: tuple[str, ...],
    max_file_mb: int,
    as_json: bool,
) -> None:
    """Import the ids that other catalogues have for the products.

    FILE: CSV with a header or JSON Lines with id_product, scheme and value; with --from the JSON of cards that the
    catalogue publishes. Plain, gzip, bzip2 or xz, - for standard input. Importing a file again changes nothing.
    MTGJSON's CardmarketIdentifiers.json also has names of Magic's expansions and numbers.

    \b
    Example: cardpress ingest identifiers --lake lake --from mtgjson AllPrintings.json.gz
    """
    limits = FileLimits(max_file_mb << 20)
    if source == "mtgjson" and any(path.is_file() and is_cardmarket_identifiers(path, limits) for path in files):
        if len(files) > 1 or replace:
            raise click.UsageError("Import CardmarketIdentifiers.json by itself, without --replace.")
        _import(lake, CardmarketIdentifiers(files[0], limits), 1, as_json)
        return
    format_ = CARD_FORMATS[source] if source else None
    _import(lake, IdentifierFiles(format_, files, limits, replace, accepted=frozenset(accept)), len(files), as_json)


@ingest.command()
@click.argument("days", nargs=-1, type=DAY, metavar="[DAY]…")
@lake_option
@tables_option("price_guide")
@click.option("--game", help="Only the rows of products of this game. Without DAY: all of them, and the products.")
@json_option
def withdraw(days: tuple[datetime, ...], lake: str, tables: tuple[str, ...], game: str | None, as_json: bool) -> None:
    """Take the imported rows of days out of the lake, for example a guide that proved wrong.

    With --game and without DAY: a whole game, with all its days, products and expansions.

    Only rows that imports wrote are deleted. Import the right files afterwards, then build: the values of the day
    before stand again until you do.

    \b
    Example: cardpress ingest withdraw 2026-07-26 --lake lake
    """
    if not days and (game is None or tables):
        raise click.UsageError("name the days; --game alone takes out a whole game")
    removed = take_out(LakeWriter(lake), tables or ("price_guide",), [day.date() for day in days], game)
    lines = (f"{path}: {rows:,} row{'s' * (rows != 1)} withdrawn" for path, rows in removed.items())
    say_result(as_json, removed, lines)


@click.group()
def fetch() -> None:
    """Download a marketplace's files and import them.

    \b
    Example: cardpress fetch cardmarket 17 downloads --lake lake
    """


def _game_number(text: str) -> int:
    numbers = {fold(name): number for number, name in GAMES.items()}
    number = int(text) if re.fullmatch("[1-9][0-9]{0,2}", text) else numbers.get(fold(text))
    if number is None:
        known = ", ".join(f"{number} {name}" for number, name in GAMES.items())
        raise ValueError(f"{text!r} is no game of the marketplace: name one by its number or name: {known}")
    return number


@fetch.command("cardmarket")
@click.argument("game", type=Parsed("game", _game_number))
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--lake", help="Also import the files into this lake, a folder or s3:// prefix.")
@_download_options
@click.option("--url", "base", type=HTTP_URL, default=BASE_URL, help="Where the files are.")
@click.option(
    "--timeout", "seconds", metavar="SECONDS", type=click.FloatRange(0.1), default=60,
    help="How long to wait for each part of an answer.",
)  # fmt: skip
def fetch_cardmarket(
    game: int,
    folder: Path,
    lake: str | None,
    max_file_mb: int,
    base: str,
    seconds: float,
    **further: Any,  # of `ingest cardmarket`
) -> None:
    """Download today's lists and price guide of a game, and import them.

    GAME: the marketplace's number or its name: 1 Magic, 3 Yu-Gi-Oh!, 6 Pokémon, 17 Digimon, 18 One Piece, 19 Lorcana, …

    DIR keeps the files by day, since the marketplace keeps no archive. A file that did not change is not sent again.
    The files of a call appear after all of them were read and found whole.

    \b
    Example: cardpress fetch cardmarket 17 downloads --lake lake
    """
    files = fetch_files(game, folder, base.rstrip("/"), FileLimits(max_file_mb << 20), seconds, utc_now)
    new = [path.name for path, is_new in files.items() if is_new]
    unchanged = f"; {len(files) - len(new)} did not change" if len(new) < len(files) else ""
    say(f"fetched {', '.join(new) or 'nothing'} into {folder}{unchanged}", err=True)
    if lake:
        further |= {"places": tuple(files), "lake": lake, "max_file_mb": max_file_mb}
        click.get_current_context().invoke(cardmarket, **further)
