"""A night and its steps. Each step makes one change or one check, and notes in the night's report what it found out."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ParamSpec, TypeVar
from urllib.parse import urlencode

from flask.testing import FlaskClient

from edge_auth.api.blueprints import ENDPOINTS, client_of
from edge_auth.api.endpoint import API
from edge_auth.errors import InvalidParameter
from edge_auth.live.open_build import OpenBuild
from edge_auth.parameters import MAX_TEXT_CHARACTERS, ProductId
from generator import errors, settings
from generator.clock import Clock, timestamp
from generator.compare import gates, run_reports
from generator.compare.comparison import Comparison, compare
from generator.lake import quarantine
from generator.lake.lake import Lake, open_lake
from generator.making.make import BuildResult, make_build, plan_only
from generator.pack.verify import Rotation, verify
from generator.releases.live_tree import update_live_tree
from generator.releases.locks import keep_reserve, with_reserve
from generator.releases.prune import RetentionRules, describe, prune
from generator.releases.publish import rollback, why_held
from generator.site.api_reference import live_examples, reference
from generator.storage import layout, market
from generator.storage.builds import Build, Pointer, open_build
from generator.storage.catalogue import KINDS
from generator.storage.errors import AccessDenied, DamagedObject, StorageError, StoreError, Throttled, UnknownBuild
from generator.storage.stores.codec import decompress
from generator.storage.stores.file_cache import FileCache
from generator.storage.stores.interface import Store
from generator.terminal import Progress
from generator.threads import ONE_THREAD, USUAL, Resources
from generator.tree.export import ReadAhead, export

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_RECORDED = ("as_of", "objects", "bytes", "freshness", "left_out")


@dataclass
class Night:
    """A nightly run over a lake and a store: what it is asked to do, and what it found out."""

    run: str
    lake: str
    store: Store
    clock: Clock
    progress: Progress
    thresholds: dict[str, float] = field(default_factory=dict)  # by gate, instead of the defaults
    max_age: dict[str, int] = field(default_factory=dict)  # by table: how many days old its newest row may be
    forced: tuple[str, ...] = ()  # gates that do not stop this build
    rules: RetentionRules = field(default_factory=RetentionRules)
    resources: Resources = USUAL
    scheduler: str | None = None
    lease: float = settings.LEASE_SECONDS  # for which the lock of a bucket outlives a killed run
    pages: bool = False
    objects: str | None = None  # which plain objects the store's tree has; None: as it has
    export: str | None = None  # where a tree of plain files is kept up to date
    expect_day: str | None = None  # `YYYY-MM-DD`, which the data must reach by this run
    reread_days: int = settings.REREAD_DAYS  # within which every layer is read again; 0 for never
    report: run_reports.RunReport = field(init=False)
    tree_line: str = field(init=False, default="")  # what is said of the plain objects at the end
    comparison: Comparison | None = field(init=False, default=None)  # the last one; publish and pages read it too

    def __post_init__(self) -> None:
        self.report = run_reports.RunReport(self.run, self.lake, self.store.location, timestamp(self.clock()))
        self._failed: list[tuple[str, BaseException]] = []

    def step(
        self, name: str, function: Callable[_Arguments, _Result], *given: _Arguments.args, **named: _Arguments.kwargs
    ) -> _Result:
        """Run a step and time it."""
        started = time.perf_counter()
        try:
            return function(*given, **named)
        except BaseException as error:
            self._failed.append((name, error))
            raise
        finally:
            self.report.seconds[name] = round(time.perf_counter() - started, 3)
            self.progress.say(f"{name}: {self.report.seconds[name]:.1f} s")

    def failed_step(self, error: BaseException) -> str | None:
        """Return the step that an error, or what SIGTERM made of it, comes from; or None."""
        return next((name for name, raised in self._failed if raised in (error, error.__cause__)), None)

    def compare_with(self, comparison: Comparison | None) -> None:
        """Keep a comparison instead of the one before."""
        if self.comparison:
            self.comparison.db.close()
        self.comparison = comparison


def make_new_build(night: Night, rotation: Rotation | None, make_room: Callable[[], None]) -> str:
    """Make a build. On a full disk, make room first; if a layer is damaged, read all of them and repair it."""
    say, store, report = night.progress.say, night.store, night.report
    try:
        result = _make(night, rotation=rotation)
    except errors.SpaceError as error:
        say(f"{error}: this run prunes, then tries again")
        make_room()
        result = _make(night, rotation=rotation)
    except (errors.DamageError, DamagedObject) as error:
        say(f"{error}; this run reads every layer and repairs it")
        result = _make(night, repair=True)
    _note_repaired(night, result.damaged)
    report.build, report.made, report.layer_seconds = result.id, result.made, result.seconds
    report.record = {name: value for name, value in result.record.items() if name in _RECORDED}
    report.held = quarantine.held_games(store, result.record)
    if waiting := quarantine.waiting_files(store, result.record):
        say(quarantine.count_waiting(waiting, store.location))
    return result.id


def remake_build(night: Night, make_room: Callable[[], None]) -> str:
    """Make the build again, without what was put in quarantine meanwhile, and verify what was made."""
    build = make_new_build(night, None, make_room)
    verify_build(night, build)
    return build


def repair_builds(night: Night, live: str | None) -> None:
    """Read every layer of the new build and of the live one, and make the damaged ones again.

    If lake or program have changed since the live build was made, only the layers that both builds have are repaired.
    """
    damaged = _make(night, repair=True).damaged
    if live:
        day = date.fromisoformat(layout.day_of(live))
        if plan_only(_open_lake(night, day), night.store).build == live:
            damaged = damaged | _make(night, repair=True, as_of=day).damaged
    _note_repaired(night, damaged)


def _note_repaired(night: Night, damaged: Mapping[str, str]) -> None:
    night.report.damaged |= damaged
    for layer, why in damaged.items():
        night.progress.say(f"{layer} was damaged and was made again: {why}")


def _make(
    night: Night, *, rotation: Rotation | None = None, repair: bool = False, as_of: date | None = None
) -> BuildResult:
    """Make a build. That of all days shows which held files the lake still has."""
    result = make_build(
        _open_lake(night, as_of),
        night.store,
        resources=night.resources,
        scheduler=night.scheduler,
        progress=night.progress,
        repair=repair,
        rotation=rotation,
        clock=night.clock,
    )
    if as_of is None:
        quarantine.note_lake(night.store, open_build(night.store, result.id))
    return result


def _open_lake(night: Night, as_of: date | None) -> Lake:
    skipped = quarantine.skipped_by_builds(night.store, settings.GATES | night.thresholds, night.forced)
    return open_lake(night.lake, as_of, progress=night.progress, left_out=skipped)


def verify_build(night: Night, build: str) -> None:
    """Compare the layers that the night made with their hashes."""
    verify(open_build(night.store, build), night.progress, only=night.report.made)


def save_rotation(night: Night, rotation: Rotation, build: str) -> None:
    """Record which layers of earlier nights were read again."""
    night.report.reread, night.report.reread_bytes = rotation.read, rotation.bytes
    try:
        rotation.save(open_build(night.store, build).layers.values(), night.report.made)
    except StorageError as error:  # the next night reads the same layers
        night.progress.say(f"which layers were read again was not recorded: {error}")


def judge_build(night: Night, build: str, pointer: Pointer | None) -> list[quarantine.QuarantinedFile]:
    """Judge the build by the gates, and hold what they refuse: return the files that were put in quarantine.

    It is compared with the live build. If that one is damaged for good, it is compared with the last sound one.
    """
    live, previous = (pointer.build, pointer.previous) if pointer else (None, [])
    try:
        return _judge_against(night, build, live)
    except (errors.DamageError, StoreError) as error:
        if isinstance(error, AccessDenied | Throttled) or errors.is_disk_full(error):
            raise
        damage = errors.message_of(error)
    night.progress.say(f"{damage}; this run reads every layer and repairs it")
    night.step("repair", repair_builds, night, live)
    for other in (live, *previous):
        with suppress(errors.DamageError, StoreError, UnknownBuild):
            held = _judge_against(night, build, other)
            if other != live:
                night.progress.say(f"{live} stays damaged, as lake or program have changed: compared with {other}")
            return held
    raise errors.BuildError(
        f"{build} was built but not published, because there is nothing to compare it with: {damage}; "
        f"`cardpress publish {build} --store {night.store.location}` publishes it without gates"
    )


def _judge_against(night: Night, build: str, other: str | None) -> list[quarantine.QuarantinedFile]:
    store = ReadAhead(night.store)
    old, new = open_build(store, other) if other else None, open_build(store, build)
    comparison = Comparison(old, new, night.resources)
    night.compare_with(comparison)
    past = run_reports.read_past(night.store, comparison.new.as_of)
    judgement = _judge(night, comparison, past)
    guilt = gates.breached_by_game(comparison, judgement) if old and judgement.breaches else None
    judgement = gates.told_once(judgement, guilt.games) if guilt else judgement
    run_reports.write_judgement(night.store, build, judgement, run=night.run, now=night.clock())
    night.report.judgement = judgement
    for verdict in judgement.verdicts:
        if verdict.breached:
            night.progress.say(verdict.line() + (": forced" if verdict.forced else ""))
    for remark in judgement.remarks:
        night.progress.say(f"strange: {remark.message}")
    return _hold_refused(night, comparison, judgement, guilt, gates.held_ratios(comparison, past)) if guilt else []


def _judge(night: Night, comparison: Comparison, past: run_reports.Past) -> run_reports.Judgement:
    files, now = quarantine.read_quarantine(night.store), night.clock()
    left_out = {file.key for file in files if file.verdict != quarantine.ACCEPTED}
    judged = partial(
        gates.judge,
        now=now,
        thresholds=night.thresholds,
        forced=night.forced,
        left_out=left_out,
        max_age=night.max_age,
        past=past,
    )

    def judged_by(other: Build) -> run_reports.Judgement:
        with compare(other, comparison.new, ONE_THREAD) as with_other:
            return judged(with_other)

    judgement = judged(comparison)
    if comparison.old:
        accepted = [file for file in files if file.verdict == quarantine.ACCEPTED]
        judgement, said = gates.forgive(judgement, comparison.new, comparison.old, accepted, judged_by)
        for line in said:
            night.progress.say(line)
    return judgement


def _hold_refused(
    night: Night,
    comparison: Comparison,
    judgement: run_reports.Judgement,
    guilt: gates.Guilt,
    ratios: Mapping[tuple[str, str], quarantine.Ratio],
) -> list[quarantine.QuarantinedFile]:
    """Put the day files that the breached gates judged in quarantine: only the rows of the games at fault, if known."""
    assert comparison.old is not None
    now, new = night.clock(), comparison.new
    refused = gates.refused_files(judgement, new, comparison.old, guilt.held)
    try:
        return (
            quarantine.hold(night.store, refused, build=new.id, run=night.run, now=now, ratios=ratios)
            if refused
            else []
        )
    except StorageError as error:  # the gates refuse the build in any case
        night.progress.say(f"no file was put in quarantine: {error}")
        return []


def check_may_publish(
    night: Night, build: str, pointer: Pointer | None, held: Sequence[quarantine.QuarantinedFile]
) -> None:
    """Check that no gate and no rollback stops the build. `held` are the files that its gates put in quarantine."""
    location, judgement = night.store.location, night.report.judgement
    if judgement and judgement.breaches:
        lines = judgement.in_short(f"`cardpress show {build} --store {location}`")
        publishing = f"if the data is right, `cardpress publish {build} --store {location}` publishes it"
        way_out = quarantine.describe_waiting(held, location) if held else f"{publishing}, otherwise correct the lake"
        raise errors.GateError(f"{build} was built but not published: {lines}; {way_out}")
    if pointer and (cause := why_held(pointer, build, location)):
        raise errors.HoldError(f"{build} was built and passed all gates but was not published: {cause}")


def smoke_test_build(night: Night, build: str) -> None:
    """Answer requests from the published build, and roll back if one fails and no damaged layer is the reason."""
    try:
        try:
            smoke_test(night.store, build)
        except errors.SmokeError as error:
            night.progress.say(f"{error}; this run reads every layer and repairs it")
            repair_builds(night, None)
            smoke_test(night.store, build)
    except (errors.GeneratorError, StorageError) as error:
        try:
            live = rollback(night.store, only_from=build, clock=night.clock)
        except errors.GeneratorError as failed:
            raise errors.RollbackError(f"{build} is live and fails its smoke test: {error}; {failed}") from error
        raise errors.SmokeError(
            f"{build} failed its smoke test and was rolled back, {live} is live: {error}"
        ) from error
    night.report.outcome = run_reports.PUBLISHED
    night.progress.say(f"published: {build} is live")


def smoke_test(store: Store, build_id: str) -> None:
    """Answer one request of each kind from a build, as the shim does, or raise SmokeError."""
    with TemporaryDirectory(prefix="cardpress-") as folder:
        opened = OpenBuild(open_build(store, build_id, FileCache(Path(folder))))
        request, client = "its lists", client_of(opened)
        try:
            for request in _smoke_requests(opened):
                _check_answer(client, request)
        except (StorageError, ValueError, OSError, EOFError, KeyError) as error:
            raise errors.SmokeError(f"{request} cannot be answered: {error}") from error


def _check_answer(client: FlaskClient, target: str) -> None:
    """Check both encodings of an answer. Raises ValueError for an error, and for what is no JSON."""
    plain = client.get(target)
    said = json.loads(plain.data)
    if plain.status_code == InvalidParameter.status:
        return  # a fault of this program, not of the build
    if plain.status_code != 200:
        raise ValueError(said["error"]["message"])
    decompress(client.get(target, headers={"Accept-Encoding": "gzip"}).data)


def _smoke_requests(opened: OpenBuild) -> Iterator[str]:
    """Yield paths with queries: each endpoint's example, each ranking, searches, and the first and last product."""
    yield from _examples(opened)
    cards = f"{API}cards"
    for kind in KINDS:
        for sort in opened.catalogue.order:
            yield f"{cards}?kind={kind}&sort={sort}&limit=1"
    yield f"{cards}?q=a&order=asc&limit=5"
    yield f"{cards}?min_price=1&max_price=5&sort=name&limit=5"
    yield from (f"{API}movers?window={window}" for window in market.WINDOWS)
    for line in opened.rows(layout.GAMES)[:1]:
        query = urlencode({"game": json.loads(line)["name"][:MAX_TEXT_CHARACTERS]})
        yield from (f"{API}{name}?{query}" for name in ("cards", "sets", "movers", "market"))
    games = sorted(name for name in opened.market.games if len(name) <= MAX_TEXT_CHARACTERS)
    yield from (f"{API}market/history?{urlencode({'game': name})}" for name in games[:1])
    yield from (f"{API}market?by={by}&sort={sort}" for by in market.GROUPINGS for sort in market.SORTS)
    ids = opened.catalogue.ids
    yield f"{cards}?ids={','.join(map(str, ids[:3].tolist())) or 0}"
    for id_ in {int(ids.min()), int(ids.max())} if len(ids) else ():
        yield from (f"{cards}/{id_}", f"{cards}/{id_}?days=30")


