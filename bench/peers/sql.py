"""Shared by the peers with a database: our API's parameters as SQL, and rows as the API's JSON.

The queries are as experts write them. There is an index for every sort, with the columns that filters read. Only the
keys of rows are read up to the end of a window (a "deferred join"), so that skipping rows is cheap.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from bench.crawl import SORTS, TABLES
from edge_auth.builds import sorts
from edge_auth.text import fold, words


@dataclass(frozen=True)
class Dialect:
    """The SQL dialect of a database.

    Attributes:
        marker: Format of a named parameter, with a place for its name.
        contains: The condition that column name_key contains a parameter, with a place for its marker.
        nulls_last: Whether the database supports NULLS LAST with indexes.
        deferred: Whether the keys of a window are read before its rows.
    """

    marker: str
    contains: str
    nulls_last: bool
    deferred: bool = True

    def order(self, sort: str) -> str:
        """Return the columns of a sort's default order."""
        key = f"{sort}_key"
        if self.nulls_last:
            return f"{key}{'' if sorts.SORTS[sort].ascending else ' desc'} nulls last, id"
        return {"name": f"{key}, id", "number": f"{key} is null, {key}, id"}.get(sort, f"{key} desc, id")


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


def parameters_of(target: str) -> dict[str, str]:
    """Return the parameters of a target of our API."""
    return dict(parse_qsl(urlsplit(target).query))


def list_sql(query: ListQuery, dialect: Dialect, matching: str = "") -> str:
    """Return SQL that gives the column json of a window.

    Args:
        matching: A condition that replaces the conditions of the words.
    """
    mark = dialect.marker.format
    named = [dialect.contains.format(mark(f"w{n}")) for n in range(len(query.words))]
    conditions = [matching] if matching else named
    conditions += [f"{name} = {mark(name)}" for name in ("rarity", "kind") if getattr(query, name)]
    where = f"where {' and '.join(conditions)}" if conditions else ""
    order = f"order by {dialect.order(query.sort)}"
    window = f"{where} {order} limit {mark('limit')} offset {mark('offset')}"
    if not dialect.deferred:
        return f"select json from cards {window}"
    return f"select json from cards where id in (select id from cards {window}) {order}"


def index_sql(dialect: Dialect) -> list[str]:
    """Return statements that create the indexes of each sort, with and without filters."""
    statements = []
    for sort in SORTS:
        order = dialect.order(sort)
        statements += [
            f"create index {sort}_all on cards ({order}, name_key, kind)",
            f"create index {sort}_kind on cards (kind, {order}, name_key)",
            f"create index {sort}_rarity on cards (rarity, kind, {order})",
        ]
    return statements


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


def detail_sql(array: Callable[[str, tuple[str, ...]], str], marker: str) -> str:
    """Return SQL that gives a Card's json and its three history arrays.

    Args:
        array: Returns, for a table and its columns, an expression that aggregates its rows by day as JSON.
    """
    mark = marker.format
    arrays = [
        f"(select {array(table, columns)} from (select * from {table} where id = {mark('id')} "
        f"and day >= {mark('since')} order by day) as t) as {table}"
        for table, columns in TABLES.items()
    ]
    return f"select json, {', '.join(arrays)} from cards where id = {mark('id')}"


def detail_body(card: str, *arrays: str | None) -> str:
    """Return the API's answer from a row of the query of `detail_sql`."""
    history = ",".join(f'"{table}":{rows or "[]"}' for table, rows in zip(TABLES, arrays, strict=True))
    return f'{card[:-1]},"history":{{{history}}}}}'


def since(folder: str | Path, days: str | None) -> str:
    """Return the first day of a history of so many days."""
    as_of = date.fromisoformat((Path(folder) / "as_of").read_text())
    return (as_of - timedelta(days=int(days) - 1)).isoformat() if days else "0000"
