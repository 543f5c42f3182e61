"""Writes the complete comparison as one JSON document, streamed. docs/diff.md describes the format.

Each item of a list is on a line of its own, so that line-based tools can read the document.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict

from generator.compare.diff import Diff

FORMAT = 1
_COUNT_VIEWS = ("item_counts", "field_counts", "price_counts", "distribution", "identifiers")
_BATCH_ROWS = 10_000
# The rows of `build/diff/json_lists.sql` that each list of the document holds.
_LISTS: dict[str, str | dict[str, str]] = {
    "objects": "json_objects order by layer_place(resource), id, key",
    "products": {
        "added": "json_products where list = 'added' order by id",
        "removed": "json_products where list = 'removed' order by id",
        "renamed": "json_renamed_products order by id",
        "moved": "json_moved_products order by id",
        "changed": "json_changes where resource = 'products' order by id",
    },
    "prices": {
        name: f"json_prices where list = '{name}' order by key desc, id" for name in ("moves", "appeared", "went")
    },
    **{
        resource: {
            "added": f"json_items where list = 'added' and resource = '{resource}' order by id, key",
            "removed": f"json_items where list = 'removed' and resource = '{resource}' order by id, key",
            "changed": f"json_changes where resource = '{resource}' order by id, key",
        }
        for resource in ("sets", "watchlist", "fingerprints")
    },
    "fingerprint_index": "json_changes where resource = 'fingerprint index' order by key",
}


def as_json(diff: Diff) -> Iterator[str]:
    """Yield the document in pieces, in a stable order."""
    diff.db.run("diff/json_lists")
    yield f'{{"format":{FORMAT},\n'
    for name, build in (("old", diff.old), ("new", diff.new)):
        described = {"id": build.id, "as_of": build.as_of.isoformat(), "freshness": build.record["freshness"]}
        yield f'"{name}":{_dump(described)},\n'
    for name, counts in (("layers", diff.layers()), ("resources", diff.resources())):
        yield f'"{name}":{_lines(map(asdict, counts))},\n'
    for view in _COUNT_VIEWS:
        yield f'"{view}":{_lines(diff.db.table(f"from {view}").to_pylist())},\n'
    yield from _members(diff, _LISTS)
    yield "}\n"


def _members(diff: Diff, members: Mapping[str, str | dict[str, str]]) -> Iterator[str]:
    for number, (name, member) in enumerate(members.items()):
        yield f'{"," if number else ""}"{name}":'
        if isinstance(member, str):
            yield from _items(diff, member)
        else:
            yield "{"
            yield from _members(diff, member)
            yield "}"
        yield "\n"


def _items(diff: Diff, rows_of_list: str) -> Iterator[str]:
    rows = diff.db.connection.sql(f"select json from {rows_of_list}")
    yield "["
    separator = "\n"
    for batch in rows.to_arrow_reader(_BATCH_ROWS):
        yield separator + ",\n".join(batch.column(0).to_pylist())
        separator = ",\n"
    yield "]"


def _lines(rows: Iterable[object]) -> str:
    return "[\n" + ",\n".join(map(_dump, rows)) + "]"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
