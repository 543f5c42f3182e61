"""`cardpress quarantine …`: the day files that a refused night keeps out of later builds."""

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime

import click

from generator.commands.options import DAY, json_option, store_option
from generator.lake.quarantine import ACCEPTED, DROPPED, QuarantinedFile, describe_waiting, read_quarantine, settle
from generator.releases.locks import with_reserve
from generator.storage.builds import open_build, read_pointer
from generator.storage.stores.open import open_store
from generator.terminal import say, say_json, say_lines

_days = click.argument("days", nargs=-1, required=True, type=DAY, metavar="DAY…")
_MEANS = {ACCEPTED: "later builds read it", DROPPED: "builds leave it out for good"}
_NEXT = {
    ACCEPTED: "the next night reads it and compares later days with it",
    DROPPED: "the next night publishes without it",
}


@click.group()
def quarantine() -> None:
    """List, accept or drop day files of the lake that a refused night read.

    When a gate refuses a night, later builds leave out the day files that it judged and that the live build did not
    read. A corrected file of the same day has other content: it is not in quarantine, and is judged again.

    \b
    Example: cardpress quarantine accept 2026-08-24 --store site_out
    """


@quarantine.command("list")
@store_option
@json_option
def list_(store: str, as_json: bool) -> None:
    """List the files that were put in quarantine, by day.

    \b
    Example: cardpress quarantine list --store site_out
    """
    files = read_quarantine(open_store(store))
    if as_json:
        say_json(list(map(asdict, files)))
        return
    if not files:
        say(f"no file is in quarantine in {store}", err=True)
    for file in files:
        gone = "" if file.in_lake else ", no longer in the lake"
        why = f"refused by {', '.join(file.gates)}" if file.gates else "withdrawn after it was published"
        say(f"{_named(file)}: {file.verdict}{gone}, {why}")
    if waiting := [file for file in files if file.waits]:
        say(describe_waiting(waiting, store), err=True)


@quarantine.command()
@_days
@store_option
@json_option
def accept(days: tuple[datetime, ...], store: str, as_json: bool) -> None:
    """Let later builds read the files of days, because their data is right.

    The next night publishes them, unless a gate refuses it for another reason, and compares later days with them.

    \b
    Example: cardpress quarantine accept 2026-08-24 --store site_out
    """
    _settle(days, store, ACCEPTED, as_json)


@quarantine.command()
@_days
@store_option
@json_option
def drop(days: tuple[datetime, ...], store: str, as_json: bool) -> None:
    """Leave the files of days out of all builds for good, without further notices.

    The files stay in the lake. `accept` takes it back. A day that was published can be dropped too: the next night
    publishes without its prices.

    \b
    Example: cardpress quarantine drop 2026-08-24 --store site_out
    """
    _settle(days, store, DROPPED, as_json)


def _settle(days: Collection[datetime], location: str, verdict: str, as_json: bool) -> None:
    store, texts = open_store(location), [f"{day:%Y-%m-%d}" for day in days]
    pointer, _ = read_pointer(store)
    live = open_build(store, pointer.build) if pointer else None
    files = with_reserve(store, lambda: settle(store, texts, verdict, live))
    if as_json:
        say_json(list(map(asdict, files)))
    else:
        say_lines(f"{_named(file)}: {verdict}, {_MEANS[verdict]}" for file in files)
    say(f"{_NEXT[verdict]}: `cardpress nightly --lake LAKE --store {location}`", err=True)


def _named(file: QuarantinedFile) -> str:
    game = file.named.removeprefix(f"{file.table} of {file.day}")
    return f"{file.day} {file.table}{game} {file.sha256[:12]}"
