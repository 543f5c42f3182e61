"""Checks imported rows against the rules of their table in `build/checks/`, the same that stop a build."""

from datetime import date

import duckdb
import pyarrow as pa

from edge_auth.text import fold
from generator.database import run_file
from generator.lake.tables import OFFER_SUMMARIES, BrokenRule, broken_rules, declared_tables


def check_rows(table: str, rows: pa.Table, day: date | None = None) -> list[BrokenRule]:
    """Return the rules of a lake table that rows break. Equal rows count once, because an import stores them once.

    Args:
        rows: Columns of the table. The rules of those that are absent are left out.
        day: The partition of the rows, for a table that has days and rows of one.
    """
    with duckdb.connect() as database:
        database.execute("create schema raw")
        database.register("incoming", rows)
        columns = ", ".join(
            _expression(column.name, str(column.type), rows, day) for column in declared_tables()[table]
        )
        database.execute(f"create view raw.{table} as select distinct {columns} from incoming")
        database.create_function("fold", fold, ["VARCHAR"], "VARCHAR")
        run_file(database, "macros")
        if table in OFFER_SUMMARIES:
            run_file(database, OFFER_SUMMARIES[table])
        return [broken for broken in broken_rules(database, table) if broken.column in (*rows.schema.names, "day")]


def first_broken(table: str, rows: pa.Table, broken: BrokenRule, day: date | None = None) -> int:
    """Return the place of the first row that breaks a rule, which is no repetition."""
    first, count = 0, len(rows)
    while count > 1:
        half = rows.slice(first, count // 2)
        if any((one.column, one.rule) == (broken.column, broken.rule) for one in check_rows(table, half, day)):
            count //= 2
        else:
            first, count = first + count // 2, count - count // 2
    return first


def _expression(name: str, type_: str, rows: pa.Table, day: date | None) -> str:
    if name == "day" and day is not None:
        return f"date '{day.isoformat()}' as day"
    return f'"{name}"' if name in rows.schema.names else f'null::{type_} as "{name}"'
