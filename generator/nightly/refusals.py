"""Which day files of the lake a breached gate judged: those that the live build did not read, of the gate's tables.

Each gate's SQL names its tables. A night that is refused puts these files in quarantine. Files that a person accepted
are no reason to refuse a night.
"""

from collections.abc import Collection
from dataclasses import replace

from edge_auth.contract.builds import Build
from generator.releases.judgements import Judgement, Verdict
from generator.releases.quarantine import FileKey, files_read, unread_files


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


def _judged_files(verdict: Verdict, new: Build, live: Build) -> set[FileKey]:
    known = {(file.table, file.day) for file in files_read(live.record)}
    return {
        file
        for file in unread_files(new.record, live.record)
        if file.table in verdict.tables and (not verdict.known_days or (file.table, file.day) in known)
    }
