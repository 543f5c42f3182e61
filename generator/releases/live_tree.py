"""`tree/` in a store: the live build as plain objects, which a CDN, a static host or a worker sends.

It is a tree as an export writes it, without the bulk files. It is brought up to date after the pointer has moved, so
the build is live whatever happens here, and the next run completes it. Its record says which objects it has.
"""

import secrets
from collections.abc import Iterable
from typing import NamedTuple

from generator import settings
from generator.clock import Clock, utc_now
from generator.errors import BuildError, ExportError, GeneratorError, is_signal
from generator.releases.locks import end_by_error, hold_back, locked
from generator.storage import layout
from generator.storage.builds import Build, live_build_id, open_build
from generator.storage.errors import StorageError
from generator.storage.stores.interface import Store
from generator.terminal import Progress
from generator.tree.documents import Documents
from generator.tree.export import RECORD, ReadAhead, Target, TreeRecord, TreeWriter

AUTO, ALL, HOT, NONE = settings.OBJECTS
_MOST_FOR_ALL = 20_000  # products, of which `auto` writes all objects


class TreeUpdate(NamedTuple):
    """What an update did: the build, which objects the tree has, and what was written."""

    build: str
    kind: str  # `all`, `hot` or `none`
    objects: int
    written: int
    deleted: int
    is_bucket: bool

    def line(self) -> str:
        """Return it as one line of text, in a bucket with what the requests cost."""
        if self.kind == NONE:
            return f"{layout.TREE}: left alone (--objects none)"
        of_which = f"{self.written:,} written, {self.deleted:,} deleted"
        dollars = self.written / 1000 * settings.DOLLARS_PER_1000_PUTS
        cost = f"; about ${dollars:.2f} for these PUTs on S3" if self.is_bucket else ""
        return f"{layout.TREE}: {self.objects:,} objects ({self.kind}), {of_which}{cost}"


def update_live_tree(
    store: Store,
    choice: str | None,
    progress: Progress,
    *,
    run: str | None = None,
    clock: Clock = utc_now,
    seconds: float = settings.LEASE_SECONDS,
) -> TreeUpdate:
    """Bring `tree/` up to the live build. ExportError says that it could not be, and that the build is live.

    Args:
        choice: One of `settings.OBJECTS`; None for what the tree has, at first `auto`.
        run, seconds: Of the lock.
    """
    live = live_build_id(store)
    try:
        with locked(store, layout.TREE_LOCK, run=run or secrets.token_hex(4), clock=clock, seconds=seconds):
            while True:
                live = live_build_id(store)
                update = _bring_up(store, live, choice, progress)
                if live_build_id(store) == live:  # it moved meanwhile, and its publisher found this lock
                    return update
    except (GeneratorError, StorageError, OSError) as error:
        if is_signal(error):
            raise
        where = f"{layout.TREE} in {store.location}"
        message = f"{live} is live, but {where} is not up to date: {error}; the next run completes it"
        raise ExportError(message) from error


def bring_up_tree(store: Store, objects: str | None, progress: Progress) -> None:
    """Bring `tree/` up to the live build in a command, and say on standard error what was written."""
    with hold_back(), end_by_error("update of the tree"):
        update = update_live_tree(store, objects, progress)
    progress.say(update.line())


def _bring_up(store: Store, live: str, choice: str | None, progress: Progress) -> TreeUpdate:
    build = open_build(ReadAhead(store), live)
    record = _read_record(store)
    kind = choice or record.objects or AUTO
    if kind == AUTO:
        kind = ALL if len(build.catalogue.ids) <= _MOST_FOR_ALL else HOT
    is_bucket = store.local_path("") is None
    if kind == record.objects == NONE:
        return TreeUpdate(live, kind, 0, 0, 0, is_bucket)
    with Target(_location(store)) as target:
        if kind == NONE:
            target.read_record()  # whose tag the write compares
            target.write_record(TreeRecord(record.build, record.files, kind))
            return TreeUpdate(live, kind, 0, 0, 0, is_bucket)
        documents = Documents(build)
        wanted = list(documents.objects(hot=kind == HOT))
        done = TreeWriter(live, documents, wanted, target, objects=kind, progress=progress).run()
    return TreeUpdate(live, kind, *done, is_bucket)


def verify_live_tree(build: Build, progress: Progress) -> int:
    """Compare `tree/` with what the live build says, and return how many objects it has.

    Of another build, and where there is no tree, 0. BuildError names the first file that is missing, foreign or
    differs.
    """
    store, record = build.store, _read_record(build.store)
    present = {entry.name.removeprefix(layout.TREE) for entry in store.entries(layout.TREE)} - {RECORD}
    if record.objects == NONE or not (record.objects or present) or build.id != live_build_id(store):
        return 0
    publish = f"`cardpress publish {build.id}`"
    if not record.objects:
        way_out = f"move that folder away, then {publish} writes it again"
        raise BuildError(f"{layout.TREE} in {store.location} has files but no record, {RECORD}: {way_out}")
    if record.build != build.id:
        raise BuildError(f"{layout.TREE} in {store.location} is not complete: {publish} completes it")
    documents = Documents(build)
    wanted = {one.name: one for one in documents.objects(hot=record.objects == HOT)}
    missing, foreign = sorted(wanted.keys() - present), sorted(present - wanted.keys() - record.files.keys())
    bodies = ((name, documents.body(one).plain) for name, one in wanted.items() if name in present)
    differing = _differing(Target(_location(store)), bodies, len(wanted) - len(missing), progress)
    for names, defect, way_out in (
        (missing, "is missing", f"{publish} writes it again"),
        (foreign, "was written by no export", "move it away, because readers get it"),
        (differing, "differs from the build", f"delete it, then {publish} writes it again"),
    ):
        if names:
            others = len(missing) + len(foreign) + len(differing) - 1
            more = f" (and {others} more)" if others else ""
            raise BuildError(f"{layout.TREE}{names[0]} {defect}{more} in {store.location}: {way_out}")
    return len(wanted)


def _differing(tree: Target, bodies: Iterable[tuple[str, bytes]], count: int, progress: Progress) -> list[str]:
    """Return the names of the files of a tree that have other bytes than these."""
    found = []
    with progress.bar("verify tree", count) as bar:
        for name in tree.in_order(lambda one: "" if tree.read(one[0]) == one[1] else one[0], bodies):
            found += [name] if name else []
            bar.update(1)
    return found


def _location(store: Store) -> str:
    return f"{store.location}/{layout.TREE.removesuffix('/')}"


def _read_record(store: Store) -> TreeRecord:
    found = store.get_versioned(layout.TREE + RECORD, most=None)
    return TreeRecord.from_bytes(found.data, _location(store)) if found else TreeRecord()
