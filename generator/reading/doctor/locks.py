"""Checks the locks of a store: a lock of a run whose clock was ahead blocks the others until that time comes."""

from collections.abc import Iterator
from datetime import timedelta

from edge_auth.builds import layout
from edge_auth.store.interface import Store
from generator import settings
from generator.clock import Clock, parse_timestamp
from generator.reading.doctor.findings import Finding, ok, problem
from generator.releases.lease import Holder, current_holder


def check_locks(store: Store, clock: Clock) -> Iterator[Finding]:
    """Report the locks that are held, and those whose time lies in the future."""
    for name in (layout.NIGHTLY_LOCK, layout.PRUNE_LOCK):
        holder = current_holder(store, name, clock)
        if holder:
            yield _finding(name, holder, clock)


def _finding(name: str, holder: Holder, clock: Clock) -> Finding:
    run = f"run {holder['run']} on {holder['host']} (process {holder['pid']})"
    future = clock() + timedelta(seconds=settings.MAX_CLOCK_DIFFERENCE_SECONDS)
    if parse_timestamp(holder["since"]) > future or parse_timestamp(holder["expires"]) > future + settings.MAX_LEASE:
        message = f"{name} is of a run whose clock was ahead: {run} since {holder['since']}, until {holder['expires']}"
        return problem("lock", message, "set that clock, then `cardpress unlock`; until then other runs are refused")
    return ok("lock", f"{name} is held by {run} since {holder['since']}")
