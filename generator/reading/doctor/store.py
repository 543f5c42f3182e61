"""Whether a store can be read and written as commands need it, and whether the live build is whole and not old."""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from edge_auth.contract import layout
from edge_auth.contract.builds import Build, open_build, read_pointer
from edge_auth.contract.store.interface import Store
from edge_auth.contract.store.open import open_store
from edge_auth.contract.text import UNICODE_VERSION
from edge_auth.errors import Conflict, EdgeError
from generator import settings
from generator.clock import Clock, unix
from generator.reading.doctor.findings import Finding, ok, problem, warning
from generator.reading.overview import sources
from generator.releases.run_reports import HELD, PUBLISHED, UNCHANGED, newest_report
from generator.releases.verify import visible_damage

_PROBE = "probe"
_SHOWS = "`cardpress show` says more"


def check_store(store: Store, clock: Clock) -> Iterator[Finding]:
    """Reading: the store, its records, the pointer and the build that it names."""
    folder = store.local_path("")
    if folder is not None and not folder.is_dir():
        yield problem("store", f"{store.location} is not there", f"name another --store, or {_publish(store, [])}")
        return
    names = list(store.list(layout.BUILDS))
    yield ok("store", f"{store.location}: {len(names)} builds")
    yield from _room(folder)
    yield from _records(store, names)
    pointer, _ = read_pointer(store)
    if pointer is None:
        yield problem("live", f"no build is live in {store.location}", _publish(store, names))
        return
    live = open_build(store, pointer.build)
    yield from _live(live, clock)
    if pointer.hold:
        told = f"a rollback to {pointer.build} holds publishing back"
        yield warning("hold", told, f"`cardpress publish BUILD --store {store.location}` when the lake is mended")
    yield from _sources(live, clock)
    yield from _night(store)


def _room(folder: Path | None) -> Iterator[Finding]:
    if folder is not None and (free := shutil.disk_usage(folder).free) < settings.ROOM_BYTES:
        yield warning("disk", f"{free / 1e6:,.0f} MB are free", "make room, or `cardpress prune --keep N`")


def _publish(store: Store, names: list[str]) -> str:
    if names:
        newest = layout.id_of(max(names))
        return f"`cardpress publish {newest} --store {store.location}`"
    return f"`cardpress build --lake LAKE --store {store.location} --publish`"


def _records(store: Store, names: list[str]) -> Iterator[Finding]:
    """Each record against the id that it vouches for."""
    broken = []
    for name in names:
        try:
            open_build(store, layout.id_of(name))
        except EdgeError as error:
            broken.append(str(error))
    if broken:
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        yield problem("records", broken[0] + more, "build that day again, or prune")


def _live(live: Build, clock: Clock) -> Iterator[Finding]:
    damaged = next(filter(None, map(visible_damage, live.layers.values())), None)
    if damaged:
        again = f"`cardpress build --as-of {live.as_of} --repair` from the same lake, or `cardpress rollback`"
        yield problem("live", f"{live.id}: {damaged}", again)
    elif live.as_of > clock().date():
        told = f"{live.id} speaks for a day that lies ahead of this machine's clock ({clock():%Y-%m-%d} in UTC)"
        yield problem("live", told, "set the clock, or look for a partition of the future in the lake")
    elif (made := live.record["versions"])["unicode"] != UNICODE_VERSION:
        told = f"{live.id} was made by Python {made['python']}, Unicode {made['unicode']}, here is {UNICODE_VERSION}"
        yield warning("live", told, "run the same Python minor version everywhere, or searches may differ")
    else:
        yield ok("live", f"{live.id}, {len(live.layers)} layers, all files there")


def _sources(live: Build, clock: Clock) -> Iterator[Finding]:
    late = [source for source in sources(live.record, clock) if source.late]
    if late:
        told = ", ".join(f"{source.table} ({(source.age_hours or 0) / 24:,.1f} days)" for source in late)
        yield warning("sources", f"old in the live build: {told}", "see what writes the lake, and the last nights")
    else:
        yield ok("sources", f"as of {live.as_of}, none is late")


def _night(store: Store) -> Iterator[Finding]:
    night = newest_report(store)
    if night and night["outcome"] in (PUBLISHED, UNCHANGED):
        yield ok("night", f"{night['run']}: {night['outcome']}")
    elif night:
        advice = "`cardpress publish BUILD` lifts the hold" if night["outcome"] == HELD else _SHOWS
        yield warning("night", f"{night['run']}: {night['outcome']}, {night['error']}", advice)


def check_writing(location: str, clock: Clock) -> Iterator[Finding]:
    """Writing, comparing and swapping, below a prefix of our own, which is gone afterwards; and the store's clock."""
    probe = open_store(f"{location.rstrip('/')}/private/doctor-{secrets.token_hex(6)}")
    try:
        probe.swap(_PROBE, b"1", None)
        yield from _swaps(probe)
        [entry] = probe.entries(_PROBE)
        apart = abs(unix(entry.modified) - clock())
        if apart > timedelta(seconds=settings.CLOCK_SECONDS):
            told = f"this machine and the store are {apart.total_seconds():,.0f} s apart"
            yield problem("clock", told, "synchronise the clock (NTP): locks and limits go by it")
        else:
            yield ok("clock", f"{clock():%Y-%m-%d %H:%M:%S} UTC, as the store's")
    finally:
        _clean(probe)


def _swaps(probe: Store) -> Iterator[Finding]:
    found = probe.get_versioned(_PROBE)
    probe.swap(_PROBE, b"2", found.etag if found else None)
    try:
        probe.swap(_PROBE, b"3", found.etag if found else None)
    except Conflict:
        yield ok("writing", "writes, and compares before it swaps")
    else:
        yield problem("writing", "a conditional write that had to fail did not", "use a store that honours If-Match")


def _clean(probe: Store) -> None:
    folder = probe.local_path("")
    if folder is None:
        probe.delete([_PROBE])
        return
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # it holds other things than our probe
        folder.parent.rmdir()
