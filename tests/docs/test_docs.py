"""The commands in the documents: every one would be understood as it stands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from generator.cli import cli
from tests.support.service import ROOT

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "site_out" / "README.md"]
DOCUMENTS += sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(console|sh|bash|cron)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^\$ |^    |\$\(|[0-9*] +|bin/)(?:[A-Z_]+=\S+ +)*(?:/opt/cardpress/bin/)?(cardpress [^)\n]*)")


def commands() -> Iterator[tuple[str, str]]:
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        for _, block in BLOCK.findall(text):
            for line in block.splitlines():
                if found := COMMAND.search(line):
                    output = re.split(r" +#| 2>| &| \||>| \|\|", found[1])[0].strip()
                    if output != "cardpress":
                        yield document.name, output


@pytest.mark.parametrize(("document", "line"), sorted(set(commands())))
def test_a_command_of_the_documents_is_understood(
    document: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CARDPRESS_LAKE", "lake")
    (tmp_path / "scans").mkdir()
    if document == "first-five-minutes.md" and "biuld" in line:
        pytest.skip("a mistake, on purpose")
    command, words = cli, shlex.split(line)[1:]
    while isinstance(command, click.Group):
        name = words.pop(0)
        assert name in command.commands, f"{document}: there is no command {name}"
        command = command.commands[name]
    command.make_context(command.name, words)  # raises a UsageError where it would


def test_there_are_commands_to_look_at() -> None:
    assert len(set(commands())) > 50
