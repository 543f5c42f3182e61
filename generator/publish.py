"""The pointer to the live build: publish, roll back. One conditional write each, so two people never both win."""

import secrets

from edge_auth.contract.builds import POINTER_NAME, Pointer, open_build, read_pointer
from edge_auth.contract.store import Store
from edge_auth.errors import Conflict, EdgeError
from generator.errors import PublishError

HISTORY = 50


def publish(store: Store, build_id: str, *, by_hand: bool) -> None:
    """Make a build the live one. Publishing the live build again changes nothing but a hold.

    Args:
        by_hand: a person asked for this build by its id: that lifts the hold which a rollback sets.

    Raises:
        PublishError: a rollback holds publishing back, or somebody else moved the pointer meanwhile.
        UnknownBuild, StoreError: the build is not there whole.
    """
    _check_whole(store, build_id)
    pointer, etag = read_pointer(store)
    if pointer and pointer.hold and not by_hand:
        raise PublishError(
            f"{build_id} was built but not published: a rollback to {pointer.build} holds; "
            f"`cardpress publish BUILD --store {store.location}` lifts it"
        )
    if pointer and pointer.build == build_id:
        if pointer.hold:
            _move(store, Pointer(build_id, pointer.previous), etag)
        return
    previous = [pointer.build, *pointer.previous][:HISTORY] if pointer else []
    _move(store, Pointer(build_id, previous), etag)


def rollback(store: Store) -> str:
    """Make the build before the live one live again, and hold publishing back until a person publishes.

    Returns:
        The id of the build that is live now.

    Raises:
        PublishError: there is no earlier build, or somebody else moved the pointer meanwhile.
        UnknownBuild, StoreError: the earlier build is not there whole.
    """
    pointer, etag = read_pointer(store)
    if pointer is None or not pointer.previous:
        live = f"{pointer.build} is the first build that was published" if pointer else "nothing was ever published"
        raise PublishError(f"cannot roll back in {store.location}: {live}")
    _check_whole(store, pointer.previous[0])
    _move(store, Pointer(pointer.previous[0], pointer.previous[1:], hold=True), etag)
    return pointer.previous[0]


def _check_whole(store: Store, build_id: str) -> None:
    """Every index that the build names can be opened."""
    for layer in open_build(store, build_id).layers.values():
        _ = layer.index


def _move(store: Store, pointer: Pointer, etag: str | None) -> None:
    """Swap the pointer. The nonce tells, after a swap whose answer was lost, whether it was ours that won."""
    ours = Pointer(pointer.build, pointer.previous, pointer.hold, secrets.token_hex(8))
    try:
        store.swap(POINTER_NAME, ours.to_bytes(), etag)
    except EdgeError as error:
        now, _ = read_pointer(store)
        if now is None or now.nonce != ours.nonce:
            live = f"{now.build} is live" if now else "nothing is live"
            cause = "somebody else published meanwhile" if isinstance(error, Conflict) else str(error)
            raise PublishError(f"{pointer.build} was not published: {cause}; {live}") from error
