"""Moves the pointer to the live build: publish and roll back. Each is one conditional write, so only one can win."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from generator.clock import Clock, timestamp, utc_now
from generator.compare.comparison import Comparison
from generator.compare.run_reports import lost_pointer
from generator.errors import PublishError
from generator.lake.quarantine import accept_read_files
from generator.releases.change_documents import complete_steps, prepare_step
from generator.releases.locks import declare_intent
from generator.storage import layout
from generator.storage.builds import Pointer, open_build, read_pointer
from generator.storage.changes import KEPT_STEPS
from generator.storage.errors import StorageError, UnknownBuild
from generator.storage.stores.interface import Store, update_json

# How many earlier builds the pointer lists.
MAX_PREVIOUS_BUILDS = 50
# How many builds that failed their smoke test it lists.
MAX_FAILED_BUILDS = 20


def publish(
    store: Store,
    build_id: str,
    *,
    by_hand: bool,
    just_made: bool = False,
    comparison: Comparison | None = None,
    clock: Clock = utc_now,
) -> None:
    """Make a build the live one, and accept the files in quarantine that it read. Of a live one only the hold may go.

    Args:
        by_hand: Whether a person chose this build by its id. That lifts the hold which a rollback sets.
        just_made: Whether this process made the build, and so has opened all its indexes.

    Raises:
        PublishError: A rollback holds the build back, the pointer is lost, or another publisher moved it meanwhile.
    """
    with _protected(store, build_id, clock, just_made):
        prepare_step(store, build_id, comparison)
        pointer, _ = read_pointer(store)
        if pointer and not by_hand and (cause := why_held(pointer, build_id, store.location)):
            raise PublishError(f"{build_id} was built but not published: {cause}")
        if pointer is None and not by_hand and (cause := lost_pointer(store)):
            raise PublishError(f"{build_id} was built but not published: {cause}")
        accept_read_files(store, open_build(store, build_id))
        if pointer is None:
            _move_pointer(store, pointer, Pointer(build_id))
        elif pointer.build != build_id:
            previous = [pointer.build, *pointer.previous][:MAX_PREVIOUS_BUILDS]
            _move_pointer(store, pointer, _moved(pointer, build_id, previous, clock))
        elif pointer.hold:
            _move_pointer(store, pointer, replace(pointer, hold=False))
    complete_steps(store)


def why_held(pointer: Pointer, build_id: str, location: str) -> str | None:
    """Return why only a person may publish a build, with the command that does; None if anything may."""
    command = f"`cardpress publish {build_id} --store {location}` publishes it"
    if pointer.hold:
        return f"a rollback to {pointer.build} holds publishing back; {command} and lifts the hold"
    if build_id in pointer.failed:
        return f"it failed its smoke test in an earlier night; {command} all the same"
    return None


def rollback(store: Store, *, only_from: str | None = None, clock: Clock = utc_now) -> str:
    """Make the build before the live one live again, hold publishing back until a person publishes, and return its id.

    Args:
        only_from: Roll back only if this build is live, and hold only it back, because it failed its smoke test.

    Raises:
        PublishError: There is no earlier build, it was pruned, or another publisher moved the pointer meanwhile.
    """
    pointer, _ = read_pointer(store)
    if pointer is None or not pointer.previous:
        reason = f"{pointer.build} is the first published build" if pointer else "no build was ever published"
        raise PublishError(f"cannot roll back in {store.location}: {reason}")
    if only_from not in (None, pointer.build):
        raise PublishError(f"{only_from} was not rolled back: another publisher made {pointer.build} live meanwhile")
    target = pointer.previous[0]
    try:
        with _protected(store, target, clock):
            moved = _moved(pointer, target, pointer.previous[1:], clock)
            failed = [*([only_from] if only_from else []), *moved.failed][:MAX_FAILED_BUILDS]
            _move_pointer(store, pointer, replace(moved, hold=only_from is None, failed=failed))
    except UnknownBuild as error:
        raise PublishError(f"cannot roll back in {store.location}: the earlier build {target} was pruned") from error
    return target


def _moved(pointer: Pointer, target: str, previous: list[str], clock: Clock) -> Pointer:
    """Return the pointer after a move to another build. The move is recorded in the same write."""
    moved_from = [pointer.build, *pointer.moved_from][:KEPT_STEPS]
    failed = [build for build in pointer.failed if build != target]
    others = [(build, time) for build, time in pointer.ended.items() if build not in (pointer.build, target)]
    ended = dict([(pointer.build, timestamp(clock())), *others][:MAX_PREVIOUS_BUILDS])
    return Pointer(target, previous, ended=ended, moved_from=moved_from, failed=failed)


@contextmanager
def _protected(store: Store, build_id: str, clock: Clock, just_made: bool = False) -> Iterator[None]:
    """Protect a build from a prune inside the `with` block, and check that all its indexes can be opened."""
    layers = open_build(store, build_id).layers.values()
    with declare_intent(store, build_id, (layer.folder for layer in layers), clock):
        # Opened again: a prune may just have finished. It deletes the record of a build before the layers.
        for layer in open_build(store, build_id).layers.values():
            if not just_made:
                _ = layer.index
        yield


def _move_pointer(store: Store, before: Pointer | None, after: Pointer) -> None:
    """Replace the pointer, if it is still the one from before. Its nonce shows whose write succeeded."""
    new = replace(after, nonce=secrets.token_hex(8))

    def change(data: bytes | None) -> bytes:
        if (Pointer.from_bytes(data) if data else None) != before:
            raise PublishError("another publisher moved the pointer meanwhile")
        return new.to_bytes()

    try:
        update_json(store, layout.POINTER, change)
    except (PublishError, StorageError) as error:
        current, _ = read_pointer(store)
        live = f"{current.build} is live" if current else "no build is live"
        raise PublishError(f"{after.build} was not published: {error}; {live}") from error
