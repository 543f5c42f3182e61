"""Completion in a shell: click's own, and the builds of the store that the line or the environment names."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import get_completion_class

from generator.cli import cli
from tests.support.nights import published
from tests.support.service import ROOT, environment

pytestmark = pytest.mark.xdist_group("diff")


def offered(line: str) -> list[str]:
    """What is offered for the last word of a line."""
    *words, last = line.split(" ")[1:]
    completion = get_completion_class("bash")(cli, {}, "cardpress", "_CARDPRESS_COMPLETE")
    return [item.value for item in completion.get_completions(words, last)]


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
