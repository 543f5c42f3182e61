"""The console command `cardpress`. Its commands are in the modules of `commands/`."""

import atexit
import gc
import os
import re
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import click

from edge_auth.errors import EdgeError
from generator.errors import GeneratorError, SpaceError, is_signal, message_of
from generator.storage.errors import StorageError
from generator.terminal import say

# The commands in the order of use. Each is the function of its name, in this module of `commands/`.
COMMANDS = {
    "demo": "demo", "fetch": "ingest", "ingest": "ingest", "lake": "lake", "fingerprint": "fingerprint",
    "build": "build", "publish": "store", "rollback": "store", "keys": "keys", "serve": "serve", "edge": "deploy",
    "deploy": "deploy", "nightly": "nightly", "gates": "compare", "quarantine": "quarantine", "prune": "store",
    "unlock": "store", "builds": "show", "show": "show", "report": "compare", "diff": "compare", "verify": "store",
    "cat": "export", "export": "export", "doctor": "doctor", "docs": "docs",
}  # fmt: skip


class Commands(click.Group):
    """The group of all commands. It imports the module of a command on first use, because all of them take a second."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return _load_command(name) if name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each command. No command is imported, so `cardpress --help` is quick."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _short_help(name)) for name in COMMANDS])

    @property
    def commands(self) -> MutableMapping[str, click.Command]:
        return {name: _load_command(name) for name in COMMANDS}

    @commands.setter
    def commands(self, _: MutableMapping[str, click.Command]) -> None:
        """Ignore the empty dict that click assigns."""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
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


def _short_help(name: str) -> str:
    source = (Path(__file__).parent / "commands" / f"{COMMANDS[name]}.py").read_text("utf-8")
    found = re.search(rf'^def {name}\(.*?"""(.*?\.)(?:\s|""")', source, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


@lru_cache(None)
def _load_command(name: str) -> click.Command:
    # The modules of a command live until its end. To look for garbage among them takes a tenth of a short command.
    gc.disable()
    try:
        command: click.Command = getattr(import_module(f"generator.commands.{COMMANDS[name]}"), name)
        gc.freeze()
        atexit.register(gc.unfreeze)  # extension modules report what is left at the end as leaked
    finally:
        gc.enable()
    settable_by_environment(command)
    return command


def settable_by_environment(command: click.Command) -> None:
    """Let every option of a command and of its sub-commands be set by the variable CARDPRESS_<OPTION>."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.envvar is None:
            longest = max(parameter.opts, key=len).lstrip("-")
            parameter.envvar = "CARDPRESS_" + longest.replace("-", "_").upper()
            parameter.show_envvar = parameter.show_envvar or parameter.required  # so does the message of a missing one
    for subcommand in getattr(command, "commands", {}).values():
        settable_by_environment(subcommand)


def _message(error: Exception) -> str:
    """Return an error as one line. One of the operating system that names no file gets the name of the command."""
    # Only a failed command needs them.
    from generator.commands.permissions import permission_advice
    from generator.storage.stores.remedies import with_remedy

    if isinstance(error, OSError) and error.filename is None:
        command = next((word for word in sys.argv[1:] if word in COMMANDS), "")
        return with_remedy(f"`cardpress {command}` failed: {error}; set CARDPRESS_DEBUG=1 to see where", error)
    if isinstance(error, SpaceError):
        return message_of(error)
    advice = permission_advice(error)
    return message_of(error) + advice if advice else with_remedy(message_of(error), error)


def main() -> None:
    """Run `cardpress`.

    Exit statuses: 0 success; 1 refused or failed, with one line on standard error (an error may have another
    `exit_status`); 2 wrong usage.
    """
    try:
        cli(prog_name="cardpress")
    except (GeneratorError, StorageError, EdgeError, OSError, MemoryError) as error:
        if os.environ.get("CARDPRESS_DEBUG"):
            raise
        with suppress(OSError):  # a log on a full disk
            say(f"cardpress: {_message(error)}", err=True)
        sys.exit(vars(error).get("exit_status", 1))
    except RuntimeError as error:
        if not is_signal(error) or os.environ.get("CARDPRESS_DEBUG"):
            raise
        say("Aborted!", err=True)  # click's word for KeyboardInterrupt
        sys.exit(1)
