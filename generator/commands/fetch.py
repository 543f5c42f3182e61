"""`cardpress fetch`: downloads what a marketplace publishes, and imports it."""

import re
from pathlib import Path

import click

from edge_auth.text import fold
from generator.clock import utc_now
from generator.commands.ingest_cardmarket import cardmarket as import_files
from generator.commands.options import FOLDER, HTTP_URL, Parsed
from generator.ingest.catalogue import GAMES
from generator.ingest.downloads import BASE_URL, fetch_files
from generator.terminal import say


@click.group()
def fetch() -> None:
    """Download a marketplace's files and import them.

    \b
    Example: cardpress fetch cardmarket 17 downloads --lake lake
    """


def _game_number(text: str) -> int:
    numbers = {fold(name): number for number, name in GAMES.items()}
    number = int(text) if re.fullmatch("[1-9][0-9]{0,2}", text) else numbers.get(fold(text))
    if number is None:
        known = ", ".join(f"{number} {name}" for number, name in GAMES.items())
        raise ValueError(f"{text!r} is no game of the marketplace: name one by its number or name: {known}")
    return number


@fetch.command()
@click.argument("game", type=Parsed("game", _game_number))
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--lake", help="Also import the files into this lake, a folder or s3:// prefix.")
@click.option(
    "--numbers-from-names/--no-numbers-from-names",
    default=None,
    help="As in `ingest cardmarket`.  [default: as the lake remembers]",
)
@click.option("--url", "base", type=HTTP_URL, default=BASE_URL, help="Where the files are.")
@click.option(
    "--timeout", "seconds", metavar="SECONDS", type=click.FloatRange(0.1), default=60,
    help="How long to wait for each part of an answer.",
)  # fmt: skip
@click.pass_context
def cardmarket(
    ctx: click.Context,
    game: int,
    folder: Path,
    lake: str | None,
    numbers_from_names: bool | None,
    base: str,
    seconds: float,
) -> None:
    """Download today's lists and price guide of a game, and import them.

    GAME: the marketplace's number or its name: 1 Magic, 3 Yu-Gi-Oh!, 6 Pokémon, 17 Digimon, 18 One Piece, 19 Lorcana, …

    DIR keeps the files by day, since the marketplace keeps no archive. A file that did not change is not sent again.
    All files of a call appear together, or none.

    \b
    Example: cardpress fetch cardmarket 17 downloads --lake lake
    """
    files = fetch_files(game, folder, base.rstrip("/"), utc_now, seconds=seconds)
    new = [file.path.name for file in files if file.is_new]
    unchanged = f"; {len(files) - len(new)} did not change" if len(new) < len(files) else ""
    say(f"fetched {', '.join(new) or 'nothing'} into {folder}{unchanged}", err=True)
    if lake:
        paths = tuple(file.path for file in files)
        ctx.invoke(import_files, places=paths, lake=lake, numbers_from_names=numbers_from_names)
