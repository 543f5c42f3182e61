"""The pointer to the live build: publish, roll back. One conditional write each, so two people never both win."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from edge_auth.contract import layout
from edge_auth.contract.builds import Build, Pointer, open_build, read_pointer
from edge_auth.contract.store.interface import Store
from edge_auth.errors import Conflict, EdgeError, UnknownBuild
from generator.clock import Clock, timestamp, utc_now
from generator.errors import PublishError
from generator.releases.intents import declared

HISTORY = 50


def publish(store: Store, build_id: str, *, by_hand: bool, clock: Clock = utc_now) -> None:
    """Make a build the live one. Publishing the live build again changes nothing but a hold.

    Args:
        by_hand: a person asked for this build by its id: that lifts the hold which a rollback sets.

    Raises:
        PublishError: a rollback holds publishing back, or somebody else moved the pointer meanwhile.
        UnknownBuild, StoreError: the build is not there whole.
    """
    with _whole(store, build_id, clock):
        pointer, etag = read_pointer(store)
        if pointer and pointer.hold and not by_hand:
            raise PublishError(
                f"{build_id} was built but not published: a rollback to {pointer.build} holds; "
                f"`cardpress publish BUILD --store {store.location}` lifts it"
            )
        if pointer is None:
            _move(store, Pointer(build_id), etag)
        elif pointer.build != build_id:
            previous = [pointer.build, *pointer.previous][:HISTORY]
            _move(store, Pointer(build_id, previous, ended=_ended(pointer, clock, build_id)), etag)
        elif pointer.hold:
            _move(store, replace(pointer, hold=False), etag)


def rollback(store: Store, *, only_from: str | None = None, clock: Clock = utc_now) -> str:
    """Make the build before the live one live again, and hold publishing back until a person publishes.

    Args:
        only_from: roll back only if this is the live build.

    Returns:
        The id of the build that is live now.

    Raises:
        PublishError: there is no earlier build, it was pruned, or somebody else moved the pointer meanwhile.
        StoreError: the earlier build is not there whole.
    """
    pointer, etag = read_pointer(store)
    if pointer is None or not pointer.previous:
        live = f"{pointer.build} is the first build that was published" if pointer else "nothing was ever published"
        raise PublishError(f"cannot roll back in {store.location}: {live}")
    if only_from not in (None, pointer.build):
        raise PublishError(
            f"{only_from} was not rolled back: {pointer.build} is live, somebody else published meanwhile"
        )
    target = pointer.previous[0]
    try:
        with _whole(store, target, clock):
            ended = _ended(pointer, clock, target)
            _move(store, Pointer(target, pointer.previous[1:], hold=True, ended=ended), etag)
    except UnknownBuild as error:
        raise PublishError(f"cannot roll back in {store.location}: the build before, {target}, was pruned") from error
    return target


def _ended(pointer: Pointer, clock: Clock, target: str) -> dict[str, str]:
    """When builds ceased to be live, newest first, once `target` takes the place of the live one."""
    ended = {pointer.build: timestamp(clock())} | {k: v for k, v in pointer.ended.items() if k != pointer.build}
    ended.pop(target, None)
    return dict(list(ended.items())[:HISTORY])


@contextmanager
def _whole(store: Store, build_id: str, clock: Clock) -> Iterator[Build]:
    """A build of which every index can be opened, kept from a prune meanwhile."""
    layers = open_build(store, build_id).layers.values()
    with declared(store, build_id, (layer.folder for layer in layers), clock):
        build = open_build(store, build_id)  # anew: a prune may just have finished
        for layer in build.layers.values():
            _ = layer.index
        yield build


def _move(store: Store, pointer: Pointer, etag: str | None) -> None:
    """Swap the pointer. The nonce tells, after a swap whose answer was lost, whether it was ours that won."""
    ours = replace(pointer, nonce=secrets.token_hex(8))
    try:
        store.swap(layout.POINTER, ours.to_bytes(), etag)
    except EdgeError as error:
        now, _ = read_pointer(store)
        if now is None or now.nonce != ours.nonce:
            live = f"{now.build} is live" if now else "nothing is live"
            cause = "somebody else published meanwhile" if isinstance(error, Conflict) else str(error)
            raise PublishError(f"{pointer.build} was not published: {cause}; {live}") from error
