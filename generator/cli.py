"""The console command `cardpress`: one module of `commands/` per command, no logic here."""

import os
import sys

import click

from edge_auth.errors import EdgeError
from generator.commands.build import build
from generator.commands.demo import demo
from generator.commands.diff import diff
from generator.commands.doctor import doctor
from generator.commands.fingerprint import fingerprint
from generator.commands.ingest import ingest
from generator.commands.keys import keys
from generator.commands.look import builds, cat, export, verify
from generator.commands.nightly import nightly
from generator.commands.prune import prune
from generator.commands.publish import publish, rollback
from generator.commands.report import report
from generator.commands.serve import serve
from generator.commands.show import show
from generator.errors import GeneratorError


class InOrder(click.Group):
    """Commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=InOrder, context_settings={"help_option_names": ["-h", "--help"]})
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


COMMANDS = (
    *(demo, ingest, fingerprint, build, publish, rollback, keys, serve, nightly, prune),
    *(builds, show, report, diff, verify, cat, export, doctor),
)
for command in COMMANDS:
    cli.add_command(command)


def settable_by_environment(command: click.Command) -> None:
    """Give every option of a command and of its sub-commands the variable CARDPRESS_<OPTION>."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.envvar is None:
            longest = max(parameter.opts, key=len).lstrip("-")
            parameter.envvar = "CARDPRESS_" + longest.replace("-", "_").upper()
    for below in getattr(command, "commands", {}).values():
        settable_by_environment(below)


settable_by_environment(cli)


def _said(error: Exception) -> str:
    """An error as one line; those of the operating system that nobody expected with the file that they are about."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def main() -> None:
    """Run `cardpress`: exit 0 done, 1 refused or failed with one line on standard error, 2 wrong usage."""
    try:
        cli(prog_name="cardpress")
    except (GeneratorError, EdgeError, OSError) as error:
        if os.environ.get("CARDPRESS_DEBUG"):
            raise
        click.echo(f"cardpress: {_said(error)}", err=True)
        sys.exit(1)
