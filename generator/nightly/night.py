"""Runs a night: build, verify, judge by gates, publish, smoke test and prune, then write a report and pages.

A night holds the lock `private/nightly.lock`. It leaves `gates/<build>.json` (`compare.run_reports`), and a report and
pages (`compare.run_reports`). A night that is refused or fails leaves the live build as it was. The report says whether
the night moved the day of the data forward, and a day that the operator expects is checked.
"""

import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict

from generator.clock import Clock, timestamp
from generator.compare.run_reports import HELD, NOT_EXPORTED, PUBLISHED, REFUSED, ROLLED_BACK, STALE, UNCHANGED
from generator.errors import (
    BusyError,
    ExportError,
    GateError,
    GeneratorError,
    HoldError,
    PublishError,
    SmokeError,
    StaleError,
    is_signal,
    message_of,
)
from generator.lake.quarantine import describe_waiting, held_games, read_quarantine
from generator.nightly import steps
from generator.nightly.monitoring import Notices
from generator.nightly.steps import Night
from generator.pack.verify import Rotation
from generator.reading.report import pages_of
from generator.releases.locks import Lock, end_by_error, free_reserve_if_full, hold_back, locked, with_reserve
from generator.releases.publish import publish
from generator.storage import layout
from generator.storage.builds import BuildRecord, Pointer, live_build_id, open_build, read_pointer
from generator.storage.errors import DamagedObject, NoLiveBuild, OtherVersion, StorageError
from generator.storage.stores.interface import Store

_FAILURES = (GeneratorError, StorageError, OSError, MemoryError)
# The outcomes of a night that decided against its build. After any other error, the outcome stays as it was.
_OUTCOMES: dict[type[Exception], str] = {
    GateError: REFUSED,
    HoldError: HELD,
    SmokeError: ROLLED_BACK,
    ExportError: NOT_EXPORTED,
    StaleError: STALE,
}


def new_run_id(clock: Clock) -> str:
    """Return the id of a new run. Ids sort by time, also those of runs that begin in the same second."""
    now = clock()
    return f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03}Z-{secrets.token_hex(3)}"


def run_night(night: Night, notices: Notices) -> None:
    """Run a night and write its report, also if the night fails. A BusyError means that another night is running."""
    free_reserve_if_full(night.store)
    lock = locked(night.store, layout.NIGHTLY_LOCK, run=night.run, clock=night.clock, seconds=night.lease)
    with hold_back(), lock as held_lock:
        with_pages = night.pages
        try:
            with end_by_error("night"):
                night.progress.say(f"nightly of {night.lake} into {night.store.location}")
                notices.start(night.run, night.progress)
                _run_steps(night, held_lock)
        except BaseException as error:
            night.report.failed_step = night.failed_step(error)
            named = _with_step(night, error) if isinstance(error, _FAILURES) else error
            night.report.error = message_of(named) if isinstance(error, _FAILURES) or is_signal(error) else repr(error)
            with_pages &= not is_signal(error)  # which has to end soon
            if named is error:
                raise
            raise named from error
        finally:
            try:
                _write_report(night)
                if with_pages:
                    _write_pages(night)
            finally:
                night.compare_with(None)
                notices.finish(night.report, night.progress)


def _with_step(night: Night, error: Exception) -> Exception:
    """Return an error that names the step that failed, unless it says what was decided instead."""
    step, report = night.report.failed_step, night.report
    if step is None or isinstance(error, PublishError | BusyError | StaleError) or is_signal(error):
        return error
    live = f"; {report.build} is live" if report.outcome == PUBLISHED else ""
    return GeneratorError(f"the step {step} failed: {message_of(error)}{live}")


def _run_steps(night: Night, lock: Lock) -> None:
    def prune() -> None:
        lock.check()
        night.step("prune", steps.prune_store, night)

    report = night.report
    _require_same_version(night.store)
    report.data_day_before = _data_day(_live_record(night.store))
    rotation = Rotation(night.store, night.reread_days, night.clock) if night.reread_days else None
    build = night.step("build", steps.make_new_build, night, rotation, prune)
    night.step("verify", steps.verify_build, night, build)
    if rotation:
        steps.save_rotation(night, rotation, build)
    pointer, _ = read_pointer(night.store)
    report.live_before = pointer.build if pointer else None
    try:
        _bring_live(night, build, pointer, lock, prune)
        _check_day(night)
    except (GeneratorError, StorageError) as error:
        report.outcome = _OUTCOMES.get(type(error), report.outcome)
        raise
    finally:
        prune()  # also after a refused build, which fills the disk too


def _bring_live(night: Night, build: str, pointer: Pointer | None, lock: Lock, prune: Callable[[], None]) -> None:
    if pointer and build == pointer.build:
        night.report.outcome = UNCHANGED
        night.progress.say(f"{build} is live already: nothing to publish")
    else:
        held = night.step("gates", steps.judge_build, night, build, pointer)
        if any(file.game is not None for file in held):  # the other games' day is good
            night.progress.say(describe_waiting(held, night.store.location))
            build = night.step("rebuild", steps.remake_build, night, prune)
            held = night.step("gates", steps.judge_build, night, build, pointer)
        steps.check_may_publish(night, build, pointer, held)
        lock.check()
        night.step(
            "publish", publish, night.store, build, by_hand=False, comparison=night.comparison, clock=night.clock
        )
        night.step("smoke", steps.smoke_test_build, night, build)
    try:
        if night.export is not None:
            night.step("export", steps.export_build, night, build, night.export)
    finally:
        night.step("tree", steps.update_tree, night)


def _check_day(night: Night) -> None:
    """Say whether the data advanced, and raise StaleError if it is older than the day that is expected."""
    _note_day(night)
    report = night.report
    if not report.advanced:
        night.progress.say(f"the data did not advance: its newest day is {report.data_day}, as before")
    if night.expect_day and (report.data_day or "") < night.expect_day:
        raise StaleError(
            f"the price guide of the live build {report.live} is of {report.data_day}, but {night.expect_day} was "
            "expected: import the missing day, then run the night again"
        )


def _write_report(night: Night) -> None:
    """Complete the report with what is live now, and write it. After a failed night that night's error matters more."""
    report, store = night.report, night.store
    try:
        _note_day(night)
        live = _live_record(store)
        report.games = live["games"] if live else []
        with suppress(StorageError):  # a damaged one has failed the night
            report.quarantine = [asdict(file) for file in read_quarantine(store) if file.waits]
        if report.build is None and live:  # it failed before it read the quarantine
            report.held = held_games(store, live)
        report.finished = timestamp(night.clock())
        data = json.dumps(report.to_json(), indent=1, ensure_ascii=False, default=str).encode()
        with_reserve(store, lambda: store.put(f"{layout.REPORTS}{report.run}.json", data + b"\n"))
    except _FAILURES as error:
        night.progress.say(f"the report was not written: {message_of(error)}")
        if report.error is None:
            report.error = message_of(error)
            raise


def _write_pages(night: Night) -> None:
    """Write the pages of a build that was not live before, published or not. SIGTERM ends only this."""
    report = night.report
    if report.build is None or report.outcome == UNCHANGED:
        return
    try:
        with end_by_error("night"):
            new = open_build(night.store, report.build)
            old = open_build(night.store, report.live_before) if report.live_before else None
            pages = pages_of(new, old, night.clock, night.resources, night.progress, made=night.comparison)
            for name, data in pages.items():
                night.store.put(layout.page_name(report.run, name), data)
        night.progress.say(f"pages: {layout.page_name(report.run, '')}")
    except _FAILURES as error:  # missing pages are no reason to fail a night
        night.progress.say(f"the pages were not written: {error}")


def _live_record(store: Store) -> BuildRecord | None:
    """Return the record of the live build; None without a sound one."""
    with suppress(NoLiveBuild, DamagedObject):
        return open_build(store, live_build_id(store)).record
    return None


def _data_day(live: BuildRecord | None) -> str | None:
    """Return the newest day of a build's price guide, or else its as-of day."""
    return live and (live["freshness"]["catalogue"]["price_guide_day"] or live["as_of"])


def _require_same_version(store: Store) -> None:
    """Raise OtherVersion if the live build is of one: the gates could not compare with it."""
    try:
        open_build(store, live_build_id(store))
    except OtherVersion:
        raise
    except (NoLiveBuild, StorageError):  # the steps say what they miss
        return


def _note_day(night: Night) -> None:
    report = night.report
    pointer, _ = read_pointer(night.store)
    report.live = pointer.build if pointer else None
    report.data_day = _data_day(_live_record(night.store))
    report.advanced = (report.data_day or "") > (report.data_day_before or "")
