"""The console command `cardpress`: one module of `commands/` per command, no logic here."""

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

import click

from edge_auth.errors import EdgeError
from generator.errors import GeneratorError
from recognition.errors import RecognitionError

# The commands, in the order in which they are used; each is a function of the module of that name in `commands/`.
COMMANDS = (
    *("demo", "ingest", "fingerprint", "build", "publish", "rollback", "keys", "serve", "nightly", "prune"),
    *("builds", "show", "report", "diff", "verify", "cat", "export", "doctor"),
)


class Commands(click.Group):
    """The commands, each loaded when it is asked for: with all their libraries they would take a second."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return _loaded(name) if name in COMMANDS else None

    @property
    def commands(self) -> Mapping[str, click.Command]:
        """All of them, by name."""
        return {name: _loaded(name) for name in COMMANDS}

    @commands.setter
    def commands(self, _: Mapping[str, click.Command]) -> None:
        """click sets an empty one, to add to."""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cardpress", prog_name="cardpress")
def cli() -> None:
    """Turn a lake of card marketplace data into a precomputed, read-only JSON API.

    Every option can also be set by an environment variable: CARDPRESS_STORE for --store, and so on.

    \b
    Example, from nothing to an API:
      cardpress demo lake
      cardpress build --lake lake --publish
      cardpress keys issue --name me
      cardpress serve
    """


@lru_cache(None)
def _loaded(name: str) -> click.Command:
    command = getattr(import_module(f"generator.commands.{name}"), name)
    settable_by_environment(command)
    return command


def settable_by_environment(command: click.Command) -> None:
    """Give every option of a command and of its sub-commands the variable CARDPRESS_<OPTION>."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.envvar is None:
            longest = max(parameter.opts, key=len).lstrip("-")
            parameter.envvar = "CARDPRESS_" + longest.replace("-", "_").upper()
    for below in getattr(command, "commands", {}).values():
        settable_by_environment(below)


def _said(error: Exception) -> str:
    """An error as one line; those of the operating system that nobody expected with the file that they are about."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def main() -> None:
    """Run `cardpress`: exit 0 done, 1 refused or failed with one line on standard error, 2 wrong usage."""
    try:
        cli(prog_name="cardpress")
    except (GeneratorError, EdgeError, RecognitionError, OSError) as error:
        if os.environ.get("CARDPRESS_DEBUG"):
            raise
        click.echo(f"cardpress: {_said(error)}", err=True)
        sys.exit(1)
