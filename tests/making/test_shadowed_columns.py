"""No SELECT of `build/` gives an expression the name of another column of its sources and reads that name elsewhere.

DuckDB takes the column of the source then, without a word. So a view that gets a column of that name would change the
values of another view.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from generator import database
from tests.support.commands import run

Columns = dict[str, set[str]]  # by the name of a view, table or common table expression
Node = dict[str, Any]  # of DuckDB's syntax tree
COMMENT = re.compile(r"('(?:[^']|'')*')|--[^\n]*")  # not inside a text
DEFINITION = re.compile(r"\s*create\s+(or\s+replace\s+)?(view|table)\s+\S+\s+as\s+", re.IGNORECASE)
QUERY = re.compile(r"(with|select|from)\b", re.IGNORECASE)
READS = ("COLUMN_REF", "BASE_TABLE", "SUBQUERY")


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Columns:
    """The columns of all views and tables of a build."""
    folder, found = tmp_path_factory.mktemp("columns"), Columns()
    run_file = database.run_file

    def noting(connection: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyConnection:
        result = run_file(connection, name)
        for table, column in connection.execute("select table_name, column_name from duckdb_columns()").fetchall():
            found.setdefault(table, set()).add(column)
        return result

    run("demo", folder / "lake", "--products", 20, "--days", 2, "--end", "2025-11-16")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(database, "run_file", noting)
        run("build", "--lake", folder / "lake", "--store", folder / "store", "--threads", 1)
    return found


def trees(text: str) -> Iterator[Node]:
    """Yield the syntax trees of the queries of a file, also of those that define views and tables."""
    for statement in duckdb.extract_statements(text):
        query = DEFINITION.sub("", COMMENT.sub(r"\1", statement.query)).strip()
        if QUERY.match(query):
            [(tree,)] = duckdb.execute("select json_serialize_sql($1::varchar)", [query]).fetchall()
            yield from (parsed["node"] for parsed in json.loads(tree)["statements"])


def inside(value: Any) -> Iterator[Node]:
    """Yield all nodes of a tree, outer ones first."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from inside(item)


def read_by(value: Any) -> Iterator[Node]:
    """Yield the columns and tables that a part of a SELECT reads itself, and the queries inside it as one node each."""
    if isinstance(value, dict) and value.get("type") in READS:
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from read_by(item)


def outputs(node: Node, known: Columns) -> set[str]:
    """Return the columns of a query; of a union those of its first part."""
    if node["type"] != "SELECT_NODE":
        return outputs(node.get("left") or node["children"][0], known)
    known = with_expressions(node, known)
    names = {column["alias"] or column.get("column_names", [""])[-1] for column in node["select_list"]}
    stars = any(column["type"] == "STAR" for column in node["select_list"])
    return names | (sources(node, known) if stars else set())


def with_expressions(node: Node, known: Columns) -> Columns:
    """Return the known columns with those of the common table expressions of a query."""
    for entry in node["cte_map"]["map"]:
        known = known | {entry["key"]: outputs(entry["value"]["query_node"], known)}
    return known


def sources(node: Node, known: Columns) -> set[str]:
    """Return the columns of all that a SELECT reads."""
    found: set[str] = set()
    for table in read_by(node["from_table"]):
        if table["type"] == "BASE_TABLE":
            found |= known.get(table["table_name"], set())
        elif table["type"] == "SUBQUERY":
            found |= outputs(table["subquery"]["node"], known)
    return found


def shadowed(tree: Node, known: Columns) -> Iterator[str]:
    """Yield the names of such columns in a syntax tree."""
    for node in inside(tree):
        if node.get("type") == "SELECT_NODE":
            known = with_expressions(node, known)
            clauses = [node[clause] for clause in ("where_clause", "having", "qualify")]
            for column in node["select_list"]:
                others = [other for other in node["select_list"] if other is not column]
                named = names_in([others, clauses]) - names_in(column)
                if column["alias"] in named & sources(node, known):
                    yield column["alias"]


def names_in(value: Any) -> set[str]:
    """Return the columns that a part of a SELECT names without their table."""
    columns = [read["column_names"] for read in read_by(value) if read["type"] == "COLUMN_REF"]
    return {names[0] for names in columns if len(names) == 1}


GIVEN = {  # for the templates that take more than their columns
    "columns": ("name",), "numbers": ("low", "trend"), "pairs": (("low", "trend"),), "keys": ("id_product",),
    "table": "products", "key": "id_product", "texts": (("name", 500),), "summaries": "", "offers": 2000,
}  # fmt: skip


@pytest.mark.thorough
def test_files_of_build(columns: Columns) -> None:
    root = database.sql_root()
    files = sorted(path.relative_to(root).as_posix().partition(".sql")[0] for path in root.rglob("*.sql*"))
    parsed = [(name, tree) for name in files for tree in trees(database.sql_text(name, **GIVEN))]
    found = [(name, column) for name, tree in parsed for column in shadowed(tree, columns)]
    assert found == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("select fold(p.name) as name_folded, name_folded as key from p join e using (id)", ["name_folded"]),
        ("select fold(p.name) as name_folded, e.name_folded as key from p join e using (id)", []),
        ("select fold(p.name) as name_folded, name_folded as key from p", []),
        ("with e2 as (from e) select fold(name) as name_folded from e2 where name_folded > ''", ["name_folded"]),
        ("select coalesce(name, '') as name, length(name) as size from p", []),  # plain to see
    ],
)
def test_what_is_found(query: str, found: list[str]) -> None:
    [tree] = trees(query)
    assert list(shadowed(tree, {"p": {"id", "name"}, "e": {"id", "name_folded"}})) == found
