"""Imports the marketplace's files: read every file, merge under the lake's lock, then write.

Nothing is written before every file was read and every table merged. In a folder, all changed files then appear
together or not at all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from edge_auth.text import fold
from generator.errors import IngestError
from generator.ingest.bounded_file import DOWNLOAD_LIMITS, FileLimits
from generator.ingest.findings import IN_BOTH_LISTS, ImportFinding, refuse
from generator.ingest.games import game_of, usual_name
from generator.ingest.guide_doubts import PackedFile, doubtful_guides
from generator.ingest.list_page_values import list_pages_file
from generator.ingest.marketplace_files import ImportedFile, Kind, NotTheMarketplaces, read_marketplace_file
from generator.ingest.merge import FileChange, MergeCounts, changed_files, connect_tables
from generator.ingest.table_files import TableFile, expansions_file, products_file
from generator.ingest.table_updates import TableUpdate, complete_catalogue, update_table
from generator.lake.writer import LakeWriter, decode_parquet, encode_parquet

DEFAULT_PATTERN = r"\(([A-Z]{1,4}[0-9]{0,2}-T?[0-9]{2,3}[a-z]?)\)"

# Rows of each table file, as Parquet.
_ImportedRows = dict[TableFile, list[pa.Buffer]]

_NUMBERS = """
SELECT * REPLACE (
    CASE WHEN number IS NULL AND kind = 'single' THEN nullif(regexp_extract(name, $pattern, 1), '') ELSE number END
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
    """How files are imported.

    Attributes:
        game: The game of the expansions in the files. None: that of the number in the name of the file.
        accepted: The cases of `findings` that do not stop the import.
        number_pattern: How collector numbers stand in names: a regular expression with one group. None: nothing is
            taken from names.
    """

    game: str | None = None
    accepted: frozenset[str] = frozenset()
    number_pattern: str | None = None


@dataclass(frozen=True)
class MarketplaceResult:
    """The result of an import.

    Attributes:
        read: Each file, and what was read from it.
        tables: What changed in each file of the lake, by its path.
        findings: What was accepted, or only reported.
    """

    read: list[tuple[Path, str]]
    tables: dict[str, MergeCounts]
    findings: list[ImportFinding]

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
        findings = [found for one in packed for found in one.file.findings]
        findings += [*_in_both_lists(packed), *doubtful_guides(lake, packed)]
        refuse(findings, options.accepted)
        imported = _by_target(packed)
        changes = _update_catalogue(lake, imported, packed, options)
        guides = [file for file in imported if file not in (products_file(), expansions_file())]
        changes += [update_table(lake, file, imported[file]).change() for file in guides]
        lake.write(changed_files(changes))
    read = [(one.file.path, one.file.what) for one in packed]
    return MarketplaceResult(read, {change.path: change.counts for change in changes}, findings)


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
    lake: LakeWriter, imported: _ImportedRows, packed: list[PackedFile], options: ImportOptions
) -> list[FileChange]:
    """Update products and expansions, with the values of list pages."""
    files = (products_file(), expansions_file())
    if not any(file in imported for file in files) and not options.number_pattern:
        return []
    updates = products, expansions = [update_table(lake, file, imported.get(file, ())) for file in files]
    for ids, game in _games_of_names(packed, options.game):
        expansions.after = _with_game(expansions.after, ids, game)
    complete_catalogue(products, expansions, list_pages_file().read(lake), _games_of_products(packed))
    if options.number_pattern:
        products.after = fill_numbers(products.after, options.number_pattern)
    doubtful = _products_of_two_games(products, expansions)
    written = (update for update in updates if update.file in imported or update.is_changed)
    return [_change(update, doubtful if update is products else _NO_PRODUCTS) for update in written]


def _change(update: TableUpdate, found: _TwoGames) -> FileChange:
    change = update.change()
    counts = replace(change.counts, in_two_games=found.products, example_in_two_games=found.example)
    return change._replace(counts=counts)


def _games_of_names(packed: list[PackedFile], game: str | None) -> Iterator[tuple[pa.ChunkedArray, str]]:
    """Yield the ids of the expansions in a file of names, and their game."""
    for one in packed:
        told = usual_name(game) if game else game_of(one.file.path)
        if one.file.target == expansions_file() and told:
            yield decode_parquet(one.rows)["id"], told


def _games_of_products(packed: list[PackedFile]) -> list[tuple[pa.ChunkedArray, str]]:
    """Return the ids of the expansions in a list of products, and the game that the number of its file tells."""
    lists = [(one, game_of(one.file.path)) for one in packed if one.file.target == products_file()]
    return [(decode_parquet(one.rows)["id_expansion"], game) for one, game in lists if game]


def _with_game(expansions: pa.Table, ids: pa.ChunkedArray, game: str) -> pa.Table:
    """Set the game of these expansions. It stays until another import names another."""
    place = expansions.schema.get_field_index("game")
    games = pc.if_else(pc.is_in(expansions["id"], ids), game, expansions["game"])
    return expansions.set_column(place, "game", games)


def fill_numbers(products: pa.Table, pattern: str) -> pa.Table:
    """Return the products with numbers for singles that have none.

    Args:
        pattern: A regular expression with one group, the number.

    Raises:
        IngestError: The pattern is no regular expression with a group.
    """
    with connect_tables(products=products) as database:
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
