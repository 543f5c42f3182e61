"""Compares the Cards of two builds, by columns: which products came, went, or differ in which members."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from edge_auth.builds.catalogue import Catalogue
from edge_auth.builds.layers import Layer
from generator.compare.comparison import Comparison, named_faults
from generator.compare.rows import IdArray, read_cards
from generator.database import Database, run_file
from generator.errors import BuildError

# Members of a Card that change for nearly every product every night, and the key.
NOT_COMPARED = {"id_product", "price_guide", "filtered_price", "listing"}
_EMPTY_LISTS = '"added":[],"removed":[\n\n],"changed":[\n\n]}\n'


@dataclass(frozen=True)
class ChangesDocument:
    """What differs between two builds: the counts of products, and the body of the API's answer."""

    from_: str
    to: str
    added: int
    removed: int
    changed: int
    json: bytes


def compare_cards(comparison: Comparison) -> list[ChangesDocument]:
    """Return the documents of both directions, from the old build to the new one and back.

    Raises:
        BuildError: DuckDB failed.
        StoreError: A build cannot be read.
    """
    old, new = comparison.old, comparison.new
    assert old is not None, "a step has two builds"
    if _catalogue(old).folder == _catalogue(new).folder:  # as after a new watch check
        return [_nothing_changed(old, new), _nothing_changed(new, old)]
    with named_faults(comparison):
        db = comparison.db
        comparison.cards  # noqa: B018  (registers the tables)
        db.run("changes/products")
        _read_names(db, old.catalogue, "removed")
        _read_names(db, new.catalogue, "added")
        _compare_members(db, old.catalogue, new.catalogue)
        db.set(old_build=old.id, new_build=new.id, old_day=str(old.as_of), new_day=str(new.as_of))
        return [
            ChangesDocument(from_, to, added, removed, changed, text.encode())
            for from_, to, added, removed, changed, text in run_file(db.connection, "changes/documents").fetchall()
        ]


def _nothing_changed(old: Build, new: Build) -> ChangesDocument:
    """Return the document of two builds with the same Cards, as `build/changes/documents.sql` writes it."""
    head = json.dumps({"from": old.id, "to": new.id, "as_of": str(new.as_of)}, separators=(",", ":"))
    return ChangesDocument(old.id, new.id, 0, 0, 0, f"{head[:-1]},{_EMPTY_LISTS}".encode())


def _read_names(db: Database, catalogue: Catalogue, change: str) -> None:
    """Add the names of the products that are only in this build."""
    ids, start = _ids(db, change), 0
    for cards in read_cards(catalogue, ids):
        batch = cards.append_column("id", pa.array(ids[start : start + len(cards)]))
        db.insert("product_names", "select id, json ->> '$.name' from batch", batch)
        start += len(cards)


def _compare_members(db: Database, old: Catalogue, new: Catalogue) -> None:
    ids, start = _ids(db, "changed"), 0
    for before, after in zip(read_cards(old, ids), read_cards(new, ids), strict=True):
        if start == 0:
            _set_fields(db, [before["json"][0].as_py(), after["json"][0].as_py()])
        id_ = pa.array(ids[start : start + len(before)])
        db.connection.register("batch", pa.table({"id": id_, "old": before["json"], "new": after["json"]}))
        db.run("changes/fields")
        start += len(before)


def _set_fields(db: Database, cards: Sequence[str]) -> None:
    """Set the members to compare. All Cards of a build have the same members; builds of other versions may differ."""
    members = [list(json.loads(card)) for card in cards]
    fields = sorted(set().union(*members) - NOT_COMPARED)
    marks = {_mark(of_card, fields) for of_card in members}
    mark = marks.pop() if len(marks) == 1 else None
    for variable, value in (("fields", fields), ("paths", [f"$.{field}" for field in fields]), ("mark", mark)):
        db.connection.execute(f"set variable {variable} = $1", [value])


def _mark(members: list[str], fields: list[str]) -> str | None:
    """Return the text before the last members of a Card, which are not compared. None if there are no such members."""
    after = 1 + max((members.index(field) for field in fields if field in members), default=-1)
    return f',"{members[after]}":' if after < len(members) else None


def _ids(db: Database, change: str) -> IdArray:
    ids: IdArray = db.table(f"select id from changed_cards where change = '{change}' order by id")["id"].to_numpy()
    return ids


def _catalogue(build: Build) -> Layer:
    if layer_names.CATALOGUE not in build.layers:
        raise BuildError(f"{build.id} has no layer {layer_names.CATALOGUE}")
    return build.layers[layer_names.CATALOGUE]
