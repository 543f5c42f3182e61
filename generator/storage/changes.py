"""Steps: the moves of the pointer, and the documents that tell which products differ between two builds.

    changes/<from>...<to>.json   {"from", "to", "as_of", "added", "removed", "changed"}, the body of the API's answer
    changes/index.json           by `<from>...<to>` the counts, the size and the hash of its document; null if the
                                 document cannot be computed, because a build is gone

The pointer says which steps there are (`Pointer.moved_from`), so no step is ever lost. A document depends on two builds
only. It may exist before its step does, and is computed later if it is missing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from generator.storage import layout
from generator.storage.builds import Pointer
from generator.storage.errors import StoreError
from generator.storage.stores.interface import Store, parse_json

LISTED_STEPS = 100
# The pointer and the store keep more than are listed: a shim may list a step for some seconds more.
KEPT_STEPS = 120


@dataclass(frozen=True)
class DocumentEntry:
    """The entry of a document in the index: how many products differ, and the document's size and SHA-256 (hex)."""

    added: int
    removed: int
    changed: int
    bytes: int
    sha256: str


Index = dict[str, DocumentEntry | None]  # by the name of a pair


class Step(NamedTuple):
    from_: str
    to: str

    @property
    def pair(self) -> str:
        """The step's name in paths of the API."""
        return layout.pair(self.from_, self.to)


@dataclass(frozen=True)
class Steps:
    """The steps of a store, newest first."""

    builds: Sequence[str]  # the live build, then the builds that were live before, one for each step
    documented: Sequence[Step]  # the steps whose documents exist, with all steps before them
    entries: Mapping[Step, DocumentEntry]  # of those documents, and of others

    @property
    def complete(self) -> bool:
        return len(self.documented) == len(self.builds) - 1

    def since(self, build: str) -> Sequence[Step] | None:
        """Return the steps after the last moment at which a build was live, oldest first; None for an unknown build."""
        if build not in self.builds:
            return None
        later = list(self.builds).index(build)
        pending = len(self.builds) - 1 - len(self.documented)
        return list(self.documented[: max(0, later - pending)])[::-1]


def moves(pointer: Pointer) -> list[Step]:
    """Return the moves that the pointer records, newest first."""
    return [Step(from_, to) for to, from_ in pairwise([pointer.build, *pointer.moved_from])]


def listed_steps(pointer: Pointer, index: Index) -> Steps:
    """Return the steps that the API lists. They begin after a step that cannot be computed."""
    steps = moves(pointer)[:LISTED_STEPS]
    if steps and not any(step.pair in index for step in steps):
        raise StoreError(
            f"{layout.CHANGES_INDEX} is missing or empty, but {layout.POINTER} records {len(moves(pointer))} steps: "
            "`cardpress prune` makes the documents again"
        )
    lost = next((place for place, step in enumerate(steps) if index.get(step.pair, True) is None), len(steps))
    steps = steps[:lost]
    missing = [place for place, step in enumerate(steps) if step.pair not in index]
    builds = [pointer.build, *(step.from_ for step in steps)]
    entries = {step: entry for step in steps if (entry := index.get(step.pair))}
    return Steps(builds, steps[max(missing) + 1 :] if missing else steps, entries)


def read_index(store: Store) -> Index:
    found = store.get_versioned(layout.CHANGES_INDEX)
    return parse_index(found.data, store.location) if found else {}


def index_to_bytes(index: Index) -> bytes:
    """Return the index as it is stored, one document on each line."""
    lines = (f"{json.dumps(pair)}: {json.dumps(entry and vars(entry))}" for pair, entry in sorted(index.items()))
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def parse_index(data: bytes, location: str) -> Index:
    try:
        entries: dict[str, dict[str, Any] | None] = parse_json(data)
        return {pair: None if entry is None else DocumentEntry(**entry) for pair, entry in entries.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreError(f"{layout.CHANGES_INDEX} in {location} cannot be read: {error}") from error
