"""What a breached gate means for the day files of the lake.

Each gate's SQL names its tables. A night that is refused puts the day files of these tables that the live build did not
read in quarantine. Files that a person accepted are no reason to refuse a night, and neither is the way back from data
that went live although gates had refused it.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace

from edge_auth.builds.builds import Build, open_build
from edge_auth.errors import EdgeError
from edge_auth.store.interface import Store
from generator.compare.judgements import Judgement, Verdict, breached_gates, read_judgement
from generator.errors import DamageError
from generator.lake.file_keys import PRICE_TABLES, FileKey
from generator.lake.quarantine import QuarantinedFile, original_of
from generator.lake.read_by_builds import files_read, unread_files


def refused_files(
    judgement: Judgement, new: Build, live: Build, guilty: Mapping[str, Collection[str]]
) -> dict[FileKey, dict[str, float]]:
    """Return the files that a refused build read, with the gates that refused each and their values.

    Args:
        guilty: The games that breach gates by themselves, each with its gates: only their rows are refused. Empty: all.
    """
    refused: dict[FileKey, dict[str, float]] = {}
    for verdict in judgement.breaches:
        games: list[str | None] = [game for game, gates in guilty.items() if verdict.gate in gates]
        for file in _judged_files(verdict, new, live):
            original = original_of(new.record, file)
            for game in (games if file.table in PRICE_TABLES else []) or [None]:
                refused.setdefault(original._replace(game=game), {})[verdict.gate] = verdict.value
    return refused


def force_accepted(judgement: Judgement, new: Build, live: Build, accepted: Collection[FileKey]) -> Judgement:
    """Force the breached gates that judged accepted files alone."""

    def is_accepted(verdict: Verdict) -> bool:
        judged = _judged_files(verdict, new, live) if verdict.stops and accepted else ()
        return bool(judged) and all(file in accepted for file in judged)

    verdicts = [replace(verdict, forced=True) if is_accepted(verdict) else verdict for verdict in judgement.verdicts]
    return replace(judgement, verdicts=verdicts)


def pass_accepted(
    store: Store,
    judgement: Judgement,
    new: Build,
    live: Build,
    accepted: Collection[QuarantinedFile],
    judged: Callable[[Build], Judgement],
) -> tuple[Judgement, str | None]:
    """Judge a build by the refused build that had the newest accepted day, as if that one had been published.

    Args:
        accepted: The accepted files of the quarantine.
        judged: Judges the new build against another one.

    Returns:
        The judgement, and the build that some gates compared with, or None.
    """
    unread = {file.whole for file in unread_files(new, live)}
    believed = [file for file in accepted if file.key.whole in unread and file.build != new.id]
    if not believed or not judgement.breaches:
        return judgement, None
    tables = {file.table for file in believed}
    newest = max(believed, key=lambda file: (file.day, file.since))
    with suppress(EdgeError, DamageError):  # pruned or damaged
        return _pass_as_against(judgement, judged(open_build(store, newest.build)), tables), newest.build
    return judgement, None


def _pass_as_against(judgement: Judgement, other: Judgement, tables: Collection[str]) -> Judgement:
    """Take the verdicts that another comparison passes, of breached gates that judge days of some tables."""
    passed = {verdict.gate: verdict for verdict in other.verdicts if not verdict.breached}
    verdicts = [
        passed.get(verdict.gate, verdict) if verdict.stops and set(tables).intersection(verdict.tables) else verdict
        for verdict in judgement.verdicts
    ]
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
        passed = _pass_as_against(judgement, judged(open_build(store, before)), tables)
        if passed != judgement:
            return passed, before
    return judgement, None


def _judged_files(verdict: Verdict, new: Build, live: Build) -> set[FileKey]:
    if not verdict.tables:
        return set()
    known = {(file.table, file.day) for file in files_read(live)}
    worst = {row["day"] for row in verdict.figures.get("days") or () if row["distance"] > verdict.threshold}
    return {
        file
        for file in unread_files(new, live)
        if file.table in verdict.tables
        and (not verdict.known_days or (file.table, file.day) in known)
        and (not worst or file.day in worst)
    }
