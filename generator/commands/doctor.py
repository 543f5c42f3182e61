"""`cardpress doctor`: check the installation, the store, the lake and what serves them."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from generator.clock import utc_now
from generator.commands.options import FILE, json_option, keys_option, rate_limit_url_option, state_option, store_option
from generator.errors import GeneratorError
from generator.reading.doctor import (
    PROBLEM,
    Finding,
    check_counter,
    check_edge,
    check_keys,
    check_lake,
    check_state,
    check_store,
    check_versions,
    check_writing,
    guarded,
)
from generator.reading.ownership import check_modes, check_owners
from generator.storage.keys import open_key_file
from generator.storage.stores.open import open_store
from generator.terminal import Progress, say, say_json

_STORE_ADVICE = "check that --store is right, and that you may read it"


@click.command()
@store_option
@click.option("--lake", help="Folder or s3://bucket/prefix of the source tables, to check as well.")
@keys_option
@state_option
@rate_limit_url_option("to check as well")
@click.option("--edge", type=FILE, help="Configuration of nginx to check as well.")
@click.option("--read-only", is_flag=True, help="Write nothing, for a machine that only serves.")
@json_option
def doctor(as_json: bool, **places: Any) -> None:
    """Check for problems and say what to do about them.

    Checks versions, store, live build, lake, keys, clock, state folder, shared counter and the nginx of
    `cardpress edge config`.

    Prints a line per check: ok, warning or problem, with what to do next. The exit status is 1 if there is a problem.
    Nothing is changed: a probe is written below private/ of the store and deleted again.

    \b
    Example: cardpress doctor --store site_out --lake lake
    """
    findings = []
    for finding in _run_checks(**places):
        findings.append(finding)
        if not as_json:
            say(finding.line())
    if as_json:
        say_json([asdict(finding) for finding in findings])
    problems = [finding for finding in findings if finding.level == PROBLEM]
    if problems:
        raise GeneratorError(f"{len(problems)} problem{'s' * (len(problems) > 1)}, the first: {problems[0].message}")


def _run_checks(
    store: str,
    lake: str | None,
    keys: str | None,
    state: str,
    rate_limit_url: str | None,
    edge: Path | None,
    read_only: bool,
) -> Iterator[Finding]:
    yield from check_versions()
    opened = open_store(store)
    store_failed = False
    for finding in guarded("store", check_store(opened, utc_now), _STORE_ADVICE):
        store_failed = store_failed or (finding.check == "store" and finding.level == PROBLEM)
        yield finding
    if not read_only and not store_failed:
        yield from guarded(
            "writing", check_writing(opened.location, utc_now), "give the machine that builds permission to write"
        )
    if lake:
        yield from guarded("lake", check_lake(lake, utc_now), "")
    file = open_key_file(store, keys)
    yield from guarded("owners", check_owners(opened, file), "check the owners of the store's files")
    if keys or not store_failed:
        advice = "restore the records from a backup, or --keys LOCATION"
        yield from guarded("keys", check_keys(file, utc_now, Progress()), advice)
        yield from guarded("modes", check_modes(opened, file), "check the permissions of the store")
    yield from check_state(Path(state))
    if rate_limit_url:
        yield from check_counter(rate_limit_url)
    if edge:
        yield from guarded("edge", check_edge(edge, store, keys, state), "check the path of --edge")
