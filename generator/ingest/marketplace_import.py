"""Imports the marketplace's files: read every file, merge under the lake's lock, then write.

Nothing is written before every file was read and every table merged. In a folder, all changed files then appear
together or not at all.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from edge_auth.text import fold
from generator.errors import IngestError
from generator.ingest.bounded_file import DOWNLOAD_LIMITS, FileLimits
from generator.ingest.findings import IN_BOTH_LISTS, OF_ONE_FILE, ImportFinding, refuse
from generator.ingest.games import GAMES, GameOfFile, usual_name
from generator.ingest.guide_doubts import PackedFile, doubtful_guides
from generator.ingest.list_page_values import list_pages_file
from generator.ingest.marketplace_documents import NotTheMarketplaces
from generator.ingest.marketplace_files import ImportedFile, Kind, read_marketplace_file
from generator.ingest.memory import DEFAULT_PATTERN, GameImport, Memory, memory_file, remembered
from generator.ingest.merge import FileChange, MergeCounts, changed_files, connect_tables
from generator.ingest.table_files import TableFile, expansions_file, products_file
from generator.ingest.table_updates import TableUpdate, complete_catalogue, update_table
from generator.lake.writer import LakeWriter, decode_parquet, encode_parquet

# Rows of each table file, as Parquet.
_ImportedRows = dict[TableFile, list[pa.Buffer]]

_NUMBERS = """
SELECT * REPLACE (
    CASE WHEN number IS NULL AND kind = 'single' AND id_product IN (FROM chosen)
    THEN nullif(regexp_extract(name, $pattern, 1), '') ELSE number END
    AS number
)
FROM products ORDER BY id_product
"""
_IN_TWO_GAMES = """
WITH named AS (
    SELECT id_product, id_expansion FROM existing UNION ALL SELECT id_product, id_expansion FROM incoming
), doubtful AS (
    SELECT id_product FROM named JOIN games ON named.id_expansion = games.id
    GROUP BY id_product HAVING count(DISTINCT game) > 1
)
SELECT count(*), min(id_product) FROM doubtful
"""
_IN_BOTH_LISTS = """
SELECT id_product FROM incoming GROUP BY id_product, created_at HAVING count(DISTINCT kind) > 1 ORDER BY id_product
"""


@dataclass(frozen=True)
class MarketplaceFiles:
    """The files of one import.

    Attributes:
        named: Files that options name, by what they are said to be.
        places: Folders in which files are found by their content, and single files.
    """

    named: tuple[tuple[Kind, Path], ...] = ()
    places: tuple[Path, ...] = ()
    limits: FileLimits = DOWNLOAD_LIMITS

    def paths(self) -> list[tuple[Path, Kind | None]]:
        """Return each file once, and what an option says of it.

        Raises:
            IngestError: A place does not exist.
        """
        found = dict.fromkeys(path for place in self.places for path in _files(place))
        return [*((path, kind) for kind, path in self.named), *((path, None) for path in found)]


@dataclass(frozen=True)
class ImportOptions:
    """How files are imported, beside what the lake remembers of their games.

    Attributes:
        game: The game of the expansions in the files. None: that of the number in the name of the file.
        accepted: The cases of `findings` that do not stop the import.
        numbers_from_names: Whether collector numbers are taken from names. None: as the lake remembers.
        number_pattern: How they stand in names: a regular expression with one group.
        is_remembered: Whether the lake remembers these options.
    """

    game: str | None = None
    accepted: frozenset[str] = frozenset()
    numbers_from_names: bool | None = None
    number_pattern: str = DEFAULT_PATTERN
    is_remembered: bool = True


@dataclass(frozen=True)
class MarketplaceResult:
    """The result of an import.

    Attributes:
        read: Each file, and what was read from it.
        tables: What changed in each file of the lake, by its path.
        findings: What was accepted, or only reported.
        memory: What the lake remembers of the games of these files, by number.
    """

    read: list[tuple[Path, str]]
    tables: dict[str, MergeCounts]
    findings: list[ImportFinding]
    memory: dict[int, GameImport]

    def as_json(self) -> dict[str, dict[str, int]]:
        """Return the counts of each file of the lake, and the counts of the findings in the files for it."""
        found: dict[str, dict[str, int]] = {path: {} for path in self.tables}
        for finding in self.findings:
            counts = found.setdefault(finding.target, {})
            counts[finding.case] = counts.get(finding.case, 0) + finding.occurrences
        return {path: (self.tables[path].as_json() if path in self.tables else {}) | found[path] for path in found}


class _TwoGames(NamedTuple):
    """How many imported or existing products are in files of two games, and the smallest such id."""

    products: int
    example: int | None


_NO_PRODUCTS = _TwoGames(0, None)


def read_files(
    files: MarketplaceFiles,
    on_read: Callable[[ImportedFile], None],
    on_left: Callable[[Path, str], None],
    wanted: Callable[[ImportedFile], bool] = lambda _: True,
) -> list[PackedFile]:
    """Read files, products first: they are written first, so that a build in between knows the products of the guide.

    Args:
        on_read: Called with each list after it was read.
        on_left: Called with each file in a folder that is none of the marketplace's, and the reason.
        wanted: Whether a list is imported.

    Raises:
        IngestError: A file cannot be read, or has rows that no build accepts.
    """
    found: list[PackedFile] = []
    for path, kind in files.paths():
        try:
            read = read_marketplace_file(path, files.limits, kind)
        except NotTheMarketplaces as reason:
            on_left(path, str(reason))
            continue
        for one in filter(wanted, read):
            on_read(one)
            found.append(PackedFile(one._replace(rows=one.rows.schema.empty_table()), encode_parquet(one.rows)))
    return sorted(found, key=lambda one: one.file.order)


def import_files(lake: LakeWriter, packed: list[PackedFile], options: ImportOptions) -> MarketplaceResult:
    """Merge the rows of files into the lake.

    Raises:
        IngestError: A table of the lake cannot be read, or a file has a finding that is not accepted, and nothing was
            written; or writing failed.
    """
    with lake.locked():
        memory = remembered(lake)
        findings = [found for one in packed for found in one.file.findings]
        findings += [*_in_both_lists(packed), *doubtful_guides(lake, packed)]
        refuse([found for found in findings if not _is_accepted(found, packed, memory)], options.accepted)
        imported = _by_target(packed)
        changes, games = _update_catalogue(lake, imported, packed, options, memory)
        guides = [file for file in imported if file not in (products_file(), expansions_file())]
        changes += [update_table(lake, file, imported[file]).change() for file in guides]
        learnt = _learn(memory, packed, findings, options, games) if options.is_remembered else memory
        lake.write(changed_files(changes) | memory_file(lake, learnt))
    read = [(one.file.path, one.file.what) for one in packed]
    numbers = {one.file.number for one in packed}
    kept = {number: learnt[number] for number in sorted(learnt) if number in numbers}
    return MarketplaceResult(read, {change.path: change.counts for change in changes}, findings, kept)


def _is_accepted(finding: ImportFinding, packed: list[PackedFile], memory: Memory) -> bool:
    """Return whether the lake remembers that a finding is accepted in the files of its game."""
    numbers = {one.file.number for one in packed if str(one.file.path) == finding.source}
    return any(number in memory and finding.case in memory[number].accepted for number in numbers if number is not None)


def _learn(
    memory: Memory,
    packed: list[PackedFile],
    findings: list[ImportFinding],
    options: ImportOptions,
    games: Mapping[int, str],
) -> dict[int, GameImport]:
    """Return what the lake remembers after an import with these options. `games` are those of unknown numbers."""
    learnt = dict(memory)
    for one in packed:
        number = one.file.number
        if number is None:
            continue
        known = learnt.get(number, GameImport(games.get(number)))
        accepted = {found.case for found in findings if found.source == str(one.file.path) and found.is_refused}
        known = known._replace(accepted=known.accepted | (accepted & options.accepted - OF_ONE_FILE))
        if one.file.target == products_file() and options.numbers_from_names is not None:
            known = known._replace(number_pattern=options.number_pattern if options.numbers_from_names else None)
        if one.file.target == expansions_file() and options.game:
            known = known._replace(game=usual_name(options.game))
        learnt[number] = known._replace(game=None if known.game == GAMES.get(number) else known.game)
    return learnt


def _files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from sorted(path for path in place.rglob("*") if path.is_file() and not path.name.startswith("."))
    elif place.exists():
        yield place
    else:
        raise IngestError(f"{place}: no such file or folder")


def _by_target(packed: list[PackedFile]) -> _ImportedRows:
    imported: _ImportedRows = {}
    for one in packed:
        imported.setdefault(one.file.target, []).append(one.rows)
    return imported


def _in_both_lists(packed: list[PackedFile]) -> Iterator[ImportFinding]:
    """Yield the products that stand in both lists of one time."""
    target = products_file()
    rows = [decode_parquet(one.rows) for one in packed if one.file.target == target]
    with connect_tables(incoming=pa.concat_tables([target.imported_schema.empty_table(), *rows])) as database:
        both = database.sql(_IN_BOTH_LISTS).fetchall()
    if both:
        message = f"{len(both):,} products stand in both lists, such as {both[0][0]}: taken as sealed"
        yield ImportFinding(IN_BOTH_LISTS, "lists", target.path, len(both), message, is_refused=False)


def _update_catalogue(
    lake: LakeWriter, imported: _ImportedRows, packed: list[PackedFile], options: ImportOptions, memory: Memory
) -> tuple[list[FileChange], dict[int, str]]:
    """Update products and expansions, with the values of list pages. Return also the games of unknown numbers."""
    files = (products_file(), expansions_file())
    if not any(file in imported for file in files) and not options.numbers_from_names:
        return [], {}
    updates = products, expansions = [update_table(lake, file, imported.get(file, ())) for file in files]
    for ids, game in _games_of_names(packed, options.game, memory):
        expansions.after = _with_game(expansions.after, ids, game)
    complete_catalogue(products, expansions, list_pages_file().read(lake), _games_of_products(packed, memory))
    games = _games_of_unknown_numbers(packed, expansions.after)
    for ids, game in _games_of_names(packed, None, {number: GameImport(game) for number, game in games.items()}):
        expansions.after = _with_game(expansions.after, ids, game, is_firm=False)
    _take_numbers(products, packed, options, memory)
    doubtful = _products_of_two_games(products, expansions)
    written = (update for update in updates if update.file in imported or update.is_changed)
    return [_change(update, doubtful if update is products else _NO_PRODUCTS) for update in written], games


def _take_numbers(products: TableUpdate, packed: list[PackedFile], options: ImportOptions, memory: Memory) -> None:
    """Take collector numbers from names: of all products if an option says so, else of games that are remembered."""
    if options.numbers_from_names:
        products.after = fill_numbers(products.after, options.number_pattern)
    if options.numbers_from_names is not None:
        return
    for one in packed:
        known = memory.get(one.file.number or -1, GameImport())
        if one.file.target == products_file() and known.number_pattern:
            products.after = fill_numbers(products.after, known.number_pattern, decode_parquet(one.rows)["id_product"])


def _change(update: TableUpdate, found: _TwoGames) -> FileChange:
    change = update.change()
    counts = replace(change.counts, in_two_games=found.products, example_in_two_games=found.example)
    return change._replace(counts=counts)


def _game_of(number: int | None, memory: Memory) -> str | None:
    """Return the game that the number of a file means: as it is remembered, else the marketplace's."""
    return None if number is None else memory.get(number, GameImport()).game or GAMES.get(number)


