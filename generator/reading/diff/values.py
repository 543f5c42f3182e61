"""Reads, out of the layers that differ, the objects that hold values of their own, into tables of text."""

from collections.abc import Iterator

import pyarrow as pa

from edge_auth.contract import names
from edge_auth.contract.builds import Build, Layer
from generator.database import Database
from generator.reading.diff.object_reader import cards, index_table, lines, objects

_WATCHED_ITEM = r"regexp_matches(key, '^watchlist/[^/]+\.json$')"
_DOUBTFUL = "id in (select id from touched_details where doubtful)"
# A page or the index holds an item per line; the fingerprint index's own fields stand on its first.
_ITEMS = "select $1, rtrim(line, e',\n') from batch where line like '{%}\n' or line like '{%},\n'"
_HEAD = """
select 'fingerprint index', left(line, len(line) - len(',"entries":[\n')) || '}' from batch
where line like '%,"entries":[\n'
"""


def read_values(db: Database, old: Build, new: Build, differing: list[str]) -> None:
    """Fill old_texts and new_texts from the layers named in `differing`.

    Raises:
        StoreError: a build cannot be read.
    """
    for side, build in (("old", old), ("new", new)):
        if names.CATALOGUE in differing:
            _insert_cards(db, build, side)
        if names.WATCHLIST in differing:
            _insert_objects(db, build, side, names.WATCHLIST, "watchlist", _WATCHED_ITEM)
        for layer in (names.SETS, names.FINGERPRINTS):
            if layer in differing:
                _insert_lines(db, build.layers[layer], side)


def read_histories(db: Database, old: Build, new: Build) -> None:
    """Fill history_texts with what decides on the doubtful card details.

    Raises:
        StoreError: a build cannot be read.
    """
    layers = db.rows(f"select distinct layer from object_changes where {_DOUBTFUL} order by layer")
    for side, build in (("old", old), ("new", new)):
        for (name,) in layers:
            for batch in _changed_objects(db, build, side, name, _DOUBTFUL):
                db.insert("history_texts", "select $1, $2, key, json from batch", batch, side, name)


def _insert_cards(db: Database, build: Build, side: str) -> None:
    elsewhere = "added" if side == "old" else "removed"
    ids = db.table(
        f"select id from object_changes where layer = '{names.CATALOGUE}' and change <> '{elsewhere}' order by id"
    )
    for batch in cards(build.layers[names.CATALOGUE], ids["id"].to_numpy()):
        db.insert(f"{side}_texts", "select $1, json from batch", batch, "products")


def _insert_objects(db: Database, build: Build, side: str, layer: str, resource: str, which: str) -> None:
    for batch in _changed_objects(db, build, side, layer, which):
        db.insert(f"{side}_texts", "select $1, json from batch", batch, resource)


def _changed_objects(db: Database, build: Build, side: str, name: str, which: str) -> Iterator[pa.Table]:
    """Objects (key, json) of a layer that differ between the builds and are in this one."""
    if name not in build.layers:
        return iter(())
    elsewhere = "added" if side == "old" else "removed"
    pattern, index = index_table(build.layers[name])
    db.connection.register("side_index", index)
    db.set(pattern=pattern)
    db.connection.execute(
        "create or replace table wanted as "
        f"select key from object_changes where layer = '{name}' and change <> '{elsewhere}' and {which}"
    )
    db.run("diff/members")
    return objects(build.layers[name], db.table("from members"))


def _insert_lines(db: Database, layer: Layer, side: str) -> None:
    for position in range(len(layer.index)):
        for batch in lines(layer, layer.index.entry(position)):
            db.insert(f"{side}_texts", _ITEMS, batch, layer.name)
            if layer.name == names.FINGERPRINTS:
                db.insert(f"{side}_texts", _HEAD, batch)
