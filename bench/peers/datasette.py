"""Datasette on the same SQLite database, with a stored ("canned") query for each shape of request."""

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from bench.crawl import SORTS, TABLES
from bench.peers import sql
from bench.peers.flask_sqlite import DIALECT, FlaskSqlite, array, database
from bench.peers.peer import Answer

_SETTINGS = {
    "sql_time_limit_ms": 60_000,
    "max_returned_rows": 5000,
    "num_sql_threads": 4,
    "cache_size_kb": 100_000,
    "template_debug": 0,
    "suggest_facets": 0,
}


class Datasette(FlaskSqlite):
    """Datasette with stored queries."""

    name = "Datasette"
    offers = frozenset({"lists", "deep", "words", "details"})
    encodings = ("identity",)
    ready = "/-/versions.json"

    def lacks(self) -> str | None:
        return None if find_spec("datasette") else "pip install datasette"

    def prepare(self) -> None:
        super().prepare()
        queries = {name: {"sql": text} for name, text in _canned_queries()}
        (self.data.folder / "datasette.json").write_text(json.dumps({"databases": {"cards": {"queries": queries}}}))

    def command(self, port: int) -> list[str]:
        options = [part for name, value in _SETTINGS.items() for part in ("--setting", name, str(value))]
        metadata = str(self.data.folder / "datasette.json")
        served = ["-i", str(database(Path(self.data.folder))), "-p", str(port), "--metadata", metadata]
        return [sys.executable, "-m", "datasette", "serve", *served, *options]

    def target(self, target: str) -> str:
        path, parameters = urlsplit(target).path, sql.parameters_of(target)
        if path != "/api/v1/cards":
            wanted = {"id": path.rpartition("/")[2], "since": sql.since(self.data.folder, parameters.get("days"))}
            json_columns = [("_json", name) for name in ("json", *TABLES)]
            return f"/cards/detail.json?{urlencode([*wanted.items(), *json_columns, ('_shape', 'array')])}"
        query = sql.list_query(parameters)
        values = urlencode(query.parameters() | {"_shape": "array", "_json": "json"})
        return f"/cards/{_name(query)}.json?{values}"

    def answer(self, body: bytes) -> Answer:
        rows = json.loads(body)
        if rows and "price_guide" in rows[0]:
            detail: dict[str, Any] = rows[0]["json"] | {"history": {table: rows[0][table] for table in TABLES}}
            return detail
        return [row["json"]["id_product"] for row in rows][:50]


def _name(query: sql.ListQuery) -> str:
    return f"{query.sort}_{len(query.words)}{'_rarity' * bool(query.rarity)}{'_kind' * bool(query.kind)}"


def _canned_queries() -> Iterator[tuple[str, str]]:
    for sort, words, rarity, kind in product(SORTS, range(3), (None, "x"), (None, "x")):
        query = sql.ListQuery(("x",) * words, rarity, kind, sort, 0, 0)
        yield _name(query), sql.list_sql(query, DIALECT)
    yield "detail", sql.detail_sql(array, DIALECT.marker)
