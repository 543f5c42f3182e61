"""Links in the documents lead to files, and to headings, that exist."""

import re
from functools import lru_cache
from itertools import chain
from pathlib import Path

import pytest

from tests.support.service import ROOT

CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def documents() -> list[Path]:
    """Return the Markdown files of the repository."""
    folders = (path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
    return sorted(chain(ROOT.glob("*.md"), *(folder.rglob("*.md") for folder in folders)))


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
