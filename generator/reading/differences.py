"""What a build changes, as counts: the figures of a night, for its report and for the first sentence of a diff."""

import json

import numpy as np

from edge_auth.builds import layer_names
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import FILES
from edge_auth.builds.index import map_table
from edge_auth.builds.movers import LINES, LISTS
from generator.database import Database
from generator.lake.quarantine import files_read, unread_files
from generator.pack.verify import checked_file
from generator.releases.run_reports import Figures

_Lists = dict[tuple[bool, str], bytes]


def count_differences(db: Database, old: Build | None, new: Build) -> Figures:
    """Return the counts of what a build adds, lacks and changes, compared with an older one.

    Args:
        db: It has the tables of `register_products` for the sides `old` and `new`.
        old: None counts only the products and sets.

    Raises:
        DamageError: A file differs from its hash.
        StoreError: A build cannot be read.
    """
    counts: Figures = db.answer("checks/differences").to_pylist()[0]
    if old is None:
        return counts
    before, after = _movers(old), _movers(new)
    days = _other_days(old, new)
    added = sum(day > old.as_of.isoformat() for day in days)
    return counts | {
        "days_added": added,
        "past_days_changed": len(days) - added,
        "movers_lists_changed": sum(before.get(key) != after.get(key) for key in before | after),
        "bulk_files_added": len(_bulk_files(new) - _bulk_files(old)),
    }


def _other_days(old: Build, new: Build) -> set[str]:
    """Return the days of which the lake of one build had a file that the lake of the other one did not have."""
    gone = files_read(old.record) - files_read(new.record)
    return {file.day for file in gone | unread_files(new.record, old.record)}


def _movers(build: Build) -> _Lists:
    """Return a value for each list of movers that is the same for equal lists."""
    layer = build.layers.get(layer_names.MOVERS)
    if layer is None:  # a build of an older version
        return {}
    lines, lists = (map_table(checked_file(layer, stem)) for stem in (LINES, LISTS))
    hashes = np.array([hash(line) for line in lines["line"].to_pylist()], np.int64)
    confirmed = lists["confirmed"].to_pylist() if "confirmed" in lists.column_names else [False] * len(lists)
    rows = zip(confirmed, lists["key"].to_pylist(), lists["lines"].to_pylist(), strict=True)
    return {(of_confirmed, key): hashes[np.array(places, int)].tobytes() for of_confirmed, key, places in rows}


def _bulk_files(build: Build) -> set[str]:
    return {entry["name"] for entry in json.loads(build.manifest() or b'{"files": []}')[FILES]}
