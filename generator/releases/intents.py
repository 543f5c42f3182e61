"""What is about to use layers says so first, and what is about to delete layers says so first.

    intents/<build id>/<nonce>.json   a build in the making, or about to go live: its layers' folders
    private/prune.lock                a prune at work: the folders and builds that it is about to delete

Whoever needs layers writes an intent, then reads the prune's list, and waits while one of its own is on it. A prune
writes its list, then reads the intents, and strikes off the list what they name. Each writes before it reads, so at
least one of two that meet sees the other, and no layer is deleted that somebody has just decided to use.
"""

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from edge_auth.contract import layout
from edge_auth.contract.store.interface import Store
from edge_auth.errors import EdgeError, MissingObject
from generator.clock import Clock, timestamp, unix
from generator.releases.lease import held

_POLL_SECONDS = 0.1


@dataclass
class Intended:
    """What recent intents name."""

    builds: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)


@contextmanager
def declared(store: Store, build_id: str, folders: Iterable[str], clock: Clock) -> Iterator[None]:
    """Protect a build and its layers from a prune while the body runs."""
    folders = sorted(folders)
    name = layout.intent_name(build_id, secrets.token_hex(8))
    said = {"build": build_id, "layers": folders, "since": timestamp(clock())}
    store.put(name, json.dumps(said, indent=1).encode() + b"\n")
    try:
        _let_prune_finish(store, {build_id, *folders}, clock)
        yield
    finally:
        with suppress(EdgeError):  # it ends by its age
            store.delete([name])


def intended(store: Store, clock: Clock, age: timedelta) -> Intended:
    """What the intents younger than `age` name."""
    found = Intended()
    for entry in store.entries(layout.INTENTS):
        if unix(entry.modified) > clock() - age:
            with suppress(MissingObject, ValueError, KeyError, TypeError):  # finished meanwhile, or nonsense
                said = json.loads(store.get(entry.name))
                found.builds.add(said["build"])
                found.folders.update(said["layers"])
    return found


def _let_prune_finish(store: Store, ours: set[str], clock: Clock) -> None:
    while (holder := held(store, layout.PRUNE_LOCK, clock)) and ours.intersection(holder["facts"].get("doomed", ())):
        time.sleep(_POLL_SECONDS)
