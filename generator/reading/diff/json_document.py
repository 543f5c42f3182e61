"""The whole of a comparison as one JSON document, streamed: docs/diff.md describes it.

An item of a list stands on a line of its own, so that line tools can read the document too.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict

from edge_auth.contract.builds import Build
from generator.reading.diff.compare import Comparison

FORMAT = 1
_COUNTS = ("item_counts", "field_counts", "price_counts", "distribution")
_BY_RESOURCE = "list_position(['cards', 'lists', 'sets', 'watchlist', 'fingerprints', 'status', 'site'], what), id, key"
_LISTS = (
    {
        "objects": ("told_objects", _BY_RESOURCE),
        "products": {
            "added": ("told_products where what = 'added'", "id"),
            "removed": ("told_products where what = 'removed'", "id"),
            "renamed": ("told_renamed", "id"),
            "moved": ("told_moved", "id"),
            "changed": ("told_changes where resource = 'products'", "id"),
        },
        "prices": {
            "moves": ("told_prices where what = 'moves'", "key desc, id"),
            "appeared": ("told_prices where what = 'appeared'", "key desc, id"),
            "went": ("told_prices where what = 'went'", "key desc, id"),
        },
    }
    | {
        resource: {
            "added": (f"told_items where what = 'added' and resource = '{resource}'", "id, key"),
            "removed": (f"told_items where what = 'removed' and resource = '{resource}'", "id, key"),
            "changed": (f"told_changes where resource = '{resource}'", "id, key"),
        }
        for resource in ("sets", "watchlist", "fingerprints")
    }
    | {"fingerprint_index": ("told_changes where resource = 'fingerprint index'", "key")}
)


def as_json(comparison: Comparison) -> Iterator[str]:
    """The document in pieces, in a stable order."""
    comparison.db.run("diff/document")
    yield f'{{"format":{FORMAT},\n'
    for name, build in (("old", comparison.old), ("new", comparison.new)):
        yield f'"{name}":{_dump(_build(build))},\n'
    yield f'"layers":{_lines(asdict(count) for count in comparison.layers())},\n'
    yield f'"resources":{_lines(asdict(count) for count in comparison.resources())},\n'
    for view in _COUNTS:
        yield f'"{view}":{_lines(comparison.db.table(f"from {view}").to_pylist())},\n'
    yield from _tree(comparison, _LISTS)
    yield "}\n"


def _tree(comparison: Comparison, lists: dict) -> Iterator[str]:
    for number, (name, inside) in enumerate(lists.items()):
        yield f'{"," if number else ""}"{name}":'
        if isinstance(inside, dict):
            yield "{"
            yield from _tree(comparison, inside)
            yield "}"
        else:
            yield from _list(comparison, *inside)
        yield "\n"


def _list(comparison: Comparison, query: str, order: str) -> Iterator[str]:
    rows = comparison.db.connection.sql(f"select json from {query} order by {order}")
    yield "["
    between = "\n"
    for batch in rows.to_arrow_reader(10_000):
        yield between + ",\n".join(batch.column(0).to_pylist())
        between = ",\n"
    yield "]"


def _lines(rows) -> str:
    return "[\n" + ",\n".join(map(_dump, rows)) + "]"


def _build(build: Build) -> dict:
    return {"id": build.id, "as_of": build.as_of.isoformat(), "freshness": build.record["freshness"]}


def _dump(value) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
