"""Makes and keeps the documents of the steps (`generator.storage.changes`): what differs between builds live in turn.

A publish makes the documents of both directions before it moves the pointer, so a step is complete when it begins, and
a rollback finds its document ready. A document that is missing all the same is made by the next command that moves the
pointer or prunes. If one of its builds is gone, the index says so, and the steps begin after it.

A document compares the Cards of two builds by columns, with the SQL of `build/changes/`: which products came, went, or
differ in which members.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import pyarrow as pa

from generator.compare.comparison import Comparison, IdArray, compare, read_cards
from generator.database import Database, run_file
from generator.errors import BuildError, GeneratorError, message_of
from generator.storage import layout
from generator.storage.builds import Build, Pointer, open_build, read_pointer
from generator.storage.catalogue import Catalogue
from generator.storage.changes import DocumentEntry, Index, Step, index_to_bytes, moves, parse_index, read_index
from generator.storage.errors import MissingObject, OlderVersion, StorageError, UnknownBuild
from generator.storage.layout import CATALOGUE
from generator.storage.stores.interface import Store, update_json
from generator.terminal import say

# Members of a Card that change for nearly every product every night, and the key.
NOT_COMPARED = {"id_product", "price_guide", "filtered_price", "listing"}

_EMPTY_LISTS = '"added":[],"removed":[\n\n],"changed":[\n\n]}\n'
_FAILURES = (GeneratorError, StorageError, OSError)
Counts = tuple[int, int, int]  # of products: added, removed, changed
_REPAIR = f"delete it and {layout.CHANGES_INDEX}: the next publish or prune makes the documents again"


def prepare_step(store: Store, to: str, comparison: Comparison | None = None) -> None:
    """Make the documents of a move from the live build to another one, unless they exist or cannot be made.

    A build that cannot be compared must not stop a publish. `complete_steps`, after it, says why. A comparison that the
    caller has made may be of other builds.
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


def missing_steps(store: Store) -> list[Step]:
    """Return the steps that the pointer records and that have no document, oldest first."""
    pointer, _ = read_pointer(store)
    if pointer is None or not pointer.moved_from:
        return []
    index = read_index(store)
    return list(dict.fromkeys(step for step in reversed(moves(pointer)) if step.pair not in index))


def verify_steps(store: Store) -> int:
    """Compare the documents of all steps with their recorded hashes, and return their number.

    Raises:
        BuildError: One is missing or differs, or the index lacks a step that the pointer records.
    """
    pointer, _ = read_pointer(store)
    index = read_index(store)
    steps = {step.pair: step for step in moves(pointer)} if pointer else {}
    if lacking := steps.keys() - index.keys():
        raise BuildError(
            f"{layout.CHANGES_INDEX} lacks {len(lacking)} of the {len(steps)} steps that {layout.POINTER} records, "
            f"such as {min(lacking)}: `cardpress prune --store {store.location}` makes their documents again"
        )
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
    """Remove documents that are about to be deleted from the index."""
    pairs = {layout.id_of(name) for name in names}
    if pairs:
        _update_index(store, lambda index: {pair: entry for pair, entry in index.items() if pair not in pairs})


def compare_cards(comparison: Comparison) -> list[tuple[Step, Counts, bytes]]:
    """Return the documents of both directions, from the old build to the new one and back."""
    old, new = comparison.old, comparison.new
    assert old is not None, "a step has two builds"
    if old.layers[CATALOGUE].folder == new.layers[CATALOGUE].folder:  # as after a new watch check
        return [_nothing_changed(old, new), _nothing_changed(new, old)]
    db = comparison.db
    comparison.read("cards")
    db.run("changes/products")
    _read_names(db, old.catalogue, "removed")
    _read_names(db, new.catalogue, "added")
    _compare_members(db, old.catalogue, new.catalogue)
    db.set(old_build=old.id, new_build=new.id, old_day=str(old.as_of), new_day=str(new.as_of))
    return [
        (Step(from_, to), (added, removed, changed), text.encode())
        for from_, to, added, removed, changed, text in run_file(db.connection, "changes/documents").fetchall()
    ]


@contextmanager
def _saying(failed: str) -> Iterator[None]:
    try:
        yield
    except _FAILURES as error:
        say(f"{failed}: {message_of(error)}; the next publish or prune tries again", err=True)


def _make_documents(store: Store, step: Step, comparison: Comparison | None = None) -> None:
    if read_index(store).get(step.pair) is not None:
        return
    try:
        entries = dict(_store_comparison(store, step, comparison))
    except (UnknownBuild, OlderVersion):  # it was pruned, or is of an older version
        entries = {step.pair: None}
    store.sync()  # the index names the documents
    _update_index(store, lambda index: index | entries)


def _store_comparison(store: Store, step: Step, made: Comparison | None) -> Iterator[tuple[str, DocumentEntry | None]]:
    with compare(open_build(store, step.from_), open_build(store, step.to), made=made) as comparison:
        documents = compare_cards(comparison)
    for move, counts, body in documents:
        store.put(layout.changes_name(*move), body)
        yield move.pair, DocumentEntry(*counts, len(body), hashlib.sha256(body).hexdigest())


def _update_index(store: Store, change: Callable[[Index], Index]) -> None:
    """Replace the index. Two commands may do so at once: no change is lost."""

    def changed(data: bytes | None) -> bytes | None:
        index = parse_index(data, store.location) if data else {}
        return None if (new := change(index)) == index else index_to_bytes(new)

    update_json(store, layout.CHANGES_INDEX, changed)


def _nothing_changed(old: Build, new: Build) -> tuple[Step, Counts, bytes]:
    """Return the document of two builds with the same Cards, as `build/changes/documents.sql` writes it."""
    head = json.dumps({"from": old.id, "to": new.id, "as_of": str(new.as_of)}, separators=(",", ":"))
    return Step(old.id, new.id), (0, 0, 0), f"{head[:-1]},{_EMPTY_LISTS}".encode()


def _read_names(db: Database, catalogue: Catalogue, change: str) -> None:
    for batch in read_cards(catalogue, _ids(db, change)):
        db.insert("product_names", "select id, json ->> '$.name' from batch", batch)


def _compare_members(db: Database, old: Catalogue, new: Catalogue) -> None:
    ids = _ids(db, "changed")
    for before, after in zip(read_cards(old, ids), read_cards(new, ids), strict=True):
        _set_fields(db, [before["json"][0].as_py(), after["json"][0].as_py()])
        db.connection.register("batch", pa.table({"id": before["id"], "old": before["json"], "new": after["json"]}))
        db.run("changes/fields")


def _set_fields(db: Database, cards: Sequence[str]) -> None:
    """Set the members to compare. All Cards of a build have the same members; builds of other versions may differ."""
    members = [list(json.loads(card)) for card in cards]
    fields = sorted(set().union(*members) - NOT_COMPARED)
    marks = {_mark(of_card, fields) for of_card in members}
    mark = marks.pop() if len(marks) == 1 else None
    db.set(fields=fields, paths=[f"$.{field}" for field in fields], mark=mark)


def _mark(members: list[str], fields: list[str]) -> str | None:
    """Return the text before the last members of a Card, which are not compared. None if there are no such members."""
    after = 1 + max((members.index(field) for field in fields if field in members), default=-1)
    return f',"{members[after]}":' if after < len(members) else None


def _ids(db: Database, change: str) -> IdArray:
    ids: IdArray = db.table(f"select id from changed_cards where change = '{change}' order by id")["id"].to_numpy()
    return ids