def _games_of_names(
    packed: list[PackedFile], game: str | None, memory: Memory
) -> Iterator[tuple[pa.ChunkedArray, str]]:
    """Yield the ids of the expansions in a file of names, and their game."""
    for one in packed:
        told = usual_name(game) if game else _game_of(one.file.number, memory)
        if one.file.target == expansions_file() and told:
            yield decode_parquet(one.rows)["id"], told


def _games_of_products(packed: list[PackedFile], memory: Memory) -> Iterator[GameOfFile]:
    """Yield the ids of the expansions in a list of products, and the game that the number of its file tells."""
    for one in packed:
        game = _game_of(one.file.number, memory)
        if one.file.target == products_file() and game:
            is_firm = game != GAMES.get(one.file.number or 0)
            yield GameOfFile(decode_parquet(one.rows)["id_expansion"], game, is_firm)


def _games_of_unknown_numbers(packed: list[PackedFile], expansions: pa.Table) -> dict[int, str]:
    """Return the games of numbers that are not in our list: those of most expansions in their lists of products."""
    games: dict[int, Counter[str]] = {}
    by_id = dict(zip(expansions["id"].to_pylist(), expansions["game"].to_pylist(), strict=True))
    for one in packed:
        number = one.file.number
        if number is not None and number not in GAMES and one.file.target == products_file():
            ids = pc.unique(decode_parquet(one.rows)["id_expansion"]).to_pylist()
            games.setdefault(number, Counter()).update(game for id_ in ids if (game := by_id.get(id_)))
    return {number: min(found, key=lambda game: (-found[game], game)) for number, found in games.items() if found}


