"""Keeps the documents of the steps (`edge_auth.builds.changes`): what differs between builds that were live in turn.

A publish makes the documents of both directions before it moves the pointer, so a step is complete when it begins, and
a rollback finds its document ready. A document that is missing all the same is made by the next command that moves the
pointer or prunes. If one of its builds is gone, the index says so, and the steps begin after it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from edge_auth.builds import layout
from edge_auth.builds.builds import open_build
from edge_auth.builds.changes import DocumentEntry, Index, Step, index_to_bytes, moves, parse_index, read_index
from edge_auth.builds.pointer import Pointer, read_pointer
from edge_auth.errors import EdgeError, MissingObject, UnknownBuild
from edge_auth.store.documents import update_json
from edge_auth.store.interface import Store
from generator.errors import BuildError, GeneratorError, message_of
from generator.terminal.output import say

if TYPE_CHECKING:
    from generator.compare.comparison import Comparison

_FAILURES = (GeneratorError, EdgeError, OSError)
_REPAIR = f"delete it and {layout.CHANGES_INDEX}: the next publish or prune makes the documents again"


def prepare_step(store: Store, to: str, comparison: "Comparison | None" = None) -> None:
    """Make the documents of a move from the live build to another one, unless they exist or cannot be made.

    Args:
        comparison: One that the caller has made, perhaps of these builds.

    A build that cannot be compared must not stop a publish. `complete_steps`, after it, says why.
    """
    with suppress(*_FAILURES):
        pointer, _ = read_pointer(store)
        if pointer is not None and pointer.build != to:
            _make_documents(store, Step(pointer.build, to), comparison)


def complete_steps(store: Store) -> None:
    """Make the documents that are missing. If some cannot be made, only say so on standard error."""
    steps: list[Step] = []
    with _saying("the steps of /changes were not checked"):
        steps = missing_steps(store)
    for step in steps:
        with _saying(f"/changes lacks the step from {step.from_} to {step.to}"):
            _make_documents(store, step)


@contextmanager
def _saying(failed: str) -> Iterator[None]:
    """Say why a part of the documents could not be made, instead of raising."""
    try:
        yield
    except _FAILURES as error:
        say(f"{failed}: {message_of(error)}; the next publish or prune tries again", err=True)


def missing_steps(store: Store) -> list[Step]:
    """Return the steps that the pointer records and that have no document, oldest first.

    Raises:
        StoreError: The pointer or the index cannot be read.
    """
    pointer, _ = read_pointer(store)
    if pointer is None or not pointer.moved_from:
        return []
    index = read_index(store)
    return list(dict.fromkeys(step for step in reversed(moves(pointer)) if step.pair not in index))


def verify_steps(store: Store) -> int:
    """Compare the documents of all steps with their recorded hashes, and return their number.

    Raises:
        BuildError: One is missing or differs.
        StoreError: The store failed.
    """
    pointer, _ = read_pointer(store)
    index = read_index(store)
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


def _make_documents(store: Store, step: Step, comparison: "Comparison | None" = None) -> None:
    """Make the documents of a step in both directions, and note them in the index.

    Raises:
        GeneratorError, EdgeError: They cannot be made, though both builds exist.
    """
    if read_index(store).get(step.pair) is not None:
        return
    try:
        entries = dict(_store_comparison(store, step, comparison))
    except UnknownBuild:  # it was pruned
        entries = {step.pair: None}
    store.sync()  # the index names the documents
    _update_index(store, lambda index: index | entries)


def _store_comparison(
    store: Store, step: Step, made: "Comparison | None"
) -> Iterator[tuple[str, DocumentEntry | None]]:
    from generator.compare.changes import compare_cards  # most commands need no DuckDB
    from generator.compare.comparison import compare

    with ExitStack() as stack:
        if made is None or not made.is_of(step.from_, step.to):
            made = stack.enter_context(compare(open_build(store, step.from_), open_build(store, step.to)))
        documents = compare_cards(made)
    for document in documents:
        store.put(layout.changes_name(document.from_, document.to), document.json)
        digest = hashlib.sha256(document.json).hexdigest()
        entry = DocumentEntry(document.added, document.removed, document.changed, len(document.json), digest)
        yield layout.pair(document.from_, document.to), entry


def _update_index(store: Store, change: Callable[[Index], Index]) -> None:
    """Replace the index. Two commands may do so at once: no change is lost."""

    def changed(data: bytes | None) -> bytes | None:
        index = parse_index(data, store.location) if data else {}
        return None if (new := change(index)) == index else index_to_bytes(new)

    update_json(store, layout.CHANGES_INDEX, changed)
