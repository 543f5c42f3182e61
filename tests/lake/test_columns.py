"""One place for each fact: every copy of a lake's columns, price figures or conditions agrees with its source."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from duckdb.sqltypes import DuckDBPyType

from generator.compare.diff import compared_fields
from generator.database import Database
from generator.demo.lake import write_demo
from generator.demo.vocabulary import CONDITION_CODES
from generator.fingerprints.recipe import Fingerprint
from generator.ingest.catalogue import list_pages_file
from generator.ingest.formats import ATTRIBUTES, EXPANSIONS, SCRAPED_FORMATS, WATCHLIST, LineFormat, ScrapedFormat
from generator.ingest.marketplace_files import read_marketplace_file
from generator.ingest.tables import TableFile, expansions_file, products_file
from generator.ingest.values import InvalidValue
from generator.lake.files import PRICE_FIGURES
from generator.lake.lake import DAILY_TABLES, FLAT_TABLES
from generator.lake.tables import (
    CONDITIONS,
    OFFER_SUMMARIES,
    arrow_schema,
    broken_rules,
    declared_tables,
    summarise_offers,
)
from generator.making.lake_tables import PRICE_SQL
from generator.threads import ONE_THREAD
from tests.support.lakes import FIXED, rows
from tests.support.oracle import lake as oracle
from tests.support.service import ROOT

TABLES = (*FLAT_TABLES, *DAILY_TABLES)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("columns") / "lake"
    write_demo(lake, 60, 3, 1)
    return lake


def text_columns(table: str) -> Iterator[str]:
    """The text columns of a table, and those of its offers, such as `offer_list.seller`."""
    for field in arrow_schema(table):
        if field.type == pa.string():
            yield field.name
        elif pa.types.is_list(field.type) and pa.types.is_struct(field.type.value_type):
            yield from (f"{field.name}.{member.name}" for member in field.type.value_type if member.type == pa.string())


def declared(table: str) -> list[str]:
    return list(arrow_schema(table).names)


def test_the_tables_are_the_declared_ones() -> None:
    assert set(TABLES) == set(declared_tables())
    with_day = {table for table, columns in declared_tables().items() if any(c.name == "day" for c in columns)}
    assert set(DAILY_TABLES) == with_day


@pytest.mark.parametrize("table", TABLES)
def test_the_demo_writes_every_column(demo: Path, table: str) -> None:
    files = sorted(demo.glob(f"{table}/day=*/*.parquet" if table in DAILY_TABLES else f"{table}.parquet"))
    schema = pq.read_schema(files[0])
    assert schema.names == declared(table)
    assert [widened(type_) for type_ in schema.types] == list(arrow_schema(table).types)


def widened(type_: pa.DataType) -> pa.DataType:
    """The demo writes counts as int32, which the lake reads as int64."""
    if pa.types.is_list(type_):
        return pa.list_(widened(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([(member.name, widened(member.type)) for member in type_])
    return pa.int64() if type_ == pa.int32() else type_


@pytest.mark.parametrize("line_format", SCRAPED_FORMATS, ids=lambda line_format: line_format.name)
def test_lines_give_every_column_of_their_table(line_format: ScrapedFormat) -> None:
    table = line_format.table
    assert [line_format.schema.field(name) for name in table.schema.names] == list(table.schema)
    assert {table.product, table.time} <= set(table.schema.names)


@pytest.mark.parametrize("line_format", [*SCRAPED_FORMATS, EXPANSIONS, ATTRIBUTES, WATCHLIST], ids=lambda one: one.name)
def test_each_text_of_a_line_has_a_bound(line_format: LineFormat) -> None:
    """That of its column in the lake: a longer one is a bad line."""
    long = f"https://{'x' * 2000}"
    for name, column in line_format.columns.items():
        if column.type == pa.string():
            with pytest.raises(InvalidValue, match=r"column \w+ has more than"):
                column.read({column.keys[0]: long})
        elif pa.types.is_list(column.type):
            for member in (field.name for field in column.type.value_type if field.type == pa.string()):
                with pytest.raises(InvalidValue, match=f"column {name} holds a text of more than"):
                    column.read({column.keys[0]: [{member: long}]})


def test_the_files_of_imports_have_every_column(tmp_path: Path) -> None:
    created = '{"version": 1, "createdAt": "2026-01-01T00:00:00Z", '
    file = tmp_path / "file.json"
    file.write_text(created + '"products": []}')
    assert read_marketplace_file(file, kind="singles")[0].rows.schema == products_file().imported_schema
    file.write_text(created + '"expansions": []}')
    assert read_marketplace_file(file)[0].rows.schema == expansions_file().imported_schema
    file.write_text(created + '"priceGuides": []}')
    assert read_marketplace_file(file)[0].rows.schema.names == [*declared("price_guide"), "created_at"]


def test_each_product_column_has_a_source() -> None:
    """A column of products and expansions comes from the marketplace's lists, from list pages or from an option."""
    from_pages = set(list_pages_file().schema.names)
    assert missing(products_file(), "products") - from_pages == set()
    assert missing(expansions_file(), "expansions") == {"game", "url"}  # --game, and the expansion_url of pages
    assert "expansion_url" in from_pages


def missing(file: TableFile, table: str) -> set[str]:
    assert set(declared(table)) | {"created_at"} == set(file.schema.names)
    return set(declared(table)) - set(file.imported)


def test_a_fingerprint_has_every_column() -> None:
    assert ["key", *Fingerprint(0, 0, 0, bytes(48)).texts(), "products"] == declared("fingerprints")


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """A database in which no table of the lake has rows."""
    with closing(Database(ONE_THREAD)) as opened:
        for table in TABLES:
            opened.connection.execute(f"create view raw.{table} as from lake.{table}")
        yield opened


@pytest.mark.parametrize("table", TABLES)
def test_the_rules_know_every_required_column_and_price(database: Database, table: str) -> None:
    """A row without any value breaks the rules of all required columns, a row of prices below 0 those of all prices."""
    columns = [column for column in declared_tables()[table] if column.name != "day"]
    prices = {column.name: wrong for column in columns if (wrong := wrong_price(column.type))}
    rows = ", ".join(f"{value} as {name}" for name, value in prices.items()) or f"null as {columns[0].name}"
    database.connection.execute(
        f"create or replace view raw.{table} as from lake.{table} "
        f"union all by name select null as {columns[0].name} union all by name select {rows}"
    )
    if table in OFFER_SUMMARIES:
        summarise_offers(database, table)
    broken = broken_rules(database.connection, table)
    assert {rule.column for rule in broken if "null" in rule.rule} == {c.name for c in columns if c.required}
    assert {rule.column for rule in broken if "price" in rule.rule} == prices.keys()


@pytest.mark.parametrize(("table", "column"), [(table, name) for table in TABLES for name in text_columns(table)])
def test_each_text_has_a_bound(database: Database, table: str, column: str) -> None:
    """Bounds count characters, of which one may have many bytes. A text beyond them is not shown whole."""
    named = table in ("products", "expansions", "watchlist") and column == "name"
    most = 500 if named else 200 if column in ("category", "rarity", "number", "game") else 2000
    for length in (most, most + 1):
        name, _, member = column.partition(".")
        value = f"[{{'{member}': repeat('é', {length})}}]" if member else f"repeat('é', {length})"
        database.connection.execute(
            f"create or replace view raw.{table} as from lake.{table} union all by name select {value} as {name}"
        )
        if table in OFFER_SUMMARIES:
            summarise_offers(database, table)
        broken = [str(rule) for rule in broken_rules(database.connection, table) if "characters" in rule.rule]
        broken = [rule for rule in broken if f"more than {most}" in rule]
        assert len(broken) == length - most
        assert all(f"column {name} " in rule and len(rule) < 200 for rule in broken)


def wrong_price(type_: DuckDBPyType) -> str | None:
    """A price below 0 as SQL, or a list with such an offer; None for a type without a price."""
    if type_.id == "list":
        fields = dict(dict(type_.children)["child"].children) if dict(type_.children)["child"].id == "struct" else {}
        values = {name: "-1::double" if name == "price" else f"null::{field}" for name, field in fields.items()}
        return f"[{{{', '.join(f'{name!r}: {value}' for name, value in values.items())}}}]" if values else None
    return "-1::double" if type_.id == "double" else None


def test_the_page_of_the_lake_has_every_column() -> None:
    documented = {cells[1].strip(): cells[3] for line in page_of_the_lake() if len(cells := line.split("|")) > 3}
    for table in TABLES:
        assert [name for name in declared(table) if not re.search(rf"\b{name}\b", documented[table])] == [], table


def page_of_the_lake() -> list[str]:
    return (ROOT / "docs" / "lake.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize("table", TABLES)
def test_the_lakes_of_tests_have_every_column(table: str) -> None:
    columns = [column for column in declared_tables()[table] if column.name != "day"]
    assert {name: written(type_) for name, type_ in rows.COLUMNS[table].items()} == dict(
        zip(declared(table), arrow_schema(table).types, strict=True)
    )
    assert rows.REQUIRED[table] == {column.name for column in columns if column.required}
    some = [row for name, found in FIXED.whole() if name == table for row in found]
    some += [row for name, _, found in FIXED.daily() if name == table for row in found]
    given = {name for row in some for name, value in row.items() if value is not None}
    assert given == {column.name for column in columns}, "the fixed lake has a value in every column"


def written(type_: object) -> pa.DataType:
    """The type of a column as the lakes of tests write it, which is that of the contract."""
    if isinstance(type_, dict):
        return pa.list_(pa.struct([(name, written(member)) for name, member in type_.items()]))
    types = {"int": pa.int64(), "double": pa.float64(), "text": pa.string(), "time": pa.timestamp("us")}
    return types[type_] if isinstance(type_, str) and type_ in types else pa.list_(pa.int64())


def test_the_oracle_reads_every_column() -> None:
    assert list(oracle.GUIDE) == declared("price_guide")
    assert list(oracle.LISTING) == declared("listings")
    assert list(oracle.CHECK) == declared("filtered_checks")
    assert list(oracle.WATCH_CHECK) == declared("watch_checks")


def test_the_imports_document_every_key() -> None:
    """Every key of a scraped line that a parser reads is in the tables of docs/ingest.md."""
    formats = (*SCRAPED_FORMATS, EXPANSIONS, ATTRIBUTES, WATCHLIST)
    keys = {key for line_format in formats for column in line_format.columns.values() for key in column.keys}
    documented = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "ingest.md").read_text("utf-8")))
    assert keys - documented == set()


def test_price_figures() -> None:
    holo = [f"{figure}_holo" for figure in PRICE_FIGURES]
    assert declared("price_guide") == ["id_product", *PRICE_FIGURES, *holo]
    shown = ["day", *PRICE_FIGURES, *(f"holo.{figure}" for figure in PRICE_FIGURES)]
    fields = compared_fields()["products"]
    assert [field for field in fields if field.startswith("price_guide.")] == [f"price_guide.{name}" for name in shown]


def test_the_bulk_files_have_every_price_of_the_guide(database: Database) -> None:
    database.run(*PRICE_SQL, "views/month_rows")
    assert {name for name, *_ in database.rows("describe month_all_prices")} == {*declared("price_guide"), "day"}


def test_conditions(database: Database) -> None:
    assert sorted(CONDITION_CODES) == sorted(CONDITIONS)
    usable = "select is_usable({'price': 1.0, 'seller': 'anna', 'condition': $code})"
    found = [code for code in (*CONDITIONS, "XX") if database.connection.execute(usable, {"code": code}).fetchone()[0]]
    assert found == list(CONDITIONS)
