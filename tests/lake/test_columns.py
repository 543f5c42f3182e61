"""One place for each fact: every copy of a lake's columns, price figures or conditions agrees with its source."""

import re
from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa
import pytest
from duckdb.sqltypes import DuckDBPyType

from generator.database import Database
from generator.demo.name_parts import CONDITION_CODES
from generator.ingest.formats import ATTRIBUTES, EXPANSIONS, SCRAPED_FORMATS, WATCHLIST, LineFormat
from generator.ingest.values import InvalidValue
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
from tests.support.service import ROOT

TABLES = (*FLAT_TABLES, *DAILY_TABLES)


def text_columns(table: str) -> Iterator[str]:
    """The text columns of a table, and those of its offers, such as `offer_list.seller`."""
    for field in arrow_schema(table):
        if field.type == pa.string():
            yield field.name
        elif pa.types.is_list(field.type) and pa.types.is_struct(field.type.value_type):
            yield from (f"{field.name}.{member.name}" for member in field.type.value_type if member.type == pa.string())


@pytest.mark.parametrize("line_format", [*SCRAPED_FORMATS, EXPANSIONS, ATTRIBUTES, WATCHLIST], ids=lambda one: one.name)
def test_each_text_of_a_line_has_a_bound(line_format: LineFormat) -> None:
    """That of its column in the lake: a longer one is a bad line."""
    long = f"https://{'x' * 2000}"
    for name, column in line_format.columns.items():
        if not column.keys:  # a column that the lines lack
            continue
        if column.type == pa.string():
            with pytest.raises(InvalidValue, match=r"column \w+ has more than"):
                column.read({column.keys[0]: long})
        elif pa.types.is_list(column.type):
            for member in (field.name for field in column.type.value_type if field.type == pa.string()):
                with pytest.raises(InvalidValue, match=f"column {name} holds a text of more than"):
                    column.read({column.keys[0]: [{member: long}]})


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
    page = (ROOT / "docs" / "lake.md").read_text("utf-8").splitlines()
    documented = {cells[1].strip(): cells[3] for line in page if len(cells := line.split("|")) > 3}
    for table in TABLES:
        absent = [name for name in arrow_schema(table).names if not re.search(rf"\b{name}\b", documented[table])]
        assert absent == [], table


def test_the_imports_document_every_key() -> None:
    """Every key of a scraped line that a parser reads is in the tables of docs/ingest.md."""
    formats = (*SCRAPED_FORMATS, EXPANSIONS, ATTRIBUTES, WATCHLIST)
    keys = {key for line_format in formats for column in line_format.columns.values() for key in column.keys}
    documented = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "ingest.md").read_text("utf-8")))
    assert keys - documented == set()


def test_the_bulk_files_have_every_price_of_the_guide(database: Database) -> None:
    database.run(*PRICE_SQL, "views/month_rows")
    columns = {name for name, *_ in database.rows("describe month_all_prices")}
    assert columns == {*arrow_schema("price_guide").names, "day"}


def test_conditions(database: Database) -> None:
    assert sorted(CONDITION_CODES) == sorted(CONDITIONS)
    usable = "select is_usable({'price': 1.0, 'seller': 'anna', 'condition': $code})"
    found = [code for code in (*CONDITIONS, "XX") if database.connection.execute(usable, {"code": code}).fetchone()[0]]
    assert found == list(CONDITIONS)
