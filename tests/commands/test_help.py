"""Every command explains itself, the documents name commands that exist, and a shell completes them."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import get_completion_class
from click.testing import CliRunner

from generator.cli import cli
from tests.support.nights import published
from tests.support.service import ROOT, environment


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


def test_the_document_names_every_command() -> None:
    table = (ROOT / "docs" / "commands.md").read_text("utf-8").partition("\n| to | commands |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`([a-z]+)`", table)) == sorted(cli.commands)


def test_each_import_has_a_section() -> None:
    text = (ROOT / "docs" / "ingest.md").read_text()
    sections = set(re.findall(r"^#+ .*`ingest ([a-z-]+)`", text, re.MULTILINE))
    assert sections >= {words[1] for words in commands() if words[0] == "ingest"}


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_a_first_page_names_commands_that_exist(document: str) -> None:
    named = set(re.findall(r"(?:`|\$ )cardpress ([a-z]+)", (ROOT / document).read_text()))
    assert named - {words[0] for words in commands()} == set()


def offered(line: str) -> list[str]:
    """What is offered for the last word of a line."""
    *words, last = line.split(" ")[1:]
    completion = get_completion_class("bash")(cli, {}, "cardpress", "_CARDPRESS_COMPLETE")
    return [item.value for item in completion.get_completions(words, last)]


@pytest.mark.xdist_group("diff")
def test_words_and_builds_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _, ids = published(tmp_path, 7, 8)
    assert offered("cardpress ro") == ["rollback"]
    assert offered(f"cardpress verify --store {store.root} ") == ["live", "previous", *reversed(ids)]
    assert offered(f"cardpress cat status.json --store {store.root} --build pre") == ["previous"]
    assert offered("cardpress diff live --store s3:/ 2") == [], "what cannot be read offers nothing, and says nothing"
    assert offered("cardpress show --store /no/where 2") == []
    monkeypatch.setenv("CARDPRESS_STORE", str(store.root))
    assert offered("cardpress publish 2025-11-22") == [ids[1]]
    assert offered("cardpress publish l") == [], "a word that it does not understand"


def test_the_command_answers_a_shell() -> None:
    variables = {"_CARDPRESS_COMPLETE": "bash_complete", "COMP_WORDS": "cardpress bui", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "generator"]
    result = subprocess.run(command, cwd=ROOT, env=environment() | variables, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("plain,build\nplain,builds\n", "")
