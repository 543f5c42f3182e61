"""Every command explains itself, and the README names commands that exist."""

import re

import click
import pytest

from generator.cli import COMMANDS, cli
from tests.support.service import ROOT


def commands(group: click.Group = cli, before: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Return every command by its words, without groups."""
    found: dict[tuple[str, ...], click.Command] = {}
    for name, command in group.commands.items():
        words = (*before, name)
        found |= commands(command, words) if isinstance(command, click.Group) else {words: command}
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_explained(words: tuple[str, ...]) -> None:
    command = commands()[words]
    assert command.help and "Example" in command.help, "help without an example"
    assert all(option.help for option in command.params if isinstance(option, click.Option))
    assert all(option.envvar for option in command.params if isinstance(option, click.Option))
    operators = (ROOT / "docs" / "operators.md").read_text()
    assert words[0] in operators and words[-1] in operators


def test_the_list_of_commands_gives_the_first_line_of_each_help() -> None:
    assert {name: command.get_short_help_str(limit=1000) for name, command in cli.commands.items()} == COMMANDS


@pytest.mark.parametrize("document", ["README.md", "docs/operators.md"])
def test_a_row_of_the_table_names_each_command(document: str) -> None:
    table = (ROOT / document).read_text().partition("\n| command |")[2].partition("\n\n")[0]
    rows = [set(re.findall(r"[a-z][a-z-]+", line.split("|")[1])) for line in table.splitlines()[2:]]
    assert [words for words in commands() if not any(set(words) <= row for row in rows)] == []


def test_each_import_has_a_section() -> None:
    text = (ROOT / "docs" / "ingest.md").read_text()
    sections = set(re.findall(r"^#+ .*`ingest ([a-z-]+)`", text, re.MULTILINE))
    assert sections >= {words[1] for words in commands() if words[0] == "ingest"}


def test_the_readme_names_commands_that_exist() -> None:
    text = (ROOT / "README.md").read_text()
    named = set(re.findall(r"(?:`|\$ )cardpress ([a-z]+)", text))
    assert named - {words[0] for words in commands()} == set()
    links = re.findall(r"\]\(([a-z/]+(?:\.md)?)\)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []
