"""Checks a store: that it can be read and written, and that the live build is complete and not old."""

import secrets
import shlex
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

from edge_auth.builds import layout
from edge_auth.builds.builds import Build, open_build, read_pointer
from edge_auth.errors import Conflict, EdgeError
from edge_auth.store.interface import Store
from edge_auth.store.open import open_store
from edge_auth.text import UNICODE_VERSION
from generator import settings
from generator.clock import Clock, from_unix_time, parse_timestamp
from generator.compare.judgements import late_sources
from generator.compare.run_reports import HELD, PUBLISHED, REFUSED, UNCHANGED, newest_report
from generator.errors import BuildError
from generator.lake.quarantine import read_quarantine, waiting_in_short
from generator.pack.verify import visible_damage
from generator.reading.doctor.findings import Finding, ok, problem, warning
from generator.reading.overview import last_failed_night, source_ages, undone_decisions
from generator.releases.change_documents import verify_steps
from generator.releases.locks import Holder, current_holder


def _lock(name: str, holder: Holder, clock: Clock) -> Finding:
    run = f"run {holder['run']} on {holder['host']} (process {holder['pid']})"
    future = clock() + timedelta(seconds=settings.MAX_CLOCK_DIFFERENCE_SECONDS)
    expires = holder.get("expires")  # in a bucket
    times = expires and (parse_timestamp(holder["since"]), parse_timestamp(expires) - settings.MAX_LEASE)
    if times and max(times) > future:
        message = f"{name} is of a run whose clock was ahead: {run} since {holder['since']}, until {expires}"
        advice = "set that clock, then `cardpress unlock --force`; until then other runs are refused"
        return problem("lock", message, advice)
    return ok("lock", f"{name} is held by {run} since {holder['since']}")


_PROBE = "probe"


def check_store(store: Store, clock: Clock) -> Iterator[Finding]:
    """Check by reading: the store, its records, the pointer and the live build."""
    folder = store.local_path("")
    if folder is not None and not folder.is_dir():
        advice = f"pass another --store, or {_how_to_publish(store, [])}"
        yield problem("store", f"{store.location} does not exist", advice)
        return
    records = list(store.list(layout.BUILDS))
    yield ok("store", f"{store.location}: {len(records)} build{'s' * (len(records) != 1)}")
    if folder is not None and (free := shutil.disk_usage(folder).free) < settings.MIN_FREE_BYTES:
        yield warning("disk", f"{free / 1e6:,.0f} MB are free", "free some space, or `cardpress prune --keep N`")
    yield from _check_records(store, records)
    for name in (layout.NIGHTLY_LOCK, layout.PRUNE_LOCK):
        if holder := current_holder(store, name, clock):
            yield _lock(name, holder, clock)
    pointer, _ = read_pointer(store)
    if pointer is None:
        yield problem("live", f"no build is live in {store.location}", _how_to_publish(store, records))
        return
    live = open_build(store, pointer.build)
    yield from _check_live_build(live, clock)
    if pointer.hold:
        message = f"a rollback to {pointer.build} holds publishing back"
        yield warning("hold", message, f"`cardpress publish BUILD --store {store.location}` when the lake is fixed")
    try:
        verify_steps(store)
    except BuildError as error:
        yield warning("changes", *str(error).split(": ", 1))
    yield from _check_sources(live, clock)
    yield from _check_quarantine(store, live)
    yield from _check_last_night(store)


def _how_to_publish(store: Store, records: list[str]) -> str:
    if records:
        newest = layout.id_of(max(records))
        return f"`cardpress publish {newest} --store {store.location}`"
    return f"`cardpress build --lake LAKE --store {store.location} --publish`"


def _check_records(store: Store, records: list[str]) -> Iterator[Finding]:
    pointer, _ = read_pointer(store)
    errors = []
    for name in sorted(records, key=lambda name: pointer is None or layout.id_of(name) != pointer.build):
        try:
            open_build(store, layout.id_of(name))
        except EdgeError as error:
            errors.append(f"{error} (live)" if pointer and layout.id_of(name) == pointer.build else str(error))
    if errors:
        more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        command = "rollback" if errors[0].endswith("(live)") else "prune"
        then = " sets it aside" if command == "prune" else ""
        advice = f"`cardpress {command} --store {shlex.quote(store.location)}`{then}"
        yield problem("records", errors[0] + more, advice)


def _check_live_build(live: Build, clock: Clock) -> Iterator[Finding]:
    damage = next(filter(None, map(visible_damage, live.layers.values())), None)
    if damage:
        advice = f"`cardpress build --as-of {live.as_of} --repair` from the same lake, or `cardpress rollback`"
        yield problem("live", f"{live.id}: {damage}", advice)
    elif live.as_of > clock().date():
        message = f"the as-of day of {live.id} is later than today on this machine ({clock():%Y-%m-%d} in UTC)"
        yield problem("live", message, "set the clock, or look for a partition of the future in the lake")
    elif (versions := live.record["versions"])["unicode"] != UNICODE_VERSION:
        message = (
            f"{live.id} was made by Python {versions['python']} with Unicode {versions['unicode']}, "
            f"this Python has Unicode {UNICODE_VERSION}"
        )
        yield warning("live", message, "run the same Python minor version everywhere, or searches may differ")
    else:
        yield ok("live", f"{live.id}, {len(live.layers)} layers, no file is missing")


def _check_sources(live: Build, clock: Clock) -> Iterator[Finding]:
    if found := late_sources(live.store, live.id):
        yield warning("sources", found, "check the jobs that write these tables")
    late = [source for source in source_ages(live.record, clock) if source.late]
    if late:
        tables = ", ".join(f"{source.table} ({(source.age_hours or 0) / 24:,.1f} days)" for source in late)
        advice = "check the jobs that write the lake, and the last nights"
        yield warning("sources", f"old in the live build: {tables}", advice)
    else:
        yield ok("sources", f"as of {live.as_of}, none is late")


def _check_quarantine(store: Store, live: Build) -> Iterator[Finding]:
    if waiting := [file for file in read_quarantine(store) if file.waits]:
        yield warning("quarantine", *waiting_in_short(waiting, store.location).split("; ", 1))
    if undone := undone_decisions(store, live.record):
        yield warning("quarantine", *undone.split(": ", 1))


def _check_last_night(store: Store) -> Iterator[Finding]:
    night = newest_report(store)
    if night and night["outcome"] in (PUBLISHED, UNCHANGED) and night.get("held"):
        advice = f"`cardpress quarantine list --store {store.location}`"
        yield warning("night", f"{night['held']}; {night['run']}: {night['outcome']}", advice)
    elif night and night["outcome"] in (PUBLISHED, UNCHANGED):
        yield ok("night", f"{night['run']}: {night['outcome']}")
    elif night and (failed := last_failed_night(store)) and night["outcome"] == REFUSED:
        seen, why, *steps = failed.sentences
        yield warning("night", f"{night['run']}: {seen}; {why}", "; ".join(steps))
    elif night:
        held = night["outcome"] == HELD
        advice = "`cardpress publish BUILD` lifts the hold" if held else "`cardpress show` says more"
        yield warning("night", f"{night['run']}: {night['outcome']}, {night['error']}", advice)


def check_writing(location: str, clock: Clock) -> Iterator[Finding]:
    """Check writing, conditional writing and the store's clock, with a probe that is deleted afterwards."""
    probe = open_store(f"{location.rstrip('/')}/{layout.PRIVATE}doctor-{secrets.token_hex(6)}")
    try:
        probe.swap(_PROBE, b"1", None)
        yield from _check_swaps(probe)
        [entry] = probe.entries(_PROBE)
        difference = abs(from_unix_time(entry.modified) - clock())
        if difference > timedelta(seconds=settings.MAX_CLOCK_DIFFERENCE_SECONDS):
            message = f"the clocks of this machine and of the store differ by {difference.total_seconds():,.0f} s"
            yield problem("clock", message, "synchronise the clock (NTP): locks and limits depend on it")
        else:
            yield ok("clock", f"{clock():%Y-%m-%d %H:%M:%S} UTC, the same as the store's")
    finally:
        _delete_probe(probe)


def _check_swaps(probe: Store) -> Iterator[Finding]:
    current = probe.get_versioned(_PROBE)
    etag = current.etag if current else None
    probe.swap(_PROBE, b"2", etag)
    try:
        probe.swap(_PROBE, b"3", etag)
    except Conflict:
        yield ok("writing", "the store can be written to and honours conditional writes")
    else:
        message = "a conditional write succeeded although its condition was not met"
        yield problem("writing", message, "use a store that honours If-Match")


def _delete_probe(probe: Store) -> None:
    folder = probe.local_path("")
    if folder is None:
        probe.delete([_PROBE])
        return
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # the parent is not empty
        folder.parent.rmdir()
