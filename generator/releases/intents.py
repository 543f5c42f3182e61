"""Intents, by which builds and publishers protect layers from a prune that runs at the same time.

    intents/<build id>/<nonce>.json   a build in the making, or about to go live: the folders of its layers
    private/prune.lock                a running prune: the folders and builds that it is about to delete

A build or publisher first writes an intent. Then it reads the prune's list, and waits while one of its own layers is on
the list. A prune first writes its list. Then it reads the intents, and removes what they name from its list. Each side
writes before it reads, so at least one of the two sees the other.
"""

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from edge_auth.builds import layout
from edge_auth.errors import EdgeError, MissingObject
from edge_auth.store.interface import Store
from generator.clock import Clock, from_unix_time, timestamp
from generator.releases.lease import current_holder

# The member of the prune lock's facts that lists builds and folders about to be deleted.
DELETION_LIST = "doomed"
_POLL_SECONDS = 0.1


@dataclass
class Intents:
    """The builds and the layers' folders that recent intents name."""

    builds: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)


@contextmanager
def declare_intent(store: Store, build_id: str, folders: Iterable[str], clock: Clock) -> Iterator[None]:
    """Protect a build and its layers from a prune inside the `with` block."""
    folders = sorted(folders)
    name = layout.intent_name(build_id, secrets.token_hex(8))
    intent = {"build": build_id, "layers": folders, "since": timestamp(clock())}
    try:  # a signal may end the run as soon as the intent is written
        store.put(name, json.dumps(intent, indent=1).encode() + b"\n")
        _wait_for_prune(store, {build_id, *folders}, clock)
        yield
    finally:
        with suppress(EdgeError):  # the intent expires by its age
            store.delete([name])


def read_intents(store: Store, clock: Clock, max_age: timedelta) -> Intents:
    """Return what the intents younger than `max_age` name."""
    intents = Intents()
    for entry in store.entries(layout.INTENTS):
        if from_unix_time(entry.modified) > clock() - max_age:
            with suppress(MissingObject, ValueError, KeyError, TypeError):  # deleted meanwhile, or not an intent
                intent = json.loads(store.get(entry.name))
                intents.builds.add(intent["build"])
                intents.folders.update(intent["layers"])
    return intents


def _wait_for_prune(store: Store, protected: set[str], clock: Clock) -> None:
    while (holder := current_holder(store, layout.PRUNE_LOCK, clock)) and protected.intersection(
        holder["facts"].get(DELETION_LIST, ())
    ):
        time.sleep(_POLL_SECONDS)
