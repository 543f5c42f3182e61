"""Collects what the report of a build shows: the record, the prices, and what nights left in the store.

Ages count up to a moment of the clock that the caller gives. All else is the same for the same build in the same store.
"""

import itertools
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from edge_auth.builds import layout
from edge_auth.builds.builds import Build, open_build
from edge_auth.builds.record import BuildRecord
from edge_auth.errors import DamagedObject, UnknownBuild
from edge_auth.store.interface import Store
from generator.clock import Clock
from generator.compare.judgements import read_judgement
from generator.compare.run_reports import UNCHANGED, read_reports
from generator.making.stored_prices import prices_database
from generator.reading.overview import LastNight, SourceAge, last_failed_night, source_ages
from generator.threads import Resources

_VIEWS = ("coverage", "distribution", "ages", "game_columns")
# A row of a view of `build/report/`.
Row = dict[str, Any]


@dataclass(frozen=True)
class PriceCounts:
    """The rows of the views of `build/report/`."""

    coverage: list[Row]
    distribution: list[Row]
    ages: list[Row]
    games: list[Row]


def count_prices(build: Build, resources: Resources) -> PriceCounts:
    """Count the prices of a build.

    Args:
        resources: What DuckDB may use.

    Raises:
        BuildError: DuckDB cannot read the prices.
        StoreError: The prices cannot be fetched.
    """
    with prices_database(build, resources) as db:
        db.run(*(f"report/{view}" for view in _VIEWS))
        return PriceCounts(*(db.table(f"from {view}").to_pylist() for view in _VIEWS))


MAX_HISTORY_BUILDS = 30
# How many run reports are searched for the builds of the history.
MAX_RUN_REPORTS = 100

# A record of a build or a report of a run, as JSON.
_Json = dict[str, Any]


@dataclass(frozen=True)
class LayerSummary:
    """A layer of the build. `seconds`: how long it took to build; None if no night recorded it."""

    name: str
    digest: str
    objects: int
    bytes: int
    seconds: float | None


@dataclass(frozen=True)
class HistoryRow:
    """A build of the history. `run`, `outcome` and `seconds` are of the last night that made it; None if unknown."""

    build: str
    as_of: str
    products: int
    sets: int
    objects: int
    bytes: int
    run: str | None = None
    outcome: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class BuildSummary:
    """The content of the report of a build.

    Attributes:
        moment: The time that the ages of the sources count up to.
        sources: How old the newest row of each source is.
        night: The report of the last night that made the build, or None.
        judgement: The gate results of the last night that judged the build, or None.
        layers: The slowest first, those without a time last.
        failed_since: The newest night of the store, if it did not publish and made another build.
        history: Builds up to the as-of day, oldest first, this build among them.
    """

    build: str
    as_of: str
    record: BuildRecord
    counts: PriceCounts
    moment: datetime
    sources: list[SourceAge]
    night: _Json | None
    judgement: _Json | None
    layers: list[LayerSummary] = field(default_factory=list)
    history: list[HistoryRow] = field(default_factory=list)
    failed_since: LastNight | None = None


def summarize_build(store: Store, build: Build, clock: Clock, resources: Resources) -> BuildSummary:
    """Collect what the report of a build shows.

    Raises:
        BuildError, StoreError: The build cannot be read.
    """
    nights, records = _nights(store, build), _records(store, build)
    night = next((report for report in nights if report["build"] == build.id), None)
    moment = clock()
    return BuildSummary(
        build.id,
        build.as_of.isoformat(),
        build.record,
        count_prices(build, resources),
        moment,
        source_ages(build.record, lambda: moment),
        night,
        read_judgement(store, build.id),
        _layers(build, nights, records),
        _history(nights, records),
        failed if (failed := last_failed_night(store)) and failed.build != build.id else None,
    )


def _nights(store: Store, build: Build) -> list[_Json]:
    """Return the reports of nights that made a build up to this one's as-of day, newest first."""
    newest = itertools.islice(read_reports(store), MAX_RUN_REPORTS)
    with_build = (report for report in newest if report.get("build") and report.get("record"))
    return [report for report in with_build if report["record"]["as_of"] <= build.as_of.isoformat()]


def _records(store: Store, build: Build) -> dict[str, BuildRecord]:
    """Return the records of the newest builds up to this one's as-of day, by id."""
    ids = layout.build_ids(store.list(layout.BUILDS))
    records = {}
    for id_ in sorted(id_ for id_ in ids if layout.day_of(id_) <= build.as_of.isoformat())[-MAX_HISTORY_BUILDS:]:
        with suppress(UnknownBuild, DamagedObject):  # pruned meanwhile, or damaged, which the doctor says
            records[id_] = open_build(store, id_).record
    return records


def _layers(build: Build, nights: list[_Json], records: dict[str, BuildRecord]) -> list[LayerSummary]:
    record = build.record
    layers = [
        LayerSummary(
            name, layer["digest"], record["objects"][name], record["bytes"][name],
            _layer_seconds(name, layer["digest"], nights, records | {build.id: record}),
        )
        for name, layer in record["layers"].items()
    ]  # fmt: skip
    return sorted(layers, key=lambda layer: (layer.seconds is None, -(layer.seconds or 0), layer.name))


def _layer_seconds(name: str, digest: str, nights: list[_Json], records: dict[str, BuildRecord]) -> float | None:
    """Return how long the night that built a layer took over it, for this build or for one that shares the layer."""
    for night in nights:
        seconds: float | None = night.get("layer_seconds", {}).get(name)
        record = records.get(night["build"])
        layer = record["layers"].get(name) if record else None
        if seconds is not None and layer and layer["digest"] == digest:
            return seconds
    return None


def _history(nights: list[_Json], records: dict[str, BuildRecord]) -> list[HistoryRow]:
    rows = {id_: _history_row(id_, record) for id_, record in records.items()}
    for night in reversed(nights):  # the last night that made a build replaces the earlier ones
        if night["outcome"] != UNCHANGED or night["build"] not in rows:
            rows[night["build"]] = _history_row(night["build"], night["record"], night)
    return sorted(rows.values(), key=lambda row: (row.as_of, row.run or "", row.build))[-MAX_HISTORY_BUILDS:]


def _history_row(id_: str, record: BuildRecord, night: _Json | None = None) -> HistoryRow:
    catalogue = record["freshness"]["catalogue"]
    return HistoryRow(
        id_,
        record["as_of"],
        catalogue["products"],
        catalogue["sets"],
        sum(record["objects"].values()),
        sum(record["bytes"].values()),
        run=night["run"] if night else None,
        outcome=night["outcome"] if night else None,
        seconds=sum(night["seconds"].values()) if night else None,
    )
