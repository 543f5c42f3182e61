"""Writes the complete comparison as one JSON document, streamed. docs/diff.md describes the format.

Each item of a list is on a line of its own, so that line-based tools can read the document.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

from edge_auth.builds.builds import Build
from generator.compare.diff import Diff

FORMAT = 1
_COUNT_VIEWS = ("item_counts", "field_counts", "price_counts", "distribution", "identifiers")
_BATCH_ROWS = 10_000


@dataclass(frozen=True)
class _List:
    """A list of the document: the rows of `build/diff/json_lists.sql` that it holds, and their order."""

    rows: str
    order: str


def _item_lists(resource: str) -> dict[str, _List]:
    changes = (f"json_items where list = '{change}' and resource = '{resource}'" for change in ("added", "removed"))
    added, removed = (_List(rows, "id, key") for rows in changes)
    changed = _List(f"json_changes where resource = '{resource}'", "id, key")
    return {"added": added, "removed": removed, "changed": changed}


_LISTS: dict[str, _List | dict[str, _List]] = {
    "objects": _List("json_objects", "layer_place(resource), id, key"),
    "products": {
        "added": _List("json_products where list = 'added'", "id"),
        "removed": _List("json_products where list = 'removed'", "id"),
        "renamed": _List("json_renamed_products", "id"),
        "moved": _List("json_moved_products", "id"),
        "changed": _List("json_changes where resource = 'products'", "id"),
    },
    "prices": {
        name: _List(f"json_prices where list = '{name}'", "key desc, id") for name in ("moves", "appeared", "went")
    },
    **{resource: _item_lists(resource) for resource in ("sets", "watchlist", "fingerprints")},
    "fingerprint_index": _List("json_changes where resource = 'fingerprint index'", "key"),
}


def as_json(diff: Diff) -> Iterator[str]:
    """Yield the document in pieces, in a stable order."""
    diff.db.run("diff/json_lists")
    yield f'{{"format":{FORMAT},\n'
    for name, build in (("old", diff.old), ("new", diff.new)):
        yield f'"{name}":{_dump(_build(build))},\n'
    yield f'"layers":{_lines(asdict(counts) for counts in diff.layers())},\n'
    yield f'"resources":{_lines(asdict(counts) for counts in diff.resources())},\n'
    for view in _COUNT_VIEWS:
        yield f'"{view}":{_lines(diff.db.table(f"from {view}").to_pylist())},\n'
    yield from _members(diff, _LISTS)
    yield "}\n"


def _members(diff: Diff, members: Mapping[str, _List | dict[str, _List]]) -> Iterator[str]:
    for number, (name, member) in enumerate(members.items()):
        yield f'{"," if number else ""}"{name}":'
        if isinstance(member, _List):
            yield from _items(diff, member)
        else:
            yield "{"
            yield from _members(diff, member)
            yield "}"
        yield "\n"


def _items(diff: Diff, list_: _List) -> Iterator[str]:
    rows = diff.db.connection.sql(f"select json from {list_.rows} order by {list_.order}")
    yield "["
    separator = "\n"
    for batch in rows.to_arrow_reader(_BATCH_ROWS):
        yield separator + ",\n".join(batch.column(0).to_pylist())
        separator = ",\n"
    yield "]"


def _lines(rows: Iterable[object]) -> str:
    return "[\n" + ",\n".join(map(_dump, rows)) + "]"


def _build(build: Build) -> dict[str, object]:
    return {"id": build.id, "as_of": build.as_of.isoformat(), "freshness": build.record["freshness"]}


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
