"""What a refused or failed night means, for people: what clients see now, why, what is held, and what to do."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from edge_auth.store.interface import Store
from generator.compare.run_reports import PUBLISHED, REFUSED, UNCHANGED, newest_report
from generator.lake.quarantine import HELD, QuarantinedFile, read_quarantine

_MAX_REASON = 300  # characters


@dataclass(frozen=True)
class LastNight:
    """The newest night of a store, if it did not publish.

    Attributes:
        sentences: What clients see, why, what is held and the next step, each a sentence.
    """

    run: str
    outcome: str
    build: str | None
    sentences: list[str]


def last_failed_night(store: Store) -> LastNight | None:
    """Return the newest night if it was refused, held back or failed; None if it published or changed nothing.

    Raises:
        StoreError: The reports or the quarantine cannot be read.
    """
    night = newest_report(store)
    if night is None or night["outcome"] in (PUBLISHED, UNCHANGED):
        return None
    sentences = list(_sentences(store, night))
    return LastNight(night["run"], night["outcome"], night.get("build"), sentences)


def _sentences(store: Store, night: dict[str, Any]) -> Iterator[str]:
    seen = f"clients see {night['live']}, with prices of {night['data_day']}" if night["live"] else "no build is live"
    yield f"the last night was {night['outcome']}: {seen}"
    if night["error"]:
        reason = str(night["error"]).partition("; in quarantine")[0]
        yield reason if len(reason) <= _MAX_REASON else f"{reason[:_MAX_REASON]}…"
    if night["outcome"] == REFUSED:
        yield from _next_steps([file for file in read_quarantine(store) if file.run == night["run"]], store.location)


def _next_steps(files: list[QuarantinedFile], location: str) -> Iterator[str]:
    waiting = [file for file in files if file.waits]
    days = " ".join(sorted({file.day for file in waiting}))
    if waiting:
        yield (
            f"if the day is wrong, `cardpress quarantine drop {days} --store {location}`: the next night publishes "
            "without it, and publishes a corrected file"
        )
        yield "if it is right, `accept` in place of `drop`: the next night reads it and compares later days with it"
    elif files:
        verdicts = ", ".join(f"{file.day} {file.verdict}" for file in files if file.verdict != HELD)
        yield f"{verdicts or 'the file is gone'}: run `cardpress nightly --lake LAKE --store {location}`"
    else:
        yield "nothing is held: correct the lake, then run the night again"