def _examples(opened: OpenBuild) -> Iterator[str]:
    """Yield the example of each endpoint that a build answers, unless the build lacks what the example names."""
    live = live_examples(opened)
    named: dict[str, set[str]] = {}
    for endpoint in filter(attrgetter("of_build"), ENDPOINTS):
        ids = [name for name, one in endpoint.parameters.items() if isinstance(one.rule, ProductId)]
        named[endpoint.path] = {*endpoint.subjects, *(f"{name} of {endpoint.id}" for name in ids)}
    for operation in reference(live).operations:
        if operation.path in named and named[operation.path] <= live.values.keys():
            yield operation.example


def export_build(night: Night, build: str, target: str) -> None:
    """Bring the tree of plain files to the live build. If that fails, the build stays live."""
    try:
        opened = open_build(ReadAhead(night.store), build)
        result = export(opened, target, gzip=False, progress=night.progress)
    except (errors.GeneratorError, StorageError, OSError) as error:
        raise errors.ExportError(f"{build} is live, but {target} was not brought up to date: {error}") from error
    night.report.exported = {"target": target, **result._asdict()}
    night.progress.say(f"exported: {result.written:,} files written to {target}, {result.deleted:,} deleted")


def update_tree(night: Night) -> None:
    """Bring the plain objects of the store up to the live build. If that fails, the build stays live."""
    update = update_live_tree(
        night.store, night.objects, night.progress, run=night.run, clock=night.clock, seconds=night.lease
    )
    night.report.tree = update._asdict()
    night.tree_line = update.line()


def prune_store(night: Night) -> None:
    """Delete old builds, reports and pages, and keep a reserve of the disk. Another prune may do it instead."""
    store = night.store
    try:
        run_reports.prune_run_reports(store, settings.MAX_RUN_REPORTS, settings.MAX_RUN_PAGES)
        rules = replace(night.rules, tonight=night.report.build or "")
        sweep = partial(prune, store, rules, run=night.run, clock=night.clock, seconds=night.lease)
        deletions = with_reserve(store, sweep)
        keep_reserve(store)
    except errors.BusyError as error:
        night.progress.say(f"not pruned: {error}")
        return
    night.report.pruned = deletions.summary()
    night.progress.say(f"pruned: {describe(deletions)}")
