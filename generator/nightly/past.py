"""What a night is compared with beside the live build: a build of a week before, and what nights usually change."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import median

from edge_auth.contract import layer_names, layout
from edge_auth.contract.builds import Build, open_build
from edge_auth.contract.catalogue import PRICES
from edge_auth.contract.pointer import read_pointer
from edge_auth.contract.store.interface import Store
from edge_auth.errors import EdgeError
from generator import settings
from generator.errors import DamageError
from generator.releases.run_reports import earlier_nights
from generator.releases.verify import checked_file


@dataclass(frozen=True)
class Past:
    """The nights before a night.

    Attributes:
        week: A build that was live about a week before, or None.
        usual_changes: How many trends change on the middle one of the last nights, or None if there are too few nights.
    """

    week: Build | None = None
    usual_changes: float | None = None


NO_PAST = Past()


def read_past(store: Store, as_of: date) -> Past:
    """Return what the store has of the nights before a day."""
    changes = [figures["trends_changed"] for _, figures in earlier_nights(store, as_of, settings.USUAL_NIGHTS)]
    return Past(_week_before(store, as_of), median(changes) if len(changes) >= settings.ENOUGH_NIGHTS else None)


def _week_before(store: Store, as_of: date) -> Build | None:
    pointer, _ = read_pointer(store)
    latest = (as_of - timedelta(days=settings.WEEK_DAYS)).isoformat()
    for build in pointer.previous if pointer else []:
        if layout.day_of(build) <= latest:
            with suppress(EdgeError, DamageError):  # pruned, or damaged: the one before it is as good
                opened = open_build(store, build)
                checked_file(opened.layers[layer_names.CATALOGUE], PRICES)
                return opened
    return None
