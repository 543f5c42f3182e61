"""Flask and SQLite: words are found by a scan of a covering index in the sort's order, or by an FTS5 trigram index."""

import sqlite3
import threading
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq
from flask import Flask, Response, request

from bench.crawl import TABLES
from bench.peers import sql
from bench.peers.encoding import encoded
from bench.peers.peer import Peer, wsgi

DIALECT = sql.Dialect(":{}", "instr(name_key, {}) > 0", nulls_last=False)
_PLAIN = sql.Dialect(":{}", "name_key like '%' || {} || '%'", nulls_last=False, deferred=False)
_TRIGRAM_LENGTH = 3
_FOUND = "id in (select rowid from names where names match :match)"


class FlaskSqlite(Peer):
    """Flask with a SQLite database and covering indexes."""

    name = "Flask + SQLite"
    offers = frozenset({"lists", "deep", "words", "details"})
    encodings: tuple[str, ...] = ("identity", "gzip")
    mode = "scan"

    def prepare(self) -> None:
        file = database(self.data.folder)
        if not file.exists():
            fill(self.data.folder, file)

    def command(self, port: int) -> list[str]:
        return wsgi("bench.peers.flask_sqlite", port, self.data.folder, self.mode)


class FlaskSqliteTrigram(FlaskSqlite):
    """The same, with a full text index of three-letter pieces."""

    name = "Flask + SQLite FTS5 trigram"
    offers = frozenset({"words"})
    mode = "trigram"


class FlaskSqlitePlain(FlaskSqlite):
    """SQLite as it is usually written: LIKE, and LIMIT with OFFSET over whole rows."""

    name = "Flask + SQLite, plain LIMIT OFFSET"
    offers = frozenset({"deep"})
    encodings = ("identity",)
    mode = "plain"


def database(folder: Path) -> Path:
    """Return the path of the database of a folder of Parquet files."""
    return folder / "cards.sqlite"


def fill(folder: Path, file: Path) -> None:
    """Write the database with its indexes."""
    part = file.with_suffix(".part")
    part.unlink(missing_ok=True)
    connection = sqlite3.connect(part, isolation_level=None)
    connection.execute("pragma journal_mode = off")
    connection.execute("begin")
    for table in ("cards", *TABLES):
        _copy(connection, table, folder / f"{table}.parquet")
    for statement in sql.index_sql(DIALECT):
        connection.execute(statement)
    connection.execute("create virtual table names using fts5(name_key, tokenize = 'trigram', content = '')")
    connection.execute("insert into names (rowid, name_key) select id, name_key from cards")
    connection.execute("commit")
    connection.execute("analyze")
    connection.close()
    part.rename(file)


def array(_: str, columns: tuple[str, ...]) -> str:
    """Return SQL that aggregates rows of a table as JSON."""
    fields = ", ".join(f"'{name}', {name}" for name in columns)
    return f"json_group_array(json_object({fields}))"


def create(folder: str, mode: str) -> Flask:
    """Return the application; `mode` is `scan`, `trigram` or `plain`."""
    app, local = Flask("flask_sqlite"), threading.local()
    dialect = _PLAIN if mode == "plain" else DIALECT
    detail = sql.detail_sql(array, DIALECT.marker)

    @cache
    def statement(shape: sql.ListQuery, matching: str) -> str:
        return sql.list_sql(shape, dialect, matching)

    def connection() -> sqlite3.Connection:
        if not hasattr(local, "connection"):
            local.connection = sqlite3.connect(f"file:{database(Path(folder))}?immutable=1", uri=True)
            local.connection.execute("pragma mmap_size = 17179869184")
        found: sqlite3.Connection = local.connection
        return found

    @app.get("/api/v1/cards")
    def cards() -> Response:
        query = sql.list_query(request.args)
        values, matching = query.parameters(), ""
        if mode == "trigram" and query.words and min(map(len, query.words)) >= _TRIGRAM_LENGTH:
            quoted = (word.replace('"', '""') for word in query.words)
            values["match"], matching = " ".join(f'"{word}"' for word in quoted), _FOUND
        rows = connection().execute(statement(shape(query), matching), values)
        return answer(sql.list_body([row[0] for row in rows], query))

    @app.get("/api/v1/cards/<int:id_>")
    def card(id_: int) -> Response:
        values = {"id": id_, "since": sql.since(folder, request.args.get("days"))}
        return answer(sql.detail_body(*connection().execute(detail, values).fetchone()))

    return app


def answer(body: str | bytes) -> Response:
    """Return the response to the current request."""
    data, headers = encoded(body, request.headers.get("Accept-Encoding"))
    return Response(data, mimetype="application/json", headers=headers)


def shape(query: sql.ListQuery) -> sql.ListQuery:
    """Return a query without its values, which has the same SQL."""
    rarity, kind = query.rarity and "x", query.kind and "x"
    return sql.ListQuery(("x",) * len(query.words), rarity, kind, query.sort, 0, 0)


def _copy(connection: sqlite3.Connection, table: str, file: Path) -> None:
    rows = pq.read_table(file)
    key = "id integer primary key" if table == "cards" else "id integer"
    rest = ", ".join(rows.column_names[1:])
    last = "" if table == "cards" else ", primary key (id, day)"
    connection.execute(f"create table {table} ({key}, {rest}{last}){'' if table == 'cards' else ' without rowid'}")
    marks = ", ".join("?" * len(rows.column_names))
    for batch in rows.to_batches(50_000):
        columns = (column.to_pylist() for column in batch.columns)
        connection.executemany(f"insert into {table} values ({marks})", zip(*columns, strict=True))
