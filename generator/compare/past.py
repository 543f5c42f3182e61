"""What a night is compared with beside the live build: a build of a week before, and what nights usually change."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import median

from edge_auth.builds import layer_names, layout
from edge_auth.builds.builds import Build, open_build
from edge_auth.builds.catalogue import PRICES
from edge_auth.builds.pointer import Pointer, read_pointer
from edge_auth.errors import EdgeError
from edge_auth.store.interface import Store
from generator import settings
from generator.compare.judgements import breached_gates
from generator.compare.run_reports import earlier_nights
from generator.errors import DamageError
from generator.pack.verify import checked_file


@dataclass(frozen=True)
class Past:
    """The nights before a night.

    Attributes:
        week: A build that was live about a week before, or None.
        before: The build that was live before the live one, or None.
        usual_changes: How many trends change on the middle one of the last nights, or None if there are too few nights.
    """

    week: Build | None = None
    before: Build | None = None
    usual_changes: float | None = None


NO_PAST = Past()


def read_past(store: Store, as_of: date) -> Past:
    """Return what the store has of the nights before a day."""
    changes = [figures["trends_changed"] for _, figures in earlier_nights(store, as_of, settings.USUAL_NIGHTS)]
    pointer, _ = read_pointer(store)
    before = _open(store, pointer.previous[0]) if pointer and pointer.previous else None
    usual = median(changes) if len(changes) >= settings.ENOUGH_NIGHTS else None
    return Past(_week_before(pointer, store, as_of), before, usual)


def _week_before(pointer: Pointer | None, store: Store, as_of: date) -> Build | None:
    """Return a build that was live about a week before, unless prices that a gate refused went live since.

    A person decided about these, so what was before them says nothing about tonight.
    """
    latest = (as_of - timedelta(days=settings.WEEK_DAYS)).isoformat()
    if pointer is None or _refused(store, pointer.build):
        return None
    for build in pointer.previous:
        if _refused(store, build):
            return None
        if layout.day_of(build) <= latest and (opened := _open(store, build)):
            return opened
    return None


def _refused(store: Store, build: str) -> bool:
    """Return whether a gate refused the prices of a build."""
    return any("price_guide" in tables for tables in breached_gates(store, build).values())


def _open(store: Store, build: str) -> Build | None:
    """Return a build whose prices can be read; None for one that was pruned or is damaged."""
    with suppress(EdgeError, DamageError):
        opened = open_build(store, build)
        checked_file(opened.layers[layer_names.CATALOGUE], PRICES)
        return opened
    return None
