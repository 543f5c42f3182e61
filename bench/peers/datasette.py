"""Datasette on the same SQLite database, each shape of query canned."""

import json
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from bench.crawl import TABLES
from bench.peers import sql
from bench.peers.flask_sqlite import DIALECT, FlaskSqlite, array, database

_SETTINGS = {
    "sql_time_limit_ms": 60_000,
    "max_returned_rows": 5000,
    "num_sql_threads": 4,
    "cache_size_kb": 100_000,
    "template_debug": 0,
    "suggest_facets": 0,
}


class Datasette(FlaskSqlite):
    """Datasette."""

    name = "Datasette"
    offers = frozenset({"lists", "deep", "words", "details"})
    encodings = ("identity",)
    ready = "/-/versions.json"

    def lacks(self) -> str | None:
        return None if find_spec("datasette") else "pip install datasette"

    def prepare(self) -> None:
        super().prepare()
        queries = {name: {"sql": text} for name, text in _canned()}
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
            shown = [("_json", name) for name in ("json", *TABLES)]
            return f"/cards/detail.json?{urlencode([*wanted.items(), *shown, ('_shape', 'array')])}"
        query = sql.asked(parameters)
        wanted = urlencode(query.parameters() | {"_shape": "array", "_json": "json"})
        return f"/cards/{_name(query)}.json?{wanted}"

    def answer(self, body: bytes) -> dict | list[int]:
        rows = json.loads(body)
        if rows and "price_guide" in rows[0]:
            return rows[0]["json"] | {"history": {table: rows[0][table] for table in TABLES}}
        return [row["json"]["id_product"] for row in rows][:50]


def _name(query: sql.Asked) -> str:
    return f"{query.sort}_{len(query.words)}{'_rarity' * bool(query.rarity)}{'_kind' * bool(query.kind)}"


def _canned():
    for sort, words, rarity, kind in product(sql.SORTS, range(3), (None, "x"), (None, "x")):
        query = sql.Asked(("x",) * words, rarity, kind, sort, 0, 0)
        yield _name(query), sql.list_sql(query, DIALECT)
    yield "detail", sql.detail_sql(array, DIALECT.marker)
