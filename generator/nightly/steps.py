"""The steps of a night. Each makes one change or one check, and notes in the run's report what it found out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date

from edge_auth.builds import layout
from edge_auth.builds.builds import Build, open_build
from edge_auth.builds.pointer import Pointer
from edge_auth.errors import DamagedObject, EdgeError
from edge_auth.store.interface import Store
from generator import settings
from generator.clock import Clock
from generator.compare.comparison import Comparison, compare
from generator.compare.gates import breached_by_game, judge
from generator.compare.judgements import (
    Judgement,
    force_accepted,
    pass_accepted,
    pass_way_back,
    refused_files,
    write_judgement,
)
from generator.compare.run_reports import PUBLISHED, RunReport, prune_run_reports, read_past
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
    count_waiting,
    describe_waiting,
    held_games,
    hold,
    note_lake,
    read_quarantine,
    skipped_by_builds,
    waiting_files,
)
from generator.making.make import BuildResult, make_build, plan_only
from generator.nightly.smoke import smoke_test
from generator.pack.verify import Rotation, verify
from generator.releases.prune import RetentionRules, describe, prune
from generator.releases.publish import publish, rollback, why_held
from generator.releases.reserve import keep_reserve, with_reserve
from generator.terminal import Progress
from generator.threads import ONE_THREAD, USUAL, Resources
from generator.tree.export import ReadAhead, export


@dataclass(frozen=True)
class NightOptions:
    """What a night is asked to do. What it finds out is in its `RunReport`.

    Attributes:
        run: The id of the run.
        thresholds: Thresholds by gate, instead of the defaults.
        max_age: By table of days, how many days old its newest row may be.
        forced: Gates that do not stop this night's build.
        rules: Which builds the prune keeps.
        lease: How many seconds the lock outlives a killed run.
        export: Where the run keeps a tree of plain files up to date, if anywhere.
        pages: Whether the run writes its report and its diff as pages into the store.
        expect_day: The day (`YYYY-MM-DD`) that the live build's data must have after the run; None for any.
        reread_days: Within how many days every layer is read again; 0 for never.
    """

    run: str
    lake: str
    store: Store
    clock: Clock
    progress: Progress
    thresholds: dict[str, float] = field(default_factory=dict)
    max_age: dict[str, int] = field(default_factory=dict)
    forced: tuple[str, ...] = ()
    rules: RetentionRules = field(default_factory=RetentionRules)
    resources: Resources = USUAL
    scheduler: str | None = None
    lease: float = settings.LEASE_SECONDS
    pages: bool = False
    export: str | None = None
    expect_day: str | None = None
    reread_days: int = settings.REREAD_DAYS


_RECORDED = ("as_of", "objects", "bytes", "freshness", "left_out")


def make_new_build(
    options: NightOptions, report: RunReport, rotation: Rotation | None, make_room: Callable[[], None]
) -> None:
    """Make a build. On a full disk, make room first; if a layer is damaged, read all of them and repair it."""
    say, store = options.progress.say, options.store
    try:
        result = _make_and_note(options, rotation=rotation)
    except SpaceError as error:
        say(f"{error}: this run prunes, then tries again")
        make_room()
        result = _make_and_note(options, rotation=rotation)
    except (DamageError, DamagedObject) as error:
        say(f"{error}; this run reads every layer and repairs it")
        result = _make_and_note(options, repair=True)
    _note_repaired(options, report, result.damaged)
    report.build, report.made, report.layer_seconds = result.id, result.made, result.seconds
    report.other_bytes = result.other_bytes
    report.record = {name: value for name, value in result.record.items() if name in _RECORDED}
    report.held = held_games(store, result.record)
    if waiting := waiting_files(store, result.record):
        say(count_waiting(waiting, store.location))


def remake_build(options: NightOptions, report: RunReport) -> None:
    """Make the build again, without what was put in quarantine meanwhile, and verify what was made."""
    make_new_build(options, report, None, lambda: None)
    verify_build(options, report, report.build or "")


def repair_builds(options: NightOptions, report: RunReport, live: str | None) -> None:
    """Read every layer of the new build and of the live one, and make the damaged ones again.

    If lake or program have changed since the live build was made, only the layers that both builds have are repaired.
    """
    damaged = _make_build(options, repair=True).damaged
    if live:
        day = date.fromisoformat(layout.day_of(live))
        if plan_only(_open_lake(options, day), options.store).build == live:
            damaged = damaged | _make_build(options, repair=True, as_of=day).damaged
    _note_repaired(options, report, damaged)


def _note_repaired(options: NightOptions, report: RunReport, damaged: Mapping[str, str]) -> None:
    report.damaged |= damaged
    for layer, why in damaged.items():
        options.progress.say(f"{layer} was damaged and was made again: {why}")


def _make_and_note(options: NightOptions, *, rotation: Rotation | None = None, repair: bool = False) -> BuildResult:
    """Make a build, and record which held files the lake still has."""
    result = _make_build(options, rotation=rotation, repair=repair)
    note_lake(options.store, open_build(options.store, result.id))
    return result


def _make_build(
    options: NightOptions, *, rotation: Rotation | None = None, repair: bool = False, as_of: date | None = None
) -> BuildResult:
    return make_build(
        _open_lake(options, as_of),
        options.store,
        resources=options.resources,
        scheduler=options.scheduler,
        progress=options.progress,
        repair=repair,
        rotation=rotation,
        clock=options.clock,
    )


def _open_lake(options: NightOptions, as_of: date | None = None) -> Lake:
    """Open the lake without the files in quarantine."""
    skipped = skipped_by_builds(options.store, settings.GATES | options.thresholds, options.forced)
    return open_lake(options.lake, as_of, progress=options.progress, left_out=skipped)


def verify_build(options: NightOptions, report: RunReport, build: str) -> None:
    """Compare the layers that the night made with their hashes."""
    verify(open_build(options.store, build), options.progress, only=report.made)


def save_rotation(options: NightOptions, report: RunReport, rotation: Rotation, build: str) -> None:
    """Record which layers of earlier nights were read again."""
    report.reread, report.reread_bytes = rotation.read, rotation.bytes
    try:
        rotation.save(open_build(options.store, build).layers.values(), report.made)
    except EdgeError as error:  # the next night reads the same layers
        options.progress.say(f"which layers were read again was not recorded: {error}")


def judge_build(options: NightOptions, report: RunReport, comparison: Comparison) -> Judgement:
    """Compare the build with the live one by the gates, and write the results beside its record."""
    store, now, old, new = options.store, options.clock(), comparison.old, comparison.new
    files, past = read_quarantine(store), read_past(store, new.as_of)
    days = {(file.table, file.day) for file in files if file.verdict != ACCEPTED}

    def judged(with_old: Comparison) -> Judgement:
        return judge(
            with_old,
            now=now,
            thresholds=options.thresholds,
            forced=options.forced,
            days_left_out=days,
            max_age=options.max_age,
            past=past,
        )

    def judged_by(other: Build) -> Judgement:
        with compare(other, new, ONE_THREAD) as with_other:
            return judged(with_other)

    judgement = judged(comparison)
    if old:
        judgement, before = pass_way_back(store, judgement, old.id, judged_by)
        if before:
            options.progress.say(f"{old.id} was live although gates refused it: compared with {before} as well")
        accepted = [file for file in files if file.verdict == ACCEPTED]
        judgement, believed = pass_accepted(store, judgement, new, old, accepted, judged_by)
        if believed:
            options.progress.say(
                f"accepted days came in: compared with {believed}, which had the last of them, as well"
            )
        judgement = force_accepted(judgement, new, old, {file.key.whole for file in accepted})
    write_judgement(store, new.id, judgement, run=options.run, now=now)
    report.judgement = judgement
    for verdict in judgement.verdicts:
        if verdict.breached:
            options.progress.say(verdict.line() + (": forced" if verdict.forced else ""))
    for remark in judgement.remarks:
        options.progress.say(f"strange: {remark.message}")
    return judgement


def hold_refused_files(
    options: NightOptions, comparison: Comparison, build: str, judgement: Judgement
) -> list[QuarantinedFile]:
    """Put the day files that the breached gates judged in quarantine, and return them.

    If some games breach the gates by themselves, and others do not, only the rows of the former are held.
    """
    store, now = options.store, options.clock()
    if comparison.old is None or not judgement.breaches:
        return []
    past = read_past(store, comparison.new.as_of)
    guilty = breached_by_game(comparison, judgement, past=past, now=now)
    refused = refused_files(judgement, comparison.new, comparison.old, guilty)
    try:
        return hold(store, refused, build=build, run=options.run, now=now) if refused else []
    except EdgeError as error:  # the gates refuse the build in any case
        options.progress.say(f"no file was put in quarantine: {error}")
        return []


def check_may_publish(
    options: NightOptions,
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
        HoldError: A rollback holds it back.
    """
    location = options.store.location
    if judgement.breaches:
        lines = judgement.in_short(f"`cardpress show {build} --store {location}`")
        publishing = f"if the data is right, `cardpress publish {build} --store {location}` publishes it"
        way_out = describe_waiting(held, location) if held else f"{publishing}, otherwise correct the lake"
        raise GateError(f"{build} was built but not published: {lines}; {way_out}")
    if pointer and (cause := why_held(pointer, build, location)):
        raise HoldError(f"{build} was built and passed all gates but was not published: {cause}")


