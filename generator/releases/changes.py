"""Keeps the documents of the steps (`edge_auth.contract.changes`): what differs between builds that were live in turn.

A publish makes the documents of both directions before it moves the pointer, so a step is complete when it begins, and
a rollback finds its document ready. A document that is missing all the same is made by the next command that moves the
pointer or prunes. If one of its builds is gone, the index says so, and the steps begin after it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from edge_auth.contract import layout
from edge_auth.contract.builds import Pointer, open_build, read_pointer
from edge_auth.contract.changes import DocumentEntry, Index, Step, index_to_bytes, moves, read_index
from edge_auth.contract.store.interface import Store
from edge_auth.errors import Conflict, EdgeError, MissingObject, StoreError, UnknownBuild
from generator.errors import BuildError, GeneratorError

_MAX_ATTEMPTS = 20
_REPAIR = f"delete it and {layout.CHANGES_INDEX}: the next publish or prune makes the documents again"


def prepare_step(store: Store, to: str) -> None:
    """Make the documents of a move from the live build to another one, unless they exist or cannot be made.

    A build that cannot be compared must not stop a publish. `missing_steps` names its step.
    """
    with suppress(GeneratorError, EdgeError, OSError):
        pointer, _ = read_pointer(store)
        if pointer is not None and pointer.build != to:
            _document(store, Step(pointer.build, to))


def complete_steps(store: Store) -> None:
    """Make the documents that are missing, unless they cannot be made; see `prepare_step`."""
    with suppress(GeneratorError, EdgeError, OSError):
        for step in missing_steps(store):
            with suppress(GeneratorError, EdgeError, OSError):
                _document(store, step)


def missing_steps(store: Store) -> list[Step]:
    """Return the steps that the pointer records and that have no document, oldest first.

    Raises:
        StoreError: The pointer or the index cannot be read.
    """
    pointer, _ = read_pointer(store)
    if pointer is None or not pointer.moved_from:
        return []
    index, _ = read_index(store)
    return list(dict.fromkeys(step for step in reversed(moves(pointer)) if step.pair not in index))


def verify_steps(store: Store) -> int:
    """Compare the documents of all steps with their recorded hashes, and return their number.

    Raises:
        BuildError: One is missing or differs.
        StoreError: The store failed.
    """
    pointer, _ = read_pointer(store)
    index, _ = read_index(store)
    steps = {step.pair: step for step in moves(pointer)} if pointer else {}
    compared = {pair: entry for pair in steps if (entry := index.get(pair)) is not None}
    for pair, entry in compared.items():
        name = layout.changes_name(steps[pair].from_, steps[pair].to)
        try:
            data = store.get(name)
        except MissingObject as error:
            raise BuildError(f"{name} is missing: {_REPAIR}") from error
        if hashlib.sha256(data).hexdigest() != entry.sha256:
            raise BuildError(f"{name} differs from its recorded hash: {_REPAIR}")
    return len(compared)


def needed_documents(pointer: Pointer | None) -> set[str]:
    """Return the names of the documents that a prune keeps: those of every step and, for a rollback, its reverse."""
    steps = moves(pointer) if pointer else []
    pairs = {pair for step in steps for pair in ((step.from_, step.to), (step.to, step.from_))}
    return {layout.changes_name(*pair) for pair in pairs}


def forget(store: Store, names: Iterable[str]) -> None:
    """Remove documents that are about to be deleted from the index.

    Raises:
        StoreError: The index cannot be changed.
    """
    pairs = {layout.id_of(name) for name in names}
    if pairs:
        _update_index(store, lambda index: {pair: entry for pair, entry in index.items() if pair not in pairs})


def _document(store: Store, step: Step) -> None:
    """Make the documents of a step in both directions, and note them in the index.

    Raises:
        GeneratorError, EdgeError: They cannot be made, though both builds exist.
    """
    if read_index(store)[0].get(step.pair) is not None:
        return
    try:
        entries = dict(_made(store, step))
    except UnknownBuild:  # it was pruned
        entries = {step.pair: None}
    _update_index(store, lambda index: index | entries)


def _made(store: Store, step: Step) -> Iterator[tuple[str, DocumentEntry | None]]:
    from generator.releases.card_comparison import compare_cards  # most commands need no DuckDB

    for made in compare_cards(open_build(store, step.from_), open_build(store, step.to)):
        store.put(layout.changes_name(made.from_, made.to), made.json)
        digest = hashlib.sha256(made.json).hexdigest()
        entry = DocumentEntry(made.added, made.removed, made.changed, len(made.json), digest)
        yield layout.pair(made.from_, made.to), entry


def _update_index(store: Store, change: Callable[[Index], Index]) -> None:
    """Replace the index. Two commands may do so at once: each repeats its change until it wins."""
    for _ in range(_MAX_ATTEMPTS):
        index, etag = read_index(store)
        with suppress(Conflict):
            if (new := change(index)) != index:
                store.swap(layout.CHANGES_INDEX, index_to_bytes(new), etag)
            return
    raise StoreError(f"{layout.CHANGES_INDEX} in {store.location} could not be changed: others change it all the time")
