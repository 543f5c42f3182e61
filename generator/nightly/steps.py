"""The steps of a night. Each makes one change or one check, and returns what it found out as facts for the report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, NamedTuple

from edge_auth.builds import layout
from edge_auth.builds.builds import Build, open_build
from edge_auth.builds.pointer import Pointer
from edge_auth.errors import DamagedObject, EdgeError
from edge_auth.store.interface import Store
from generator import settings
from generator.clock import Clock
from generator.errors import (
    BusyError,
    DamageError,
    ExportError,
    GateError,
    GeneratorError,
    HoldError,
    RollbackError,
    SmokeError,
    SpaceError,
)
from generator.lake.lake import Lake, open_lake
from generator.lake.quarantine import (
    ACCEPTED,
    QuarantinedFile,
    describe_waiting,
    hold,
    note_lake,
    read_quarantine,
    skipped_by_builds,
    waiting_files,
)
from generator.making.make import BuildResult, make_build, plan_only
from generator.nightly.gates import judge
from generator.nightly.options import NightOptions
from generator.nightly.past import read_past
from generator.nightly.refusals import force_accepted, pass_way_back, refused_files
from generator.nightly.smoke import smoke_test
from generator.pack.read_ahead import ReadAhead
from generator.pack.verify import verify
from generator.releases.judgements import Judgement, write_judgement
from generator.releases.prune import describe, prune
from generator.releases.publish import publish, rollback
from generator.releases.reserve import keep_reserve, with_reserve
from generator.releases.rotation import Rotation
from generator.releases.run_reports import PUBLISHED, prune_run_reports
from generator.terminal.progress import Progress
from generator.tree.export import export

_RECORDED = ("as_of", "objects", "bytes", "freshness", "left_out")


@dataclass(frozen=True)
class NightContext:
    """What all steps of a night need.

    Attributes:
        run: The id of the run.
    """

    run: str
    lake: str
    store: Store
    options: NightOptions
    clock: Clock
    progress: Progress


class Facts(NamedTuple):
    """What a step found out.

    Attributes:
        fields: Fields of the run's report, `RunReport`.
        lines: The same in words, for the operator.
    """

    fields: Mapping[str, Any]
    lines: Sequence[str] = ()


def make_new_build(context: NightContext, rotation: Rotation | None, make_room: Callable[[], None]) -> Facts:
    """Make a build. On a full disk, make room first; if a layer is damaged, read all of them and repair it."""
    try:
        result = _make_build(context, rotation=rotation)
    except SpaceError as error:
        context.progress.say(f"{error}: this run prunes, then tries again")
        make_room()
        result = _make_build(context, rotation=rotation)
    except (DamageError, DamagedObject) as error:
        context.progress.say(f"{error}; this run reads every layer and repairs it")
        result = _make_build(context, repair=True)
    for line in _repaired(result.damaged):
        context.progress.say(line)
    fields = {
        "build": result.id,
        "made": result.made,
        "layer_seconds": result.seconds,
        "damaged": result.damaged,
        "other_bytes": result.other_bytes,
        "record": {name: result.record[name] for name in _RECORDED},
    }
    note_lake(context.store, result.record)
    waiting = waiting_files(context.store, result.record)
    return Facts(fields, [describe_waiting(waiting, context.store.location)] if waiting else [])


def repair_builds(context: NightContext, live: str | None) -> Facts:
    """Read every layer of the new build and of the live one, and make the damaged ones again.

    If lake or program have changed since the live build was made, only the layers that both builds have are repaired.
    """
    damaged = _make_build(context, repair=True).damaged
    if live:
        day = date.fromisoformat(layout.day_of(live))
        if plan_only(_open_lake(context, day), context.store).build == live:
            damaged = damaged | _make_build(context, repair=True, as_of=day).damaged
    return Facts({"damaged": damaged}, _repaired(damaged))


def _repaired(damaged: Mapping[str, str]) -> list[str]:
    return [f"{layer} was damaged and was made again: {why}" for layer, why in damaged.items()]


def _make_build(
    context: NightContext,
    *,
    rotation: Rotation | None = None,
    repair: bool = False,
    as_of: date | None = None,
) -> BuildResult:
    options = context.options
    return make_build(
        _open_lake(context, as_of),
        context.store,
        threads=options.threads,
        memory=options.memory,
        scheduler=options.scheduler,
        progress=context.progress,
        repair=repair,
        rotation=rotation,
        clock=context.clock,
    )


def _open_lake(context: NightContext, as_of: date | None = None) -> Lake:
    """Open the lake without the files in quarantine."""
    options = context.options
    skipped = skipped_by_builds(context.store, settings.GATES | options.thresholds, options.forced)
    return open_lake(context.lake, as_of, progress=context.progress, left_out=skipped)


def verify_build(context: NightContext, build: str, made: Sequence[str]) -> Facts:
    """Compare the layers that the night made with their hashes."""
    verify(open_build(context.store, build), context.progress, only=made)
    return Facts({})


def save_rotation(context: NightContext, rotation: Rotation, build: str, made: Sequence[str]) -> Facts:
    """Record which layers of earlier nights were read again."""
    fields = {"reread": rotation.read, "reread_bytes": rotation.bytes}
    try:
        rotation.save(open_build(context.store, build).layers.values(), made)
    except EdgeError as error:  # policies of older versions refuse it; the next night reads the same layers
        return Facts(fields, [f"which layers were read again was not recorded: {error}"])
    return Facts(fields)


def judge_build(context: NightContext, build: str, live: str | None) -> Facts:
    """Compare the build with the live one by the gates, and write the results beside its record."""
    old = open_build(context.store, live) if live else None
    new, now, options = open_build(context.store, build), context.clock(), context.options
    files = read_quarantine(context.store)
    days = {(file.table, file.day) for file in files if file.verdict != ACCEPTED}
    past = read_past(context.store, new.as_of)

    def judged(other: Build | None) -> Judgement:
        limits, forced = options.thresholds, options.forced
        return judge(other, new, now=now, thresholds=limits, forced=forced, days_left_out=days, past=past)

    judgement, lines = judged(old), []
    if old:
        judgement, before = pass_way_back(context.store, judgement, old.id, judged)
        lines += [f"{old.id} was live although gates refused it: compared with {before} as well"] if before else []
        judgement = force_accepted(judgement, new, old, {file.key for file in files if file.verdict == ACCEPTED})
    write_judgement(context.store, build, judgement, run=context.run, now=now)
    lines += [v.line() + (": forced" if v.forced else "") for v in judgement.verdicts if v.breached]
    return Facts({"judgement": judgement}, lines + [f"strange: {remark.message}" for remark in judgement.remarks])


def hold_refused_files(context: NightContext, build: str, judgement: Judgement) -> list[QuarantinedFile]:
    """Put the day files that the breached gates judged in quarantine, and return them."""
    store = context.store
    if judgement.against is None or not judgement.breaches:
        return []
    refused = refused_files(judgement, open_build(store, build), open_build(store, judgement.against))
    try:
        return hold(store, refused, build=build, run=context.run, now=context.clock()) if refused else []
    except EdgeError as error:  # the gates refuse the build in any case
        context.progress.say(f"no file was put in quarantine: {error}")
        return []


def check_may_publish(
    context: NightContext,
    build: str,
    judgement: Judgement,
    pointer: Pointer | None,
    held: Sequence[QuarantinedFile],
) -> None:
    """Check that no gate and no rollback stops the build.

    Args:
        held: The files that were put in quarantine because of the breached gates.

    Raises:
        GateError: A gate is breached.
        HoldError: A rollback holds publishing back.
    """
    if judgement.breaches:
        lines = "; ".join(verdict.line() for verdict in judgement.breaches)
        lines += f"; {describe_waiting(held, context.store.location)}" if held else ""
        raise GateError(
            f"{build} was built but not published: {lines}; if the data is right, "
            f"`cardpress publish {build} --store {context.store.location}` publishes it, otherwise correct the lake"
        )
    if pointer and pointer.hold:
        raise HoldError(
            f"{build} was built and passed all gates but was not published: "
            f"a rollback to {pointer.build} holds publishing back; "
            f"`cardpress publish {build} --store {context.store.location}` publishes it and lifts the hold"
        )


def publish_build(context: NightContext, build: str) -> Facts:
    """Make the build the live one."""
    publish(context.store, build, by_hand=False, clock=context.clock)
    return Facts({})


def smoke_test_build(context: NightContext, build: str) -> Facts:
    """Answer requests from the published build, and roll back if one fails and no damaged layer is the reason.

    Raises:
        SmokeError: One failed, and the build before is live again.
        RollbackError: One failed, and the build stayed live.
    """
    repaired = Facts({})
    try:
        try:
            smoke_test(context.store, build)
        except SmokeError as error:
            context.progress.say(f"{error}; this run reads every layer and repairs it")
            repaired = repair_builds(context, None)
            smoke_test(context.store, build)
    except (GeneratorError, EdgeError) as error:
        try:
            live = rollback(context.store, only_from=build, clock=context.clock)
        except GeneratorError as failed:
            raise RollbackError(f"{build} is live and fails its smoke test: {error}; {failed}") from error
        raise SmokeError(f"{build} failed its smoke test and was rolled back, {live} is live: {error}") from error
    return Facts({"outcome": PUBLISHED, **repaired.fields}, [*repaired.lines, f"published: {build} is live"])


def export_build(context: NightContext, build: str, target: str) -> Facts:
    """Bring the tree of plain files to the live build. If that fails, the build stays live.

    Raises:
        ExportError: It failed.
    """
    try:
        opened = open_build(ReadAhead(context.store), build)
        result = export(opened, target, gzip=False, progress=context.progress)
    except (GeneratorError, EdgeError, OSError) as error:
        raise ExportError(f"{build} is live, but {target} was not brought up to date: {error}") from error
    done = f"exported: {result.written:,} files written to {target}, {result.deleted:,} deleted"
    return Facts({"exported": {"target": target, **asdict(result)}}, [done])


def prune_store(context: NightContext) -> Facts:
    """Delete old builds, reports and pages, and keep a reserve of the disk. Another prune may do it instead."""
    store, options = context.store, context.options
    try:
        prune_run_reports(store, settings.MAX_RUN_REPORTS, settings.MAX_RUN_PAGES)
        deletions = with_reserve(
            store, lambda: prune(store, options.rules, run=context.run, clock=context.clock, seconds=options.lease)
        )
        keep_reserve(store)
    except BusyError as error:
        return Facts({}, [f"not pruned: {error}"])
    return Facts({"pruned": deletions.summary()}, [f"pruned: {describe(deletions)}"])
