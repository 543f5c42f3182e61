"""All that is told of a build: its record, its prices, and what nights left beside it. Nothing asks the clock."""

import itertools
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any

from edge_auth.contract import layout
from edge_auth.contract.builds import Build, open_build
from edge_auth.contract.store.interface import Store
from edge_auth.errors import UnknownBuild
from generator.reading.overview import Source, sources
from generator.reading.report.price_counts import PriceCounts, count_prices
from generator.releases.judgements import read_judgement
from generator.releases.run_reports import UNCHANGED, reports

# How many builds the history goes back, and among how many reports of nights they are looked for.
HISTORY, LOOKED_AT = 30, 100


@dataclass(frozen=True)
class LayerFacts:
    """A layer of the build. `seconds`: how long it took to make, where the night that made it told."""

    name: str
    digest: str
    objects: int
    bytes: int
    seconds: float | None


@dataclass(frozen=True)
class Past:
    """A build of the history, this one among them; figures of it that nothing tells any more are None."""

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
class Facts:
    """What the report of a build says.

    Attributes:
        sources: how old the newest row of each source is at the end of the as-of day.
        night: the report of the last night that made the build, or None.
        judgement: what the gates said when a night last judged it, or None.
        layers: the slowest first, those without a time last.
        history: builds of days up to this one, oldest first.
    """

    build: str
    as_of: str
    record: dict[str, Any]
    counts: PriceCounts
    sources: list[Source]
    night: dict[str, Any] | None
    judgement: dict[str, Any] | None
    layers: list[LayerFacts] = field(default_factory=list)
    history: list[Past] = field(default_factory=list)


def gather(store: Store, build: Build, *, threads: int | None, memory: str) -> Facts:
    """The facts of a build.

    Raises:
        BuildError, StoreError: the build cannot be read.
    """
    nights, records = _nights(store, build), _records(store, build)
    night = next((report for report in nights if report["build"] == build.id), None)
    day_ends = datetime.combine(build.as_of + timedelta(days=1), time(), UTC)
    return Facts(
        build.id,
        build.as_of.isoformat(),
        build.record,
        count_prices(build, threads=threads, memory=memory),
        sources(build.record, lambda: day_ends),
        night,
        read_judgement(store, build.id),
        _layers(build, nights, records),
        _history(nights, records),
    )


def _nights(store: Store, build: Build) -> list[dict]:
    """Reports of nights that made a build of a day up to this one's, newest first."""
    looked_at = itertools.islice(reports(store), LOOKED_AT)
    made = (report for report in looked_at if report.get("build") and report.get("record"))
    return [report for report in made if report["record"]["as_of"] <= build.as_of.isoformat()]


def _records(store: Store, build: Build) -> dict[str, dict]:
    """Records of the newest builds in the store, of days up to this one's, by id."""
    ids = layout.build_ids(store.list(layout.BUILDS))
    found = {}
    for id_ in sorted(id_ for id_ in ids if layout.day_of(id_) <= build.as_of.isoformat())[-HISTORY:]:
        with suppress(UnknownBuild):  # pruned meanwhile
            found[id_] = open_build(store, id_).record
    return found


def _layers(build: Build, nights: list[dict], records: dict[str, dict]) -> list[LayerFacts]:
    record = build.record
    found = [
        LayerFacts(
            name, layer["digest"], record["objects"][name], record["bytes"][name],
            _layer_seconds(name, layer["digest"], nights, records | {build.id: record}),
        )
        for name, layer in record["layers"].items()
    ]  # fmt: skip
    return sorted(found, key=lambda layer: (layer.seconds is None, -(layer.seconds or 0), layer.name))


def _layer_seconds(name: str, digest: str, nights: list[dict], records: dict[str, dict]) -> float | None:
    """How long the night took over a layer that made it, for this build or one that shares it."""
    for night in nights:
        seconds = night.get("layer_seconds", {}).get(name)
        layers = records.get(night["build"], {}).get("layers", {})
        if seconds is not None and layers.get(name, {}).get("digest") == digest:
            return seconds
    return None


def _history(nights: list[dict], records: dict[str, dict]) -> list[Past]:
    found = {id_: _past(id_, record, None) for id_, record in records.items()}
    for night in reversed(nights):  # the last that made it tells
        if night["outcome"] != UNCHANGED or night["build"] not in found:
            found[night["build"]] = _past(night["build"], night["record"], night)
    return sorted(found.values(), key=lambda past: (past.as_of, past.run or "", past.build))[-HISTORY:]


def _past(id_: str, record: dict, night: dict | None) -> Past:
    catalogue = record["freshness"]["catalogue"]
    told = (night["run"], night["outcome"], sum(night["seconds"].values())) if night else ()
    sums = (sum(record["objects"].values()), sum(record["bytes"].values()))
    return Past(id_, record["as_of"], catalogue["products"], catalogue["sets"], *sums, *told)