def _with_game(expansions: pa.Table, ids: pa.ChunkedArray, game: str, *, is_firm: bool = True) -> pa.Table:
    """Set the game of these expansions; unless it is firm, of those that have none."""
    place = expansions.schema.get_field_index("game")
    chosen = pc.is_in(expansions["id"], ids)
    if not is_firm:
        chosen = pc.and_(chosen, pc.is_null(expansions["game"]))
    return expansions.set_column(place, "game", pc.if_else(chosen, game, expansions["game"]))


def fill_numbers(products: pa.Table, pattern: str, ids: pa.ChunkedArray | None = None) -> pa.Table:
    """Return the products with numbers for singles that have none.

    Args:
        pattern: A regular expression with one group, the number.
        ids: Only these products. None: all.

    Raises:
        IngestError: The pattern is no regular expression with a group.
    """
    chosen = pa.table({"id_product": products["id_product"] if ids is None else ids})
    with connect_tables(products=products, chosen=chosen) as database:
        try:
            return database.sql(_NUMBERS, params={"pattern": pattern}).to_arrow_table().cast(products.schema)
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise IngestError(f"--number-pattern {pattern}: {reason}: it must be a pattern with one group") from error


def _products_of_two_games(products: TableUpdate, expansions: TableUpdate) -> _TwoGames:
    """Count the products whose rows, before and in the import, name expansions of different games."""
    games = [fold(game or "") or None for game in expansions.after["game"].to_pylist()]
    tables = {"existing": products.before, "incoming": products.incoming}
    named = pa.table({"id": expansions.after["id"], "game": pa.array(games, pa.string())})
    with connect_tables(**tables, games=named) as database:
        [row] = database.sql(_IN_TWO_GAMES).fetchall()
    return _TwoGames(*row)
