"""Imports tables of what the marketplace's files lack: names of expansions, and numbers, rarities, pages, pictures.

A line says when it was written, or counts as written when its file was changed last. So a corrected file wins over the
one before it, and importing a file again changes nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from generator.clock import utc_now
from generator.errors import IngestError
from generator.ingest.bounded_file import STDIN
from generator.ingest.findings import IGNORED_COLUMNS, NAMED_TWICE, UNKNOWN_PRODUCTS, UNNAMED, ImportFinding
from generator.ingest.formats import ATTRIBUTES, EXPANSIONS, LineFormat
from generator.ingest.lines import FileLines, LineReader
from generator.ingest.lines_import import (
    ImportResult,
    LineFiles,
    OnRead,
    finish_reading,
    import_result,
    write_changes,
)
from generator.ingest.list_page_values import list_pages_file
from generator.ingest.merge import FileChange, changed_files, connect_tables
from generator.ingest.table_files import expansions_file, products_file
from generator.ingest.table_updates import TableUpdate, complete_catalogue, update_from_pages, update_table
from generator.ingest.values import quoted_json
from generator.lake.writer import LakeWriter, encode_parquet

# The newest game and URL that lines give for an expansion; of two with the same time, the greater.
_SET_COLUMNS = """
WITH given AS (
    SELECT id,
        struct_extract(max({'time': updated_at, 'value': game}) FILTER (game IS NOT NULL), 'value') AS new_game,
        struct_extract(max({'time': updated_at, 'value': url}) FILTER (url IS NOT NULL), 'value') AS new_url
    FROM lines GROUP BY id
)
SELECT expansions.* REPLACE (coalesce(new_game, game) AS game, coalesce(new_url, url) AS url)
FROM expansions LEFT JOIN given USING (id) ORDER BY id
"""

# What lines of one time say in several ways about a key.
_SAID_TWICE = """
SELECT {key}, "column", list(DISTINCT said ORDER BY said) AS said
FROM (UNPIVOT lines ON {columns} INTO NAME "column" VALUE said)
GROUP BY {key}, updated_at, "column" HAVING count(DISTINCT said) > 1 ORDER BY {key}, "column"
"""


def import_attributes(lake: LakeWriter, files: LineFiles, on_read: OnRead) -> ImportResult:
    """Import numbers, rarities, URLs and images of products, as if list pages had shown them.

    Raises:
        IngestError: As `import_lines`.
    """
    reader, rows = _read(files, on_read, ATTRIBUTES)
    with lake.locked():
        changed_pages, products, expansions = update_from_pages(lake, _as_list_pages(rows))
        changes = [products.change(), *_if_changed(expansions)]
        write_changes(lake, files, reader, changed_pages | changed_files(changes))
    unknown = _unknown(rows["id_product"], products, UNKNOWN_PRODUCTS, "kept until a list has them")
    twice = _said_twice(rows, products_file().path)
    return replace(import_result(reader, changes), findings=(*_ignored(reader), *twice, *unknown))


def import_expansions(lake: LakeWriter, files: LineFiles, on_read: OnRead, game: str | None = None) -> ImportResult:
    """Import names, games and URLs of expansions.

    Args:
        game: The game of the lines that have none.

    Raises:
        IngestError: As `import_lines`.
    """
    reader, rows = _read(files, on_read, EXPANSIONS)
    if game:
        games = pc.fill_null(rows["game"], game)
        rows = rows.set_column(rows.schema.get_field_index("game"), "game", games)
    twice = _said_twice(rows, expansions_file().path)
    named = rows.filter(rows["name"].is_valid()).select(["id", "name", "updated_at"])
    incoming = named.rename_columns(["id", "name", "created_at"]).cast(expansions_file().imported_schema)
    with lake.locked():
        products = update_table(lake, products_file())
        expansions = update_table(lake, expansions_file(), [encode_parquet(incoming)])
        with connect_tables(expansions=expansions.after, lines=rows) as database:
            expansions.after = database.sql(_SET_COLUMNS).to_arrow_table().cast(expansions.after.schema)
        complete_catalogue(products, expansions, list_pages_file().read(lake))
        unknown = list(_unknown(rows["id"], expansions, UNNAMED, "skipped, because they have no name"))
        if unknown and unknown[0].occurrences == len(pc.unique(rows["id"])):
            raise IngestError(f"{files.paths[0]}: {unknown[0].message}: write their names into the table")
        changes = [expansions.change(), *_if_changed(products)]
        write_changes(lake, files, reader, changed_files(changes))
    return replace(import_result(reader, changes), findings=(*_ignored(reader), *twice, *unknown))


def _said_twice(rows: pa.Table, target: str) -> list[ImportFinding]:
    """Return the finding that lines of one time say several things about an expansion or a product."""
    key, *columns = (name for name in rows.schema.names if name != "updated_at")
    with connect_tables(lines=rows) as database:
        found = database.sql(_SAID_TWICE.format(key=key, columns=", ".join(columns))).fetchall()
    if not found:
        return []
    id_, column, said = found[0]
    ways = ", ".join(map(quoted_json, said))
    message = f"{len(found):,} values are given in several ways, such as {column} of {id_}: {ways}"
    return [ImportFinding(NAMED_TWICE, "lines", target, len(found), message, is_refused=False)]


def _ignored(reader: LineReader) -> Iterator[ImportFinding]:
    """Yield the columns of lines that the format does not know."""
    ignored = sorted(reader.keys - reader.format.keys - reader.format.remarks)
    if ignored:
        message = f"ignored: {', '.join(ignored)}; known columns: {', '.join(sorted(reader.format.keys))}"
        yield ImportFinding(IGNORED_COLUMNS, "columns", reader.format.name, len(ignored), message, is_refused=False)


def _unknown(ids: pa.ChunkedArray, update: TableUpdate, case: str, fate: str) -> Iterator[ImportFinding]:
    """Yield the ids of lines that the table does not have after the import."""
    file = update.file
    known = pa.chunked_array([*update.after[file.key].chunks, *update.other_keys.chunks], pa.int64())
    unknown = pc.unique(ids.filter(pc.invert(pc.is_in(ids, known))))
    if len(unknown):
        message = f"{len(unknown):,} unknown ids {fate}, such as {unknown[0].as_py()}"
        yield ImportFinding(case, "lines", file.path, len(unknown), message, is_refused=False)


def _if_changed(update: TableUpdate) -> Iterator[FileChange]:
    if update.is_changed:
        yield update.change()


def _read(files: LineFiles, on_read: OnRead, line_format: LineFormat) -> tuple[LineReader, pa.Table]:
    """Read all files. Lines without a time have that of their file."""
    reader, parts = LineReader(line_format, files.limits), []
    for path in files.paths:
        rows = reader.read(path).rows
        if reader.keys and not reader.keys & line_format.value_keys:
            known_columns = ", ".join(sorted(line_format.value_keys))
            raise IngestError(f"{path}: no column of {line_format.name}: name at least one of {known_columns}")
        times = pc.fill_null(rows["updated_at"], pa.scalar(_written_at(path), rows.schema.field("updated_at").type))
        parts.append(rows.set_column(rows.schema.get_field_index("updated_at"), "updated_at", times))
        on_read(path)
    finish_reading(files, reader)
    for file in reader.files:
        _refuse_empty(file)
    return reader, pa.concat_tables(parts)


def _refuse_empty(file: FileLines) -> None:
    """Raise IngestError if no line of a file says anything."""
    values = [name for name in file.rows.schema.names[1:] if name != "updated_at"]
    if all(file.rows[name].null_count == len(file.rows) for name in values):
        none = f"none of its {file.lines:,} line{'s' * (file.lines != 1)} has a value"
        lines = none if file.lines else "it has no lines"
        raise IngestError(f"{file.path}: {lines} for {', '.join(values)}: nothing was imported")


def _written_at(path: Path) -> datetime:
    if path == STDIN:
        return utc_now().replace(tzinfo=None, microsecond=0)
    try:
        return datetime.fromtimestamp(int(path.stat().st_mtime), UTC).replace(tzinfo=None)
    except OSError as error:
        raise IngestError(f"{path}: {error.strerror}") from error


def _as_list_pages(rows: pa.Table) -> pa.Table:
    columns = {name: rows[name] for name in rows.schema.names if name != "updated_at"}
    columns["scraped_at"] = rows["updated_at"]
    schema = list_pages_file().schema
    return pa.table({f.name: columns.get(f.name, pa.nulls(len(rows), f.type)) for f in schema}, schema)
