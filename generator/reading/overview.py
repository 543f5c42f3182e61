"""What a store holds and how fresh it is, for `cardpress show`."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from edge_auth.contract import layout
from edge_auth.contract.builds import open_build, read_pointer
from edge_auth.contract.store.interface import Store
from generator import settings
from generator.clock import Clock, moment, timestamp, unix
from generator.releases.judgements import read_judgement


@dataclass(frozen=True)
class BuildRow:
    """One build in the list; `state`: live, previous or ''. `made` is when its record was written."""

    id: str
    as_of: str
    made: str
    age_hours: float
    products: int
    objects: int
    bytes: int
    gates: str
    state: str


@dataclass(frozen=True)
class Source:
    """A table of the lake: its newest row (day or time, or None), how old that is, and whether that is too old."""

    table: str
    newest: str | None
    age_hours: float | None
    allowed_hours: float
    late: bool


@dataclass(frozen=True)
class Overview:
    """A store at a glance."""

    live: str | None
    hold: bool
    builds: list[BuildRow]


def overview(store: Store, clock: Clock) -> Overview:
    """All builds of a store, newest day first.

    Raises:
        StoreError: the pointer or a record cannot be read.
    """
    pointer, _ = read_pointer(store)
    live, previous = (pointer.build, pointer.previous) if pointer else (None, [])
    rows = []
    for entry in sorted(store.entries(layout.BUILDS), reverse=True):
        record = open_build(store, layout.id_of(entry.name)).record
        state = "live" if record["id"] == live else "previous" if record["id"] in previous else ""
        rows.append(_row(store, record, unix(entry.modified), clock(), state))
    return Overview(live, bool(pointer and pointer.hold), rows)


def _row(store: Store, record: dict, made: datetime, now: datetime, state: str) -> BuildRow:
    return BuildRow(
        record["id"],
        record["as_of"],
        timestamp(made),
        _hours(now - made),
        record["freshness"]["catalogue"]["products"],
        sum(record["objects"].values()),
        sum(record["bytes"].values()),
        _gates(read_judgement(store, record["id"])),
        state,
    )


def _gates(judgement: dict | None) -> str:
    """What the gates said, in a word or two."""
    if judgement is None:
        return "-"
    verdicts = judgement["verdicts"]
    stopped = [v["gate"] for v in verdicts if v["breached"] and not v["forced"]]
    forced = [f"{v['gate']} forced" for v in verdicts if v["forced"]]
    return ", ".join([*stopped, *forced]) or "passed"


def sources(record: dict, clock: Clock) -> list[Source]:
    """How old the newest rows are that a build shows."""
    fresh = record["freshness"]
    newest = {
        "price_guide": fresh["catalogue"]["price_guide_day"],
        "listings": fresh["catalogue"]["listing_scraped_at"],
        "filtered_checks": fresh["filtered_price"]["latest_checked_at"],
        "watch_checks": fresh["watchlist"]["last_checked"],
    }
    return [_source(table, said, clock()) for table, said in newest.items()]


def _source(table: str, newest: str | None, now: datetime) -> Source:
    allowed = settings.CADENCE_HOURS[table]
    if newest is None:
        return Source(table, None, None, allowed, False)
    age = _hours(now - (moment(newest) if "T" in newest else _end_of(newest)))
    return Source(table, newest, age, allowed, age > allowed)


def _end_of(day: str) -> datetime:
    """The end of a day: what is of a day may have come at any time of it."""
    return moment(f"{day}T00:00:00Z") + timedelta(days=1)


def _hours(age: timedelta) -> float:
    return max(round(age / timedelta(hours=1), 1), 0.0)
