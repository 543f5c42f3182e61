"""`cardpress quarantine …`: the day files that a refused night keeps out of later builds."""

from collections.abc import Collection
from dataclasses import asdict, replace
from datetime import datetime

import click

from generator.commands.options import DAY, json_option, store_option
from generator.errors import GeneratorError
from generator.lake.lake import DAILY_TABLES
from generator.lake.quarantine import (
    ACCEPTED,
    ALL_GAMES,
    DROPPED,
    QuarantinedFile,
    Selection,
    chosen,
    decision,
    describe_waiting,
    few,
    left_waiting,
    read_quarantine,
    settle,
)
from generator.releases.locks import with_reserve
from generator.settings import MAX_ACCEPTED_FACTOR
from generator.storage.builds import open_build, read_pointer
from generator.storage.stores.open import open_store
from generator.terminal import say, say_result

_days = click.argument("days", nargs=-1, type=DAY, metavar="[DAY…]")
_game = click.option("--game", help="Only the rows of this game; '' for the products without a game.")
_table = click.option("--table", type=click.Choice(DAILY_TABLES), metavar="TABLE", help="Only the files of this table.")
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
    say_result(as_json, list(map(asdict, files)), map(_line, files))
    if not files:
        say(f"no file is in quarantine in {store}", err=True)
    if waiting := [file for file in files if file.waits]:
        say(describe_waiting(waiting, store), err=True)


@quarantine.command()
@_days
@_game
@_table
@click.option("--yes", is_flag=True, help="Accept prices that rose or fell by more than a factor of 3, too.")
@store_option
@json_option
def accept(
    days: tuple[datetime, ...], game: str | None, table: str | None, yes: bool, store: str, as_json: bool
) -> None:
    """Let later builds read the files of days, because their data is right.

    Prints the figures that held them. Without a day, all that waits of --game or --table is meant. The next night
    publishes them, unless a gate refuses it for another reason, and compares later days with them.

    \b
    Example: cardpress quarantine accept 2026-08-24 --game Magic --store site_out
    """
    _settle(_selection(days, game, table), store, ACCEPTED, as_json, yes)


@quarantine.command()
@_days
@_game
@_table
@store_option
@json_option
def drop(days: tuple[datetime, ...], game: str | None, table: str | None, store: str, as_json: bool) -> None:
    """Leave the files of days out of all builds for good, without further notices.

    Prints the figures that held them. Without a day, all that waits of --game or --table is meant. The files stay in
    the lake. `accept` takes it back. A day that was published can be dropped too: the next night publishes without its
    prices.

    \b
    Example: cardpress quarantine drop 2026-08-24 --store site_out
    """
    _settle(_selection(days, game, table), store, DROPPED, as_json, True)


def _selection(days: Collection[datetime], game: str | None, table: str | None) -> Selection:
    if not days and game is None and table is None:
        raise click.UsageError("say which: a day such as 2026-08-24, --game or --table")
    return Selection([f"{day:%Y-%m-%d}" for day in days], game, table)


def _settle(selection: Selection, location: str, verdict: str, as_json: bool, yes: bool) -> None:
    store = open_store(location)
    pointer, _ = read_pointer(store)
    live = open_build(store, pointer.build) if pointer else None
    meant = chosen(store, selection, live)
    for file in meant:
        for game, (_, figures) in sorted(file.moved.items()):
            if file.game in (None, game):
                say(f"{replace(file, game=None if game == ALL_GAMES else game).named}: {figures}", err=True)
    far = [file for file in meant if file.is_far]
    if far and not yes:
        raise GeneratorError(
            f"nothing was accepted: the prices of {far[0].named} moved by more than a factor of {MAX_ACCEPTED_FACTOR}, "
            "which is rarely right: check them, then pass --yes"
        )
    files = with_reserve(store, lambda: settle(store, selection, verdict, live))
    lines = (f"{_named(file)}: {verdict}, {_MEANS[verdict]}" for file in files)
    say_result(as_json, list(map(asdict, files)), lines)
    if left := left_waiting(store, files):
        command = decision(verdict, left, store.location)
        say(f"still left out: {few([file.named for file in left])}: `{command}`", err=True)
    say(f"{_NEXT[verdict]}: `cardpress nightly --lake LAKE --store {store.location}`", err=True)


def _line(file: QuarantinedFile) -> str:
    gone = "" if file.in_lake else ", no longer in the lake"
    why = f"refused by {', '.join(file.gates)}" if file.gates else "withdrawn after it was published"
    figures = f": {file.figures}" if file.figures else ""
    return f"{_named(file)}: {file.verdict}{gone}, {why}{figures}"


def _named(file: QuarantinedFile) -> str:
    game = file.named.removeprefix(f"{file.table} of {file.day}")
    return f"{file.day} {file.table}{game} {file.sha256[:12]}"
