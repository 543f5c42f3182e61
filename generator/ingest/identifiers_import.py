"""Imports ids of other catalogues: read every file, merge under the lake's lock, then write.

Nothing is written before every file was read. In a folder, all changed files then appear together or not at all.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from generator.database import run_file
from generator.ingest.bounded_file import FileLimits
from generator.ingest.identifier_files import Cases, IdentifierReader
from generator.ingest.identifier_formats import CardFormat
from generator.ingest.table_files import identifiers_file
from generator.ingest.values import quoted_json
from generator.lake.tables import arrow_schema
from generator.lake.writer import LakeWriter, encode_parquet

FILE = identifiers_file().path
_TABLE = "identifiers"

_SCHEME = re.compile("[a-z0-9_]{1,32}")
_SCHEME_RULE = "write 1 to 32 letters a-z, digits and _"
_VALUE_RULE = "write 1 to 200 characters without commas and blanks"
# The cards and lines (file, number) with a row that breaks a rule, each with one such row.
_BROKEN = """
create table broken as
select file, number, arg_min(scheme, (scheme, value)) as scheme, arg_min(value, (scheme, value)) as value
from incoming
where not (is_scheme(scheme) and is_identifier(value))
group by file, number
order by file, number
"""
_KEPT = "create table kept as from incoming anti join broken using (file, number)"
# The cards and lines by whether the catalogue has one of their products.
_MATCHES = """
select known, count(*), arg_min(example, (file, number)) from (
    select file, number, bool_or(products.id_product is not null) as known, min(kept.id_product) as example
    from kept left join products using (id_product)
    group by file, number
)
group by known
"""
# The ids by set and number of a catalogue, again with the codes that are printed on the cards. The catalogue's own ids
# of cards tell their sets: `sm9` and `SM9` are two.
_PRINTED = """
insert into kept by name
with every as (from kept union all by name from stored),

cards as (
    select distinct id_product, own, printed
    from every join codes on starts_with(value, concat(own, '-'))
    where scheme = $catalogue
)

select file, number, id_product, scheme, concat(printed, value[length(own) + 1:]) as value
from every join cards using (id_product)
where scheme = 'set_number' and split_part(value, '/', 1) = lower(own)
"""
# The rows of a file of the lake that stay. `replaced` has the schemes of which the imported files are the whole truth:
# of set_number, which catalogues of all games share, only for the products that the catalogue itself identifies.
_STAYING = """
select * from stored
where scheme not in (from replaced)
    or (scheme = 'set_number' and id_product not in (from ours))
    or (id_product, scheme, value) in (select id_product, scheme, value from kept)
