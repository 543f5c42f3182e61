"""What a run of the tests used of the product: commands, endpoints that answered, errors that clients saw.

Each process of the run notes it in the folder that all of them share. A run of all tests or of `make test` fails at its
end if something that the product declares is missing.
"""

import json
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import click
import pytest

from edge_auth.api.blueprints import ENDPOINTS
from edge_auth.errors import API_ERRORS
from generator.cli import cli
from tests.support import shared
from tests.support.endpoints import endpoint_of

SELECTIONS = ("", "not thorough")  # all tests, and those of `make test`


@cache  # each thing is written once by a process
def note(thing: str) -> None:
    with (shared.root() / f"used-{os.getpid()}").open("a") as file:
        file.write(f"{thing}\n")


def note_answer(target: str, status: int, body: bytes) -> None:
    """Note the endpoint of an answer with data, or the code of a refusal. Other answers are not the API's."""
    if status == 200 and (path := endpoint_of(target)):
        note(f"endpoint {path}")
    elif status >= 400:
        with suppress(ValueError, KeyError, TypeError):
            note(f"error {json.loads(body)['error']['code']}")


def watch_commands() -> None:
    """Note each command from now on: those of this process, and those that it starts as processes."""
    invoke = click.Command.invoke

    def noted(command: click.Command, context: click.Context) -> object:
        note(" ".join(["command", *context.command_path.split()[1:]]))
        return invoke(command, context)

    click.Command.invoke = noted
    sys.addaudithook(_note_process)


def _note_process(event: str, arguments: tuple) -> None:
    if event == "subprocess.Popen" and "generator" in (words := [str(word) for word in arguments[1]]):
        words = words[words.index("generator") + 1 :]
        for name in commands():
            if words[: name.count(" ") + 1] == name.split():
                note(f"command {name}")


@cache
def commands(group: click.Group = cli, before: str = "") -> tuple[str, ...]:
    """Return the words of every command, without groups."""
    return tuple(
        name
        for word, command in group.commands.items()
        for name in (
            commands(command, f"{before}{word} ") if isinstance(command, click.Group) else (f"{before}{word}",)
        )
    )


def declared() -> set[str]:
    """Return all that a run should use, as it is noted."""
    return {
        *(f"command {name}" for name in commands()),
        *(f"endpoint {endpoint.path}" for endpoint in ENDPOINTS),
        *(f"error {error.code}" for error in API_ERRORS),
    }


def is_whole(config: pytest.Config) -> bool:
    """Return whether a run is one of all tests, or of all of `make test`, through no nginx."""
    partly = ("--through-nginx", "--update-golden", "--collect-only", "keyword")
    by_default = config.args_source == pytest.Config.ArgsSource.TESTPATHS
    return by_default and config.option.markexpr in SELECTIONS and not any(map(config.getoption, partly))


def missing() -> list[str]:
    """Return what no test of this run has used."""
    noted = {line for file in shared.root().glob("used-*") for line in Path(file).read_text().splitlines()}
    return sorted(declared() - noted)
