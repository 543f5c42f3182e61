"""Flask and DuckDB, with one thread per query, since the server has one core."""

import threading
from pathlib import Path

import duckdb
from flask import Flask, Response, request

from bench.crawl import TABLES
from bench.peers import sql
from bench.peers.peer import Peer, wsgi

# DuckDB's optimiser defers reading the rows of a window itself. Its indexes do not serve an ORDER BY.
_DIALECT = sql.Dialect("${}", "contains(name_key, {})", nulls_last=True, deferred=False)


class FlaskDuckdb(Peer):
    """Flask with a DuckDB database."""

    name = "Flask + DuckDB"
    offers = frozenset({"lists", "deep", "words", "details"})

    def prepare(self) -> None:
        file = _database(self.data.folder)
        if not file.exists():
            _fill(self.data.folder, file)

    def command(self, port: int) -> list[str]:
        return wsgi("bench.peers.flask_duckdb", port, self.data.folder)


def create(folder: str) -> Flask:
    """Return the application."""
    app, local = Flask("flask_duckdb"), threading.local()
    database = duckdb.connect(str(_database(Path(folder))), read_only=True, config={"threads": 1})
    detail = sql.detail_sql(_array, _DIALECT.marker)

    def cursor() -> duckdb.DuckDBPyConnection:
        if not hasattr(local, "cursor"):
            local.cursor = database.cursor()
        found: duckdb.DuckDBPyConnection = local.cursor
        return found

    @app.get("/api/v1/cards")
    def cards() -> Response:
        query = sql.list_query(request.args)
        rows = cursor().execute(sql.list_sql(query, _DIALECT), query.parameters()).fetchall()
        return Response(sql.list_body([row[0] for row in rows], query), mimetype="application/json")

    @app.get("/api/v1/cards/<int:id_>")
    def card(id_: int) -> Response:
        values = {"id": id_, "since": sql.since(folder, request.args.get("days"))}
        [row] = cursor().execute(detail, values).fetchall()
        return Response(sql.detail_body(*row), mimetype="application/json")

    return app


def _database(folder: Path) -> Path:
    return folder / "cards.duckdb"


def _array(_: str, columns: tuple[str, ...]) -> str:
    fields = ", ".join(f"'{name}': {name}" for name in columns)
    return f"to_json(list({{{fields}}} order by day))::varchar"


def _fill(folder: Path, file: Path) -> None:
    part = file.with_suffix(".part")
    part.unlink(missing_ok=True)
    with duckdb.connect(str(part)) as connection:
        for table in ("cards", *TABLES):
            source = f"from read_parquet('{folder / table}.parquet') order by {'id' if table == 'cards' else 'id, day'}"
            connection.execute(f"create table {table} as {source}")
            connection.execute(f"create index {table}_id on {table} (id)")
    part.rename(file)