order by all
"""
_MERGED = """
select id_product, scheme, value from own
union
(select id_product, scheme, value from kept except select id_product, scheme, value from others)
order by all
"""


class FileCounts(NamedTuple):
    """The rows of a file of the lake after an import, and how many of them are new and how many it lost."""

    rows: int
    new: int
    removed: int


@dataclass(frozen=True)
class IdentifiersResult:
    """The result of an import. Each card or line is counted once.

    Attributes:
        unit: What was read: `card` or `line`.
        matched: How many have a product of the catalogue.
        without: Cards without an id of the marketplace.
        unknown: Those of which the catalogue has no product. Builds leave them out until it has.
        refused: Those that break a rule.
        tables: What changed in each file of the lake, by its path.
    """

    unit: str
    read: int
    matched: int
    without: Cases
    unknown: Cases
    refused: Cases
    tables: dict[str, FileCounts]

    def __str__(self) -> str:
        counts = [
            f"{self.matched:,} matched",
            _said(self.without, "without an id of the marketplace"),
            _said(self.unknown, "unknown to the catalogue"),
            _said(self.refused, "refused"),
        ]
        return f"{self.read:,} {self.unit}{'s' * (self.read != 1)} read: {', '.join(counts)}"

    def as_json(self) -> dict[str, object]:
        """Return the counts under the names that `--json` prints."""
        return asdict(self) | {"tables": {path: counts._asdict() for path, counts in self.tables.items()}}


def import_identifiers(
    lake: LakeWriter,
    paths: Sequence[Path],
    format_: CardFormat | None,
    *,
    replace: bool,
    limits: FileLimits,
    on_read: Callable[[Path], None],
) -> IdentifiersResult:
    """Add the ids of files to the lake.

    Args:
        format_: The format of files of cards. None for CSV and JSON Lines.
        replace: Make the files the whole truth of each scheme of the format, or of each scheme in the lines.
        on_read: Called with each file after it was read.

    Raises:
        IngestError: A file or a table of the lake cannot be read, or a file is not of the format, and nothing was
            written; or writing failed.
    """
    reader = IdentifierReader(format_, limits)
    for path in paths:
        reader.add(path)
        on_read(path)
    with closing(duckdb.connect()) as db, lake.locked():
        db.register("incoming", reader.table())
        run_file(db, "macros")
        db.execute(_BROKEN)
        db.execute(_KEPT)
        _count_broken(db, reader)
        reader.check()
        matched, unknown = _matches(db, lake, reader)
        if reader.codes and format_:
            _add_printed(db, reader.codes, [] if replace else _stored(lake), format_.schemes[0])
        tables, changed = _merge(db, lake, format_, _replaced(db, format_) if replace else [])
        lake.write(changed)
    return IdentifiersResult(reader.unit, reader.read, matched, reader.without, unknown, reader.refused, tables)


def _said(cases: Cases, what: str) -> str:
    return f"{cases.count:,} {what}" + (f" (such as {cases.example})" if cases.example else "")


def _count_broken(db: duckdb.DuckDBPyConnection, reader: IdentifierReader) -> None:
    for file, number, scheme, value in db.sql("from broken").fetchall():
        wrong = f"value {quoted_json(value)} of scheme {quoted_json(scheme)}: {_VALUE_RULE}"
        if not _SCHEME.fullmatch(scheme):
            wrong = f"scheme {quoted_json(scheme)}: {_SCHEME_RULE}"
        reader.refuse(file, number, wrong)


def _matches(db: duckdb.DuckDBPyConnection, lake: LakeWriter, reader: IdentifierReader) -> tuple[int, Cases]:
    """Return how many cards or lines have a product of the catalogue, and those that have none."""
    schema = pa.schema([("id_product", pa.int64())])
    products = [lake.read_columns(path, schema) for path in lake.list_tables("products")]
    db.register("products", pa.concat_tables([schema.empty_table(), *products]))
    counts = {known: (count, example) for known, count, example in db.sql(_MATCHES).fetchall()}
    unknown, example = counts.get(False, (0, None))
    return counts.get(True, (0, None))[0], Cases(unknown, f"id_product {example}" if unknown else "")


def _stored(lake: LakeWriter) -> list[pa.Table]:
    schema = arrow_schema(_TABLE)
    return [lake.read_table(path, schema).select(schema.names) for path in lake.list_tables(_TABLE)]


def _add_printed(
    db: duckdb.DuckDBPyConnection, codes: dict[str, list[str]], stored: list[pa.Table], catalogue: str
) -> None:
    """Add the ids with printed codes, for the cards of a catalogue that were read and for those that the lake has."""
    pairs = [(own, printed) for own, of_set in codes.items() for printed in of_set if printed != own.lower()]
    schema = pa.schema([("own", pa.string()), ("printed", pa.string())])
    db.register("codes", pa.Table.from_pylist([dict(zip(schema.names, pair, strict=True)) for pair in pairs], schema))
    db.register("stored", pa.concat_tables([arrow_schema(_TABLE).empty_table(), *stored]))
    db.execute(_PRINTED, {"catalogue": catalogue})


def _replaced(db: duckdb.DuckDBPyConnection, format_: CardFormat | None) -> list[str]:
    """Return the schemes of which the imported files are the whole truth."""
    return (
        list(format_.schemes)
        if format_
        else [scheme for (scheme,) in db.sql("select distinct scheme from kept").fetchall()]
    )


def merge_rows(lake: LakeWriter, rows: pa.Table) -> tuple[dict[str, FileCounts], dict[str, pa.Buffer]]:
    """Add rows that keep the rules to those of the lake. Requires its lock.

    Returns:
        What changes in each file, and the new content of the files that change.
    """
    with closing(duckdb.connect()) as db:
        db.register("kept", rows)
        return _merge(db, lake, None, [])


def _merge(
    db: duckdb.DuckDBPyConnection, lake: LakeWriter, format_: CardFormat | None, replaced: list[str]
) -> tuple[dict[str, FileCounts], dict[str, pa.Buffer]]:
    """Merge the rows into those of the lake. The counts always have the file of imports."""
    schema = arrow_schema(_TABLE)
    db.register("replaced", pa.table({"scheme": pa.array(replaced, pa.string())}))
    stored = {path: lake.read_table(path, schema) for path in lake.list_tables(_TABLE)}
    rows = pa.concat_tables([schema.empty_table(), *(table.select(schema.names) for table in stored.values())])
    ours = rows.filter(pc.equal(rows["scheme"], format_.schemes[0])) if format_ else rows
    db.register("ours", ours.select(["id_product"]))
    after = {path: _staying(db, table) for path, table in stored.items()}
    others = [table.select(schema.names) for path, table in after.items() if path != FILE]
    db.register("others", pa.concat_tables([schema.empty_table(), *others]))
    db.register("own", after.get(FILE, schema.empty_table()))
    after[FILE] = db.sql(_MERGED).to_arrow_table().cast(schema)
    counts = {path: _counts(db, stored.get(path, schema.empty_table()), table) for path, table in after.items()}
    changed = {path: found for path, found in counts.items() if found.new or found.removed}
    return {FILE: counts[FILE]} | changed, {path: encode_parquet(after[path]) for path in sorted(changed)}


def _staying(db: duckdb.DuckDBPyConnection, stored: pa.Table) -> pa.Table:
    db.register("stored", stored)
    return db.sql(_STAYING).to_arrow_table().cast(stored.schema)


def _counts(db: duckdb.DuckDBPyConnection, before: pa.Table, after: pa.Table) -> FileCounts:
    db.register("before", before)
    db.register("after", after)
    rows = "select id_product, scheme, value from"
    [(new, removed)] = db.sql(
        f"select (select count(*) from ({rows} after except all {rows} before)), "
        f"(select count(*) from ({rows} before except all {rows} after))"
    ).fetchall()
    return FileCounts(len(after), new, removed)
