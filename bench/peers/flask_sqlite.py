"""Flask and SQLite: words are found by a scan of a covering index in the sort's order, or by an FTS5 trigram index.

The queries are as experts write them. There is an index for every sort, with the columns that filters read. Only the
keys of rows are read up to the end of a window (a "deferred join"), so that skipping rows is cheap.
"""

import json
import sqlite3
import threading
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq
from flask import Flask, Response, request

from bench.crawl import SORTS, TABLES
from bench.peers.peer import Peer, wsgi
from generator.storage.stores.codec import compress
from generator.storage.text import fold, words

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


@dataclass(frozen=True)
class ListQuery:
    """A request for a list of cards."""

    words: tuple[str, ...]
    rarity: str | None
    kind: str | None
    sort: str
    limit: int
    offset: int

    def parameters(self) -> dict[str, int | str]:
        """Return the named values of its SQL. The limit is one row more, which shows whether more rows exist."""
        values: dict[str, int | str] = {"limit": self.limit + 1, "offset": self.offset}
        values |= {f"w{n}": word for n, word in enumerate(self.words)}
        return values | {name: getattr(self, name) for name in ("rarity", "kind") if getattr(self, name)}

    def shape(self) -> "ListQuery":
        """Return the query without its values, which has the same SQL."""
        return ListQuery(("x",) * len(self.words), self.rarity and "x", self.kind and "x", self.sort, 0, 0)


def list_query(parameters: dict[str, str]) -> ListQuery:
    """Return the list query for parameters of our API."""
    kind = parameters.get("kind", "all")
    return ListQuery(
        tuple(words(parameters.get("q", ""))),
        fold(parameters.get("rarity", "")) or None,
        None if kind == "all" else kind,
        parameters.get("sort", "trend"),
        int(parameters.get("limit", 50)),
        int(parameters.get("offset", 0)),
    )


def list_sql(query: ListQuery, matching: str = "") -> str:
    """Return SQL that gives the column json of a window.

    Args:
        matching: A condition that replaces the conditions of the words.
    """
    conditions = [matching] if matching else [f"instr(name_key, :w{n}) > 0" for n in range(len(query.words))]
    conditions += [f"{name} = :{name}" for name in ("rarity", "kind") if getattr(query, name)]
    where = f"where {' and '.join(conditions)}" if conditions else ""
    order = f"order by {_order(query.sort)}"
    window = f"select id from cards {where} {order} limit :limit offset :offset"
    return f"select json from cards where id in ({window}) {order}"


def _order(sort: str) -> str:
    """Return the columns of a sort's default order. SQLite does not use an index for `nulls last`."""
    key = f"{sort}_key"
    return {"name": f"{key}, id", "number": f"{key} is null, {key}, id"}.get(sort, f"{key} desc, id")


def list_body(rows: list[str], query: ListQuery) -> str:
    """Return the API's answer from the rows of a query, which may hold one row more than the limit."""
    more, shown = len(rows) > query.limit, rows[: query.limit]
    end = query.offset + len(shown)
    pagination = {
        "limit": query.limit,
        "offset": query.offset,
        "returned": len(shown),
        "has_more": more,
        "next_offset": end if more else None,
    }
    return f'{{"data":[{",".join(shown)}],"pagination":{json.dumps(pagination)}}}'


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
    for sort in SORTS:
        order = _order(sort)
        connection.execute(f"create index {sort}_all on cards ({order}, name_key, kind)")
        connection.execute(f"create index {sort}_kind on cards (kind, {order}, name_key)")
        connection.execute(f"create index {sort}_rarity on cards (rarity, kind, {order})")
    connection.execute("create virtual table names using fts5(name_key, tokenize = 'trigram', content = '')")
    connection.execute("insert into names (rowid, name_key) select id, name_key from cards")
    connection.execute("commit")
    connection.execute("analyze")
    connection.close()
    part.rename(file)


def create(folder: str, mode: str) -> Flask:
    """Return the application; `mode` is `scan` or `trigram`."""
    app, local = Flask("flask_sqlite"), threading.local()
    detail, as_of = _detail_sql(), date.fromisoformat((Path(folder) / "as_of").read_text())
    statement = cache(list_sql)

    def connection() -> sqlite3.Connection:
        if not hasattr(local, "connection"):
            local.connection = sqlite3.connect(f"file:{database(Path(folder))}?immutable=1", uri=True)
            local.connection.execute("pragma mmap_size = 17179869184")
        found: sqlite3.Connection = local.connection
        return found

    @app.get("/api/v1/cards")
    def cards() -> Response:
        query = list_query(request.args)
        values, matching = query.parameters(), ""
        if mode == "trigram" and query.words and min(map(len, query.words)) >= _TRIGRAM_LENGTH:
            quoted = (word.replace('"', '""') for word in query.words)
            values["match"], matching = " ".join(f'"{word}"' for word in quoted), _FOUND
        rows = connection().execute(statement(query.shape(), matching), values)
        return _answer(list_body([row[0] for row in rows], query))

    @app.get("/api/v1/cards/<int:id_>")
    def card(id_: int) -> Response:
        days = request.args.get("days")
        since = (as_of - timedelta(days=int(days) - 1)).isoformat() if days else "0000"
        return _answer(_detail_body(*connection().execute(detail, {"id": id_, "since": since}).fetchone()))

    return app


def _detail_sql() -> str:
    """Return SQL that gives a Card's json and its three history arrays."""
    fields = {table: ", ".join(f"'{name}', {name}" for name in columns) for table, columns in TABLES.items()}
    arrays = [
        f"(select json_group_array(json_object({fields[table]})) from "
        f"(select * from {table} where id = :id and day >= :since order by day)) as {table}"
        for table in TABLES
    ]
    return f"select json, {', '.join(arrays)} from cards where id = :id"


def _detail_body(card: str, *arrays: str | None) -> str:
    """Return the API's answer from a row of the query of `_detail_sql`."""
    history = ",".join(f'"{table}":{rows or "[]"}' for table, rows in zip(TABLES, arrays, strict=True))
    return f'{card[:-1]},"history":{{{history}}}}}'


def _answer(body: str) -> Response:
    """Return the response to the current request, compressed with the product's own codec, the quickest one."""
    data, headers = body.encode(), {}
    if "gzip" in (request.headers.get("Accept-Encoding") or ""):
        data, headers = compress(data), {"Content-Encoding": "gzip"}
    return Response(data, mimetype="application/json", headers=headers)


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
