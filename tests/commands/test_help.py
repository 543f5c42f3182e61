"""Every command explains itself, and the documents name commands that exist."""

import re

import click
import pytest
from click.testing import CliRunner

from generator.cli import cli
from tests.support.recorded import Recorded
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


def test_the_help_lists_every_command_with_the_first_sentence_of_its_help() -> None:
    listed = CliRunner().invoke(cli, ["--help"], max_content_width=1000, terminal_width=1000).output
    rows = dict(re.findall(r"^  ([a-z]+) {2,}(.+)$", listed.partition("\nCommands:\n")[2], re.MULTILINE))
    assert rows == {name: command.get_short_help_str(limit=1000) for name, command in cli.commands.items()}


def written_table() -> str:
    """Return the table of all commands: how each is called, and the first paragraph of its help."""
    rows = ["| command | does |", "|---|---|"]
    for words, command in commands().items():
        arguments = command.collect_usage_pieces(click.Context(command))[1:]  # without [OPTIONS]
        paragraph = " ".join((command.help or "").partition("\n\n")[0].split())
        rows.append(f"| `{' '.join([*words, *arguments])}` | {paragraph} |")
    return "\n".join(rows)


def test_the_document_lists_every_command(recorded: Recorded) -> None:
    page = ROOT / "docs" / "commands.md"
    text = page.read_text("utf-8")
    table = "| command |" + text.partition("\n| command |")[2].partition("\n\n")[0]
    if not recorded.write(page, text.replace(table, written_table())):
        assert table == written_table(), "the table in docs/commands.md is old: run make golden"


def test_each_import_has_a_section() -> None:
    text = (ROOT / "docs" / "ingest.md").read_text()
    sections = set(re.findall(r"^#+ .*`ingest ([a-z-]+)`", text, re.MULTILINE))
    assert sections >= {words[1] for words in commands() if words[0] == "ingest"}


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_a_first_page_names_commands_that_exist(document: str) -> None:
    named = set(re.findall(r"(?:`|\$ )cardpress ([a-z]+)", (ROOT / document).read_text()))
    assert named - {words[0] for words in commands()} == set()
