"""What the peers with a database share: our API's parameters as SQL, and rows as the API's JSON.

Queries are as their experts write them: an index for every sort, with the columns that filters read, and only the keys
of the window's rows are read before its end is reached (a "deferred join"), so that skipping is cheap.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from bench.crawl import TABLES
from edge_auth.contract.text import fold, words

SORTS = ("trend", "low", "avg", "filtered", "name", "number", "newest")
_ASCENDING = ("name", "number")


@dataclass(frozen=True)
class Dialect:
    """How a database writes things.

    Attributes:
        marker: of a named parameter, to be formatted with its name.
        contains: a condition: column name_key contains a parameter; to be formatted with its marker.
        nulls_last: whether NULLS LAST is written, and indexes serve it.
        deferred: whether the keys of a window are read before its rows.
    """

    marker: str
    contains: str
    nulls_last: bool
    deferred: bool = True

    def order(self, sort: str) -> str:
        """The columns of a sort's default order."""
        key = f"{sort}_key"
        if self.nulls_last:
            return f"{key}{'' if sort in _ASCENDING else ' desc'} nulls last, id"
        return {"name": f"{key}, id", "number": f"{key} is null, {key}, id"}.get(sort, f"{key} desc, id")


@dataclass(frozen=True)
class Asked:
    """A list query."""

    words: tuple[str, ...]
    rarity: str | None
    kind: str | None
    sort: str
    limit: int
    offset: int

    def parameters(self) -> dict:
        """Named values of its SQL; one row more than asked for tells whether there are more."""
        found = {"limit": self.limit + 1, "offset": self.offset}
        found |= {f"w{n}": word for n, word in enumerate(self.words)}
        return found | {name: getattr(self, name) for name in ("rarity", "kind") if getattr(self, name)}


def asked(parameters: dict[str, str]) -> Asked:
    """The list query that parameters of our API mean."""
    kind = parameters.get("kind", "all")
    return Asked(
        tuple(words(parameters.get("q", ""))),
        fold(parameters.get("rarity", "")) or None,
        None if kind == "all" else kind,
        parameters.get("sort", "trend"),
        int(parameters.get("limit", 50)),
        int(parameters.get("offset", 0)),
    )


def parameters_of(target: str) -> dict[str, str]:
    """The parameters of a target of our API."""
    return dict(parse_qsl(urlsplit(target).query))


def list_sql(query: Asked, dialect: Dialect, matching: str = "") -> str:
    """SQL that gives the column json of a window.

    Args:
        matching: a condition to put in the place of the words'.
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
    """An index for each sort, with or without the filters that go with it."""
    statements = []
    for sort in SORTS:
        order = dialect.order(sort)
        statements += [
            f"create index {sort}_all on cards ({order}, name_key, kind)",
            f"create index {sort}_kind on cards (kind, {order}, name_key)",
            f"create index {sort}_rarity on cards (rarity, kind, {order})",
        ]
    return statements


def list_body(rows: list[str], query: Asked) -> str:
    """The API's answer from one row more than was asked for."""
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
    """SQL that gives a Card's json and its three history arrays.

    Args:
        array: from a table with its columns to an expression that aggregates its rows, by day, as JSON.
    """
    mark = marker.format
    arrays = [
        f"(select {array(table, columns)} from (select * from {table} where id = {mark('id')} "
        f"and day >= {mark('since')} order by day) as t) as {table}"
        for table, columns in TABLES.items()
    ]
    return f"select json, {', '.join(arrays)} from cards where id = {mark('id')}"


def detail_body(card: str, *arrays: str | None) -> str:
    """The API's answer from what detail_sql gives."""
    history = ",".join(f'"{table}":{rows or "[]"}' for table, rows in zip(TABLES, arrays, strict=True))
    return f'{card[:-1]},"history":{{{history}}}}}'


def since(folder: str | Path, days: str | None) -> str:
    """The first day of a history of so many days."""
    as_of = date.fromisoformat((Path(folder) / "as_of").read_text())
    return (as_of - timedelta(days=int(days) - 1)).isoformat() if days else "0000"
