"""Which documents of an export differ: those of two builds but their card details, or all of two trees.

Documents of builds with the same tag are the same and are not read. Those of trees are all read.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from generator.errors import ExportError
from generator.storage import layout
from generator.storage.builds import Build
from generator.storage.objects import API_FOLDER
from generator.terminal import Progress
from generator.tree.documents import Documents, TreeList, resource_of
from generator.tree.export import GZIP_SUFFIX, RECORD, Target

_API = f"{API_FOLDER}/"


class DocumentChange(NamedTuple):
    resource: str  # of `layout.COMPARED`
    key: str  # the path in a tree, of a document of the API below `api/v1/`
    change: str  # `added`, `removed` or `changed`


class DocumentChanges(NamedTuple):
    """The documents that differ, and by resource how many the old side has."""

    changes: list[DocumentChange]
    old: Counter[str]

    def table(self) -> pa.Table:
        """Return the changes as a table of their fields."""
        columns = zip(*self.changes, strict=True) if self.changes else ((), (), ())
        return pa.table([pa.array(column, pa.string()) for column in columns], list(DocumentChange._fields))

    def resources(self) -> list[dict[str, Any]]:
        """Return per resource how many were added, removed or changed, and how many are the same."""
        found = Counter((one.resource, one.change) for one in self.changes)
        return count_changes({name: self.old[name] for name in layout.COMPARED}, found)


def count_changes(old: Mapping[str, int], found: Mapping[tuple[str, str], int]) -> list[dict[str, Any]]:
    """Return by the names of `old` how many were added, removed or changed, and how many of the old ones are the same.

    `found` has the counts by name and change.
    """
    rows = []
    for name, count in old.items():
        counts = {change: found.get((name, change), 0) for change in ("added", "removed", "changed")}
        rows.append({"name": name} | counts | {"unchanged": count - counts["removed"] - counts["changed"]})
    return rows


def of_builds(old: Build, new: Build) -> DocumentChanges:
    """Compare the documents of two builds but the card details: pages by their rows, others by tag or content."""
    sides = [Documents(build) for build in (old, new)]
    before, after = ({one.name.removeprefix(_API): one for one in documents.single()} for documents in sides)

    def differ(key: str) -> bool:
        one, other = before[key], after[key]
        if one.tag == other.tag or resource_of(key) != layout.MARKET:
            return one.tag != other.tag
        # The tag of a history depends on where its periods end.
        return sides[0].body(one).digest != sides[1].body(other).digest

    found = _changes(before, after, [key for key in before if key in after and differ(key)])
    _add_pages(found, *(documents.lists for documents in sides))
    return found


def _add_pages(found: DocumentChanges, old: dict[str, TreeList], new: dict[str, TreeList]) -> None:
    for folder in old | new:
        resource, before, after = resource_of(f"{folder}/0.json"), old.get(folder), new.get(folder)
        of_old, of_new = (one.pages if one else 0 for one in (before, after))
        changed = before.changed_pages(after) if before and after else ()
        found.old[resource] += of_old
        for change, numbers in (
            ("added", range(of_old, of_new)),
            ("removed", range(of_new, of_old)),
            ("changed", changed),
        ):
            found.changes.extend(DocumentChange(resource, f"{folder}/{number}.json", change) for number in numbers)


class ExportedTree:
    """A tree that an export wrote: a folder, or the prefix of a bucket. ExportError says that there is none."""

    def __init__(self, location: str):
        self.location, self.target = location, Target(location)
        record = self.target.read_record()
        if record is None:
            raise ExportError(
                f"{location} has no {RECORD}, so no export wrote it: "
                f"name a tree, or a build of a store, such as {location}@live"
            )
        self.build = record.build
        documents = record.files.keys() - {name + GZIP_SUFFIX for name in record.files}
        self.names = {name.removeprefix(_API): name for name in documents & self.target.files().keys()}

    def read(self, key: str) -> bytes:
        return self.target.read(self.names[key])


def of_trees(old: ExportedTree, new: ExportedTree, progress: Progress) -> DocumentChanges:
    """Compare the documents of two trees byte by byte."""
    both = sorted(old.names.keys() & new.names.keys())
    changed = []
    with progress.bar("compare", len(both)) as bar:
        same = new.target.in_order(lambda key: old.read(key) == new.read(key), both)
        for key, is_same in zip(both, same, strict=True):
            changed += [] if is_same else [key]
            bar.update(1)
    found = _changes(old.names, new.names, changed)
    found.changes.sort(key=lambda one: (layout.COMPARED.index(one.resource), one.key))
    return found


def _changes(old: Collection[str], new: Collection[str], changed: Iterable[str]) -> DocumentChanges:
    """Return the changes from the keys of both sides, and those that are on both and differ."""
    found = dict.fromkeys((key for key in new if key not in old), "added")
    found |= dict.fromkeys((key for key in old if key not in new), "removed")
    found |= dict.fromkeys(changed, "changed")
    changes = [DocumentChange(resource_of(key), key, change) for key, change in found.items()]
    return DocumentChanges(changes, Counter(map(resource_of, old)))
