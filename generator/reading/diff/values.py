"""Reads the objects that hold values, out of the layers that differ, into the text tables of the comparison."""

from collections.abc import Iterator

import pyarrow as pa

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from edge_auth.builds.layers import Layer
from generator.database import Database
from generator.reading.diff.object_reader import index_table, read_lines, read_objects
from generator.releases.card_reader import read_cards

_IS_WATCHLIST_ITEM = r"regexp_matches(key, '^watchlist/[^/]+\.json$')"
_IS_DOUBTFUL = "id in (select id from touched_details where doubtful)"
# A page of a list, and the fingerprint index, hold one item per line.
_ITEMS_QUERY = "select $1, rtrim(line, e',\n') from batch where line like '{%}\n' or line like '{%},\n'"
# The first line of the fingerprint index holds the index's own fields.
_INDEX_FIELDS_QUERY = """
select 'fingerprint index', left(line, len(line) - len(',"entries":[\n')) || '}' from batch
where line like '%,"entries":[\n'
"""


def read_values(db: Database, old: Build, new: Build, differing: list[str]) -> None:
    """Fill old_texts and new_texts from the layers named in `differing`.

    Raises:
        StoreError: A build cannot be read.
    """
    for side, build in (("old", old), ("new", new)):
        if layer_names.CATALOGUE in differing:
            _insert_cards(db, build, side)
        if layer_names.WATCHLIST in differing:
            _insert_watchlist_items(db, build, side)
        for layer in (layer_names.SETS, layer_names.FINGERPRINTS):
            if layer in differing:
                _insert_lines(db, build.layers[layer], side)


def read_histories(db: Database, old: Build, new: Build) -> None:
    """Fill history_texts with the history arrays of the doubtful card details.

    Raises:
        StoreError: A build cannot be read.
    """
    layers = db.rows(f"select distinct layer from object_changes where {_IS_DOUBTFUL} order by layer")
    for side, build in (("old", old), ("new", new)):
        for (name,) in layers:
            for batch in _changed_objects(db, build, side, name, _IS_DOUBTFUL):
                db.insert("history_texts", "select $1, $2, key, json from batch", batch, side, name)


def _insert_cards(db: Database, build: Build, side: str) -> None:
    ids = db.table(
        f"select id from object_changes where layer = '{layer_names.CATALOGUE}' and change <> '{_absent_in(side)}' "
        "order by id"
    )
    for batch in read_cards(build.catalogue, ids["id"].to_numpy()):
        db.insert(f"{side}_texts", "select $1, json from batch", batch, "products")


def _insert_watchlist_items(db: Database, build: Build, side: str) -> None:
    for batch in _changed_objects(db, build, side, layer_names.WATCHLIST, _IS_WATCHLIST_ITEM):
        db.insert(f"{side}_texts", "select $1, json from batch", batch, "watchlist")


def _changed_objects(db: Database, build: Build, side: str, name: str, condition: str) -> Iterator[pa.Table]:
    """Yield the objects (key, json) of a layer of this build that meet a condition and differ from the other build."""
    if name not in build.layers:
        return iter(())
    pattern, index = index_table(build.layers[name])
    db.connection.register("side_index", index)
    db.set(pattern=pattern)
    db.connection.execute(
        "create or replace table wanted as "
        f"select key from object_changes where layer = '{name}' and change <> '{_absent_in(side)}' and {condition}"
    )
    db.run("diff/members")
    return read_objects(build.layers[name], db.table("from members"))


def _absent_in(side: str) -> str:
    """Return the kind of change whose objects are missing on a side."""
    return "added" if side == "old" else "removed"


def _insert_lines(db: Database, layer: Layer, side: str) -> None:
    for position in range(len(layer.index)):
        for batch in read_lines(layer, layer.index.entry(position)):
            db.insert(f"{side}_texts", _ITEMS_QUERY, batch, layer.name)
            if layer.name == layer_names.FINGERPRINTS:
                db.insert(f"{side}_texts", _INDEX_FIELDS_QUERY, batch)
