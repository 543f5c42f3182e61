"""The console command `cardpress`: one module of `commands/` per command, no logic here."""

import os
import sys

import click

from edge_auth.errors import EdgeError
from generator.commands.ingest import ingest
from generator.errors import GeneratorError


class EnvironmentCommand(click.Command):
    """A command whose every option can also be set by CARDPRESS_<OPTION>."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if isinstance(parameter, click.Option) and parameter.envvar is None:
                longest = max(parameter.opts, key=len).lstrip("-")
                parameter.envvar = "CARDPRESS_" + longest.replace("-", "_").upper()


class EnvironmentGroup(click.Group):
    command_class = EnvironmentCommand
    group_class = type  # sub-groups are of this class too


@click.group(cls=EnvironmentGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cardpress", prog_name="cardpress")
def cli() -> None:
    """Turn a lake of card marketplace data into a precomputed, read-only JSON API."""


def main() -> None:
    """Run `cardpress`: exit 0 done, 1 refused or failed with one line on standard error, 2 wrong usage."""
    try:
        cli(prog_name="cardpress")
    except (GeneratorError, EdgeError, OSError) as error:
        if os.environ.get("CARDPRESS_DEBUG"):
            raise
        click.echo(f"cardpress: {error}", err=True)
        sys.exit(1)


cli.add_command(ingest)
