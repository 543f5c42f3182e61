"""`cardpress docs` lists and prints the documents."""

from tests.support.commands import run
from tests.support.service import ROOT


def test_every_document_is_listed_and_printed_as_it_is() -> None:
    listed = [line.split()[0] for line in run("docs").stdout.splitlines()]
    pages = sorted((ROOT / "docs").rglob("*.md"))
    assert listed == [page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in pages]
    assert run("docs", "static-tree").stdout == (ROOT / "docs" / "static-tree.md").read_text()
    assert run("docs", "docs/decisions/site.md").stdout == (ROOT / "docs" / "decisions" / "site.md").read_text()


def test_an_unknown_document_is_refused() -> None:
    assert "`cardpress docs` lists them" in run("docs", "nothing", status=1).stderr
