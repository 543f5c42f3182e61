"""What a breached gate means: which day files of the lake it judged, and when it is no reason to refuse a night.

Each gate's SQL names its tables. A night that is refused puts the day files of these tables that the live build did not
read in quarantine. Files that a person accepted are no reason to refuse a night, and neither is the way back from data
that went live although gates had refused it.
"""

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace

from edge_auth.builds.builds import Build, open_build
from edge_auth.errors import EdgeError
from edge_auth.store.interface import Store
from generator.errors import DamageError
from generator.lake.quarantine import FileKey, files_read, unread_files
from generator.releases.judgements import Judgement, Verdict, breached_gates, read_judgement


def refused_files(judgement: Judgement, new: Build, live: Build) -> dict[FileKey, dict[str, float]]:
    """Return the files that a refused build read, with the gates that refused each and their values."""
    refused: dict[FileKey, dict[str, float]] = {}
    for verdict in judgement.breaches:
        for file in _judged_files(verdict, new, live):
            refused.setdefault(file, {})[verdict.gate] = verdict.value
    return refused


def force_accepted(judgement: Judgement, new: Build, live: Build, accepted: Collection[FileKey]) -> Judgement:
    """Force the breached gates that judged accepted files alone."""

    def is_accepted(verdict: Verdict) -> bool:
        judged = _judged_files(verdict, new, live) if verdict.stops and accepted else ()
        return bool(judged) and all(file in accepted for file in judged)

    verdicts = [replace(verdict, forced=True) if is_accepted(verdict) else verdict for verdict in judgement.verdicts]
    return replace(judgement, verdicts=verdicts)


def pass_way_back(
    store: Store, judgement: Judgement, live: str, judged: Callable[[Build], Judgement]
) -> tuple[Judgement, str | None]:
    """Judge a build by what was live before refused data went live, where it leads back there.

    Args:
        live: The live build. If it breached gates that the new build breaches too, its data was bad, or the new one's.
        judged: Judges the new build against another one.

    Returns:
        The judgement, and the build that some gates compared with, or None.
    """
    back = breached_gates(store, live)
    tables = {table for gate in judgement.breaches for table in back.get(gate.gate, [])}
    if not tables:
        return judgement, None
    with suppress(EdgeError, DamageError):  # pruned or damaged: nothing else to compare with
        before = str((read_judgement(store, live) or {})["against"])
        passed = {v.gate: v for v in judged(open_build(store, before)).verdicts if not v.breached}
        verdicts = [
            passed.get(v.gate, v) if v.stops and tables.intersection(v.tables) else v for v in judgement.verdicts
        ]
        if verdicts != judgement.verdicts:
            return replace(judgement, verdicts=verdicts), before
    return judgement, None


def _judged_files(verdict: Verdict, new: Build, live: Build) -> set[FileKey]:
    known = {(file.table, file.day) for file in files_read(live.record)}
    worst = {row["day"] for row in verdict.figures.get("days") or () if row["distance"] > verdict.threshold}
    return {
        file
        for file in unread_files(new.record, live.record)
        if file.table in verdict.tables
        and (not verdict.known_days or (file.table, file.day) in known)
        and (not worst or file.day in worst)
    }
