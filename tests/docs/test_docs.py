"""The documents: commands in them are understood, links lead somewhere, and `cardpress docs` prints them."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path

import click
import pytest

from generator.cli import cli
from tests.support.commands import run
from tests.support.service import ROOT, environment

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


CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def documents() -> list[Path]:
    """Return the Markdown files of the repository."""
    pages = chain(ROOT.glob("*.md"), *(folder.rglob("*.md") for folder in ROOT.glob("[!.]*/")))
    return sorted(page for page in pages if "/." not in page.relative_to(ROOT).as_posix())  # such as bench/.cache


@lru_cache
def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as the hosts of repositories make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(document: Path) -> list[str]:
    """Return the links of a document that lead nowhere."""
    links = LINK.findall(CODE.sub("", document.read_text("utf-8")))
    found = []
    for link in (link for link in links if not re.match(r"https?:|mailto:|/", link)):
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    assert broken(document) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n[here](#a-page) [there](page.md#a-page) [no](#b) [none](none.md) `[code](x.md)`\n")
    assert broken(page) == ["#b", "none.md"]


def test_every_document_is_listed_and_printed_as_it_is() -> None:
    listed = [line.split()[0] for line in run("docs").stdout.splitlines()]
    pages = sorted((ROOT / "docs").rglob("*.md"))
    assert listed == [page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in pages]
    assert run("docs", "static-tree").stdout == (ROOT / "docs" / "static-tree.md").read_text()
    assert run("docs", "docs/decisions/site.md").stdout == (ROOT / "docs" / "decisions" / "site.md").read_text()


def test_an_unknown_document_is_refused() -> None:
    assert "`cardpress docs` lists them" in run("docs", "nothing", status=1).stderr


@pytest.mark.thorough
def test_the_build_from_python_prints_what_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    [(code, printed)] = re.findall(r"(?s)^```python\n(.*?)^```\n.*?^```\n(.*?)^```", page, re.MULTILINE)
    program = [sys.executable, "-c", code]
    result = subprocess.run(program, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (result.stdout, result.stderr) == (printed, "")