def publish_build(options: NightOptions, report: RunReport, build: str, comparison: Comparison | None) -> None:
    """Make the build the live one."""
    publish(options.store, build, by_hand=False, comparison=comparison, clock=options.clock)


def smoke_test_build(options: NightOptions, report: RunReport, build: str) -> None:
    """Answer requests from the published build, and roll back if one fails and no damaged layer is the reason.

    Raises:
        SmokeError: One failed, and the build before is live again.
        RollbackError: One failed, and the build stayed live.
    """
    try:
        try:
            smoke_test(options.store, build)
        except SmokeError as error:
            options.progress.say(f"{error}; this run reads every layer and repairs it")
            repair_builds(options, report, None)
            smoke_test(options.store, build)
    except (GeneratorError, EdgeError) as error:
        try:
            live = rollback(options.store, only_from=build, clock=options.clock)
        except GeneratorError as failed:
            raise RollbackError(f"{build} is live and fails its smoke test: {error}; {failed}") from error
        raise SmokeError(f"{build} failed its smoke test and was rolled back, {live} is live: {error}") from error
    report.outcome = PUBLISHED
    options.progress.say(f"published: {build} is live")


def export_build(options: NightOptions, report: RunReport, build: str, target: str) -> None:
    """Bring the tree of plain files to the live build. If that fails, the build stays live.

    Raises:
        ExportError: It failed.
    """
    try:
        opened = open_build(ReadAhead(options.store), build)
        result = export(opened, target, gzip=False, progress=options.progress)
    except (GeneratorError, EdgeError, OSError) as error:
        raise ExportError(f"{build} is live, but {target} was not brought up to date: {error}") from error
    report.exported = {"target": target, **asdict(result)}
    options.progress.say(f"exported: {result.written:,} files written to {target}, {result.deleted:,} deleted")


def prune_store(options: NightOptions, report: RunReport) -> None:
    """Delete old builds, reports and pages, and keep a reserve of the disk. Another prune may do it instead."""
    store, rules, run = options.store, options.rules, options.run
    try:
        prune_run_reports(store, settings.MAX_RUN_REPORTS, settings.MAX_RUN_PAGES)
        deletions = with_reserve(
            store, lambda: prune(store, rules, run=run, clock=options.clock, seconds=options.lease)
        )
        keep_reserve(store)
    except BusyError as error:
        options.progress.say(f"not pruned: {error}")
        return
    report.pruned = deletions.summary()
    options.progress.say(f"pruned: {describe(deletions)}")
