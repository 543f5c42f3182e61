"""Ceilings: how many lines of Python a package may have. They may only be lowered."""

import pytest

from tests.support.service import ROOT

# After a change that made a package smaller, write its new number here.
LINES = {
    "edge_auth": 268,  # its flat modules
    "edge_auth/api": 1_480,
    "edge_auth/builds": 2_319,
    "edge_auth/live": 1_865,
    "edge_auth/search": 617,
    "edge_auth/serve": 633,
    "edge_auth/store": 1_285,
    "generator": 970,  # its flat modules
    "generator/commands": 2_679,
    "generator/compare": 1_438,
    "generator/demo": 846,
    "generator/drawings": 136,
    "generator/fingerprints": 717,
    "generator/ingest": 3_946,
    "generator/lake": 1_306,
    "generator/making": 3_700,
    "generator/nightly": 880,
    "generator/pack": 460,
    "generator/reading": 1_861,
    "generator/releases": 966,
    "generator/site": 1_936,
    "generator/tree": 666,
    "bench": 3_854,
    "tests": 34_791,
}
WORDS = 55_000  # of Markdown, without the changelog


def lines(folder: str, pattern: str = "**/*.py") -> int:
    files = [path for path in (ROOT / folder).glob(pattern) if "__pycache__" not in path.parts]
    return sum(len(path.read_text("utf-8").splitlines()) for path in files)


@pytest.mark.parametrize("folder", LINES)
def test_a_package_does_not_grow(folder: str) -> None:
    found = lines(folder, "*.py") if folder in ("generator", "edge_auth") else lines(folder)
    assert found <= LINES[folder], f"{folder} has {found:,} lines: leave out what no promise needs"


def test_every_package_has_a_ceiling() -> None:
    packages = {path.parent for top in ("generator", "edge_auth") for path in (ROOT / top).glob("*/__init__.py")}
    assert {path.relative_to(ROOT).as_posix() for path in packages} <= LINES.keys()


def words() -> int:
    globs = ("*.md", "bench/*.md", *(f"{top}/**/*.md" for top in ("docs", "generator", "edge_auth", "tests", "build")))
    pages = (page for glob in globs for page in ROOT.glob(glob))
    return sum(len(page.read_text("utf-8").split()) for page in pages if page.name != "CHANGELOG.md")


def test_the_documents_do_not_grow() -> None:
    assert words() <= WORDS, f"{words():,} words: say it in fewer"
